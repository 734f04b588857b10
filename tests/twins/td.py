"""The TD learner once more: plain Python, double precision, one update at a time."""

import numpy as np


class Network:
  """The value network and its gradient, written out."""

  def __init__(self, network, params):
    self.network = network
    self.weights = {}
    self._read(params["params"], "")
    # Sums of the changes and of their absolute values, for temporal coherence.
    self.net = {name: np.zeros_like(w) for name, w in self.weights.items()}
    self.total = {name: np.zeros_like(w) for name, w in self.weights.items()}

  def _read(self, tree, path):
    for name, value in tree.items():
      if isinstance(value, dict):
        self._read(value, f"{path}{name}/")
      else:
        self.weights[path + name] = np.array(value, np.float64)

  def forward(self, board):
    """Returns the value, and what is needed to go back."""
    net, weights, trace = self.network, self.weights, []
    x = np.array(board, np.float64)
    if net.detectors:
      seen = x[net.game.lines]
      z = np.einsum("lc,lcd->ld", seen, weights["sums/line_kernel"])
      z = z + weights.get("sums/line_bias", 0.0)
      detected = np.tanh(net.steepness * z)
      h = np.einsum("ld,ldw->w", detected, weights["sums/kernel"])
      trace.append((seen, detected))
    else:
      h = x @ weights["sums/kernel"]
      trace.append((x, None))
    y = np.tanh(net.steepness * (h + weights.get("bias", 0.0)))
    trace.append(y)
    for i in range(len(net.hidden)):
      h = y @ weights[f"layers_{i}/kernel"] + weights.get(f"layers_{i}/bias", 0.0)
      y = np.tanh(net.steepness * h)
      trace.append(y)
    return float(y[0]), trace

  def gradient(self, board):
    """Returns the value and its derivative by every weight."""
    net, weights = self.network, self.weights
    value, trace = self.forward(board)
    found = {}
    delta = (
      np.ones(1) if net.has_linear_output_gradient else net.slope * (1 - trace[-1] ** 2)
    )
    for i in reversed(range(len(net.hidden))):
      below = trace[1 + i]
      found[f"layers_{i}/kernel"] = np.outer(below, delta)
      found[f"layers_{i}/bias"] = delta
      delta = (weights[f"layers_{i}/kernel"] @ delta) * net.slope * (1 - below**2)
    found["bias"] = delta
    seen, detected = trace[0]
    if detected is None:
      found["sums/kernel"] = np.outer(seen, delta)
    else:
      found["sums/kernel"] = detected[:, :, None] * delta
      into = (weights["sums/kernel"] @ delta) * net.slope * (1 - detected**2)
      found["sums/line_bias"] = into
      found["sums/line_kernel"] = seen[:, :, None] * into[:, None]
    return value, {name: found[name] for name in weights}

  def update(self, updates, rate, optimizer="sgd"):
    """Takes one step on the sum over updates, each a trace of boards and a target.

    A trace has the newest board first, each with the weight that it learns with.
    """
    steps = {name: np.zeros_like(w) for name, w in self.weights.items()}
    for trace, target in updates:
      error = target - self.forward(trace[0][0])[0]
      for board, weight in trace:
        _, gradient = self.gradient(board)
        for name in steps:
          steps[name] += weight * error * gradient[name]
    for name, step in steps.items():
      self.weights[name] += rate * self.size(name, optimizer) * step
      self.net[name] += step
      self.total[name] += np.abs(step)

  def size(self, name, optimizer):
    """Returns what the optimizer multiplies the steps of some weights by."""
    if optimizer == "sgd":
      return 1.0
    net, total = np.abs(self.net[name]), self.total[name]
    size = np.divide(net, total, out=np.ones_like(net), where=total > 0)
    return size if optimizer == "coherence" else np.exp(2.7 * (size - 1))


class Lane:
  """One game's part of Algorithm 1: its updates, and when."""

  def __init__(self, decay, length):
    self.decay = decay
    self.length = length
    self.previous = {}
    self.pending = []

  def due_update(self, side, target, has_target):
    """Returns this step's update, for a move by `side`, or for none."""
    if side is not None and side in self.previous:
      return (self.previous[side], target) if has_target else None
    return self.pending.pop(0) if self.pending else None

  def moved(self, side, board, has_target):
    """Remembers an afterstate, and those before it unless the move gave no target."""
    before = self.previous.get(side, []) if has_target else []
    older = [(other, self.decay * weight) for other, weight in before]
    self.previous[side] = [(board, 1.0), *older][: self.length]

  def ended(self, updates):
    self.pending = updates
    self.previous = {}
