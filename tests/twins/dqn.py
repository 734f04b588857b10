"""The DQN learner once more: plain Python, double precision, one transition at a time."""

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

  def copy(self):
    twin = object.__new__(Network)
    twin.network = self.network
    twin.weights = [
      {name: w.copy() for name, w in layer.items()} for layer in self.weights
    ]
    return twin

  def forward(self, board):
    """Returns the outputs, and every layer's values."""
    values = [np.array(board, np.float64)]
    if self.network.sees_moves:
      values[0] = np.concatenate([values[0], possible(self.network.game, board)])
    for number, layer in enumerate(self.weights):
      total = values[-1] @ layer["kernel"] + layer.get("bias", 0.0)
      is_last = number == len(self.weights) - 1
      values.append(total if is_last else np.tanh(total))
    return values[-1], values

  def update(self, examples, rate):
    """Takes one step on the mean squared error of boards, actions and targets."""
    steps = [
      {name: np.zeros_like(w) for name, w in layer.items()} for layer in self.weights
    ]
    for board, action, target in examples:
      outputs, values = self.forward(board)
      delta = np.zeros_like(outputs)
      delta[action] = 2 * (target - outputs[action]) / len(examples)
      for number in reversed(range(len(self.weights))):
        steps[number]["kernel"] += np.outer(values[number], delta)
        if "bias" in steps[number]:
          steps[number]["bias"] += delta
        delta = (self.weights[number]["kernel"] @ delta) * (1 - values[number] ** 2)
    for layer, step in zip(self.weights, steps, strict=True):
      for name in layer:
        layer[name] += rate * step[name]


def possible(game, board):
  """Returns which actions have room."""
  columns = [
    list(board)[action :: game.num_actions] for action in range(game.num_actions)
  ]
  return np.array([0 in column for column in columns])


class Lane:
  """One game after the other, on a list of cells."""

  def __init__(self, game, settings, is_first, has_opponent):
    self.game, self.settings = game, settings
    self.is_first, self.has_opponent = is_first, has_opponent
    self.rounds = 0
    self._empty()

  def _empty(self):
    self.cells, self.mover = [0] * self.game.num_cells, 1

  @property
  def is_mine(self):
    return not self.has_opponent or (self.mover == 1) == self.is_first

  @property
  def seen(self):
    return [self.mover * cell for cell in self.cells]

  def turn(self, action, answer):
    """Moves on by a choice and an answer; returns the transition, or none."""
    settings, me, before = self.settings, self.mover, self.seen
    was_mine, is_legal = self.is_mine, True
    if was_mine:
      is_legal = bool(possible(self.game, self.cells)[action])
      if is_legal:
        self._put(action)
    if not self.is_mine and not self.is_over:
      self._put(answer)
    row = None
    if was_mine:
      row = (before, action, *self._outcome(me, is_legal), self.seen)
    if self.is_over:
      self.rounds += 1
      self._empty()
    is_kept = was_mine and (is_legal or settings.keeps_invalid)
    return row if is_kept else None

  @property
  def winner(self):
    for line in self.game.lines:
      total = sum(self.cells[cell] for cell in line)
      if abs(total) == len(line):
        return total // len(line)
    return 0

  @property
  def is_over(self):
    return self.winner != 0 or 0 not in self.cells

  def _put(self, action):
    column = self.cells[action :: self.game.num_actions]
    self.cells[action + column.index(0) * self.game.num_actions] = self.mover
    self.mover = -self.mover

  def _outcome(self, me, is_legal):
    """Returns reward and discount."""
    settings = self.settings
    if self.is_over:
      rewards = {1: settings.win, 0: settings.draw, -1: settings.loss}
      return rewards[self.winner * me], 0.0
    if not is_legal:
      penalty = settings.invalid_reward if settings.invalid == "penalized" else 0.0
      return penalty, settings.discount
    return 0.0, settings.discount * (1 if self.has_opponent else -1)


def target(settings, online, slow, row):
  """Returns the target of a transition's move."""
  _, _, reward, discount, after = row
  if discount == 0:
    return reward
  is_allowed = np.ones(online.network.game.num_actions, bool)
  if settings.target_moves == "legal":
    is_allowed = possible(online.network.game, after)
  values = slow.forward(after)[0]
  chooser = online.forward(after)[0] if settings.double else values
  best = max(np.flatnonzero(is_allowed), key=lambda action: chooser[action])
  return reward + discount * values[best]


def turned(game, row, symmetry):
  """Returns a transition under a symmetry of the board."""
  before, action, reward, discount, after = row
  cells = game.symmetries[symmetry]
  (place,) = np.flatnonzero(game.action_symmetries[symmetry] == action)
  return np.array(before)[cells], place, reward, discount, np.array(after)[cells]
