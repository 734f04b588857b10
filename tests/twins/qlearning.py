"""The Q learner once more: plain Python, double precision, one example at a time."""

import itertools

import numpy as np


class Network:
  """The Q network and its gradient, written out."""

  def __init__(self, network, params):
    self.network = network
    layers = params["params"]
    self.weights = [
      {name: np.array(value, np.float64) for name, value in layers[key].items()}
      for key in sorted(layers)
    ]

  def forward(self, board, legal):
    """Returns the outputs, and every layer's values."""
    net = self.network
    values = [np.array([*board, *(legal if net.sees_moves else ())], np.float64)]
    for number, layer in enumerate(self.weights):
      total = values[-1] @ layer["kernel"] + layer.get("bias", 0.0)
      is_last = number == len(self.weights) - 1
      kind = net.output_activation if is_last else net.activation
      values.append(np.tanh(total) if kind == "tanh" else 1 / (1 + np.exp(-total)))
    return values[-1] * np.array(legal, np.float64), values

  def update(self, examples, rate):
    """Takes one step on the sum over examples: boards, legal moves, desired outputs."""
    steps = [
      {name: np.zeros_like(w) for name, w in layer.items()} for layer in self.weights
    ]
    for board, legal, desired in examples:
      outputs, values = self.forward(board, legal)
      delta = (desired - outputs) * np.array(legal, np.float64)
      for number in reversed(range(len(self.weights))):
        y = values[number + 1]
        is_last = number == len(self.weights) - 1
        kind = "sigmoid" if is_last else self.network.activation
        delta = delta * ((1 - y**2) if kind == "tanh" else y * (1 - y))
        steps[number]["kernel"] += np.outer(values[number], delta)
        if "bias" in steps[number]:
          steps[number]["bias"] += delta
        delta = self.weights[number]["kernel"] @ delta
    for layer, step in zip(self.weights, steps, strict=True):
      for name in layer:
        layer[name] += rate * step[name]


def replay(game, moves):
  """Returns boards and legal moves before each move, seen by the mover, and the winner.

  The winner is 1 if the last mover has a line, else 0.
  """
  cells, shown = [0] * game.num_cells, []
  for ply, move in enumerate(moves):
    mover = 1 if ply % 2 == 0 else -1
    columns = [cells[action :: game.num_actions] for action in range(game.num_actions)]
    shown.append(
      ([mover * cell for cell in cells], [int(0 in column) for column in columns])
    )
    level = columns[move].index(0)
    cells[move + level * game.num_actions] = mover
  has_line = any(all(cells[cell] == mover for cell in line) for line in game.lines)
  return shown, int(has_line)


def training_set(settings, outputs, moves, is_best, winner):
  """Returns the desired outputs of a game, the backward rule of section 4."""
  desired = [list(row) for row in outputs]
  for ply in reversed(range(len(moves))):
    if ply == len(moves) - 1:
      target = settings.win if winner else settings.draw
    elif ply == len(moves) - 2:
      target = settings.loss if winner else settings.draw
    else:
      target = settings.discount * max(desired[ply + 2])
    has_best_answer = ply == len(moves) - 1 or is_best[ply + 1]
    if has_best_answer or settings.random_answers == "used":
      desired[ply][moves[ply]] = target
  return desired


def learn(twin, game, settings, all_moves, all_best, minibatch):
  """Lets the network learn from games that were played at the same time.

  What is desired is computed for all of them before the first step.
  """
  sets = []
  for moves, is_best in zip(all_moves, all_best, strict=True):
    shown, winner = replay(game, moves)
    outputs = [twin.forward(board, legal)[0] for board, legal in shown]
    sets.append((shown, training_set(settings, outputs, moves, is_best, winner)))
  for begin in range(0, len(sets), minibatch):
    _train(twin, game, settings, sets[begin : begin + minibatch])


def _train(twin, game, settings, sets):
  """Takes the steps on the training sets of some games."""
  cells, actions = game.symmetries, game.action_symmetries
  if not settings.symmetric_copies:
    cells, actions = cells[:1], actions[:1]
  by_ply = [[[] for _ in cells] for _ in range(game.num_cells)]
  for shown, desired in sets:
    for ply, (board, legal) in enumerate(shown):
      for copy in range(len(cells)):
        by_ply[ply][copy].append(
          (
            np.array(board)[cells[copy]],
            np.array(legal)[actions[copy]],
            np.array(desired[ply])[actions[copy]],
          )
        )
  by_ply.reverse()
  singles = [examples for copies in by_ply for examples in copies]
  steps = {
    "set": [_join(singles)],
    "position": [_join(copies) for copies in by_ply],
    "example": singles,
  }[settings.steps]
  rate = settings.learning_rate
  if settings.gradient == "mean":
    rate /= len(sets)
  for _ in range(settings.passes):
    for examples in steps:
      twin.update(examples, rate)


def lacks_of_best(outputs, legal, move):
  """Returns by how much a move's output is lower than the highest."""
  return max(np.array(outputs)[np.array(legal) == 1]) - outputs[move]


def _join(lists):
  return list(itertools.chain.from_iterable(lists))
