"""The ADP learner once more: plain Python, double precision, one lesson at a time."""

import itertools

import numpy as np

DIGITS = {"X": 1, "_": 0}


class Board:
  """Stones of player 1 (1) and player 2 (-1) on a square."""

  def __init__(self, size):
    self.size = size
    self.cells = dict.fromkeys(itertools.product(range(size), repeat=2), 0)

  def windows(self, length):
    """Yields the cells of every window of a line."""
    reach = length - 1
    for (row, column), (down, right) in itertools.product(
      self.cells, ((0, 1), (1, 0), (1, 1), (1, -1))
    ):
      if (row + reach * down, column + reach * right) in self.cells:
        yield [(row + i * down, column + i * right) for i in range(length)]

  def count(self, drawings, side):
    found = dict.fromkeys(drawings, 0)
    for length in {len(drawing) for drawing in drawings}:
      for window in self.windows(length):
        drawn = [self.cells[place] * side for place in window]
        for drawing in drawings:
          wanted = [DIGITS[letter] for letter in drawing]
          found[drawing] += drawn in (wanted, wanted[::-1])
    return [found[drawing] for drawing in drawings]

  def near(self, distance):
    stones = [place for place, stone in self.cells.items() if stone]
    if not stones:
      return [(self.size // 2, self.size // 2)]
    return [
      place
      for place, stone in self.cells.items()
      if not stone
      and any(max(abs(place[0] - r), abs(place[1] - c)) <= distance for r, c in stones)
    ]

  def fives(self, side):
    found = []
    for window in self.windows(5):
      stones = [self.cells[place] for place in window]
      if stones.count(side) == 4 and stones.count(0) == 1:
        found.append(window[stones.index(0)])
    return sorted(found)

  def winner(self):
    for window in self.windows(5):
      stones = {self.cells[place] for place in window}
      if stones in ({1}, {-1}):
        return stones.pop()
    return 0

  @property
  def is_full(self):
    return all(self.cells.values())


class Twin:
  """Several games that share a critic; nothing is left to chance."""

  def __init__(self, learner, params):
    self.learner, self.settings = learner, learner.settings
    self.drawings = learner.critic.drawings
    self.inner = np.array(params["params"]["inner"], np.float64)
    self.outer = np.array(params["params"]["outer"], np.float64)
    self.lanes = [Lane(self, i % 2 == 0) for i in range(learner.num_lanes)]
    self.num_games = 0

  def value(self, x):
    return sigmoid(sigmoid(x @ self.inner) @ self.outer)

  def update(self, transitions):
    """Takes the steps on `(inputs, target)`, targets fixed, as equations 11 and 14."""
    rate = self.settings.learning_rate * self.settings.alpha**2
    for _ in range(self.settings.updates):
      inner, outer = np.zeros_like(self.inner), np.zeros_like(self.outer)
      for x, target in transitions:
        g = sigmoid(x @ self.inner)
        v = sigmoid(g @ self.outer)
        push = rate * (target - v) * v * (1 - v)
        outer += push * g
        inner += push * np.outer(x, self.outer * g * (1 - g))
      self.inner, self.outer = self.inner + inner, self.outer + outer

  def turn(self):
    size = self.learner.minibatch
    for begin in range(0, len(self.lanes), size):
      some = self.lanes[begin : begin + size]
      self.update([lane.transition for lane in some if lane.transition])
    for lane in self.lanes:
      lane.move()
    # The targets of positions are computed when all have moved.
    for lane in self.lanes:
      lane.close()


class Lane:
  def __init__(self, twin, is_first):
    self.twin, self.is_first = twin, is_first
    self.board = Board(twin.learner.game.shape[0])
    self.num_moves, self.transition, self.last = 0, None, None

  def inputs(self, board, player):
    """Returns the inputs of the critic, 274 numbers; `player` is to move."""
    x, there = [], []
    for side in (1, -1):
      counts = board.count(self.twin.drawings, side)
      there.append(counts)
    x += [float(counts[0] > 0) for counts in there]
    for counts in there:
      for n in counts[1:]:
        x += [n >= 1, n >= 2, n >= 3, n >= 4, max(n - 4, 0) / 2]
    for n in there[0] + there[1]:
      x += [n > 0 and player == 1, n > 0 and player == -1]
    x += [self.is_first, not self.is_first]
    return np.array(x, np.float64)

  def move(self):
    twin, board = self.twin, self.board
    player = 1 if (self.num_moves % 2 == 0) == self.is_first else -1
    before = self.inputs(board, player)
    best = None
    for place in sorted(board.near(twin.settings.distance)):
      board.cells[place] = player
      worth = player * twin.value(self.inputs(board, -player))
      board.cells[place] = 0
      if best is None or worth >= best[0]:
        best = worth, place
    fives = board.fives(player)
    place = fives[-1] if fives and twin.settings.takes_five else best[1]
    board.cells[place] = player
    after = self.inputs(board, -player)
    self.pending = (before, after) if self.num_moves else None
    self.after = after
    self.num_moves += 1

  def close(self):
    twin = self.twin
    self.transition = self.last
    if self.pending:
      before, after = self.pending
      self.transition = before, twin.settings.discount * twin.value(after)
    winner = self.board.winner()
    if winner or self.board.is_full:
      self.last = self.after, {1: 1.0, -1: 0.0, 0: 0.5}[winner]
      self.board = Board(self.board.size)
      self.num_moves, self.is_first = 0, not self.is_first
      twin.num_games += 1


def sigmoid(x):
  return 1 / (1 + np.exp(-x))
