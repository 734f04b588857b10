"""The hybrid paper's learner in plain Python, one board and one game at a time."""

import numpy as np

FLOAT = np.float32


def draw(random: int, limit: int) -> int:
  """Returns a number below a limit from 32 random bits."""
  return (int(random) * limit) >> 32


class Twin:
  """Plays and learns as the settings say; boards are tuples of 1, -1 and 0."""

  def __init__(self, game, settings, rules):
    self.game = game
    self.settings = settings
    self.rules = rules
    self.table = {}
    self.num_games = 0
    self.lost = []

  def play(self, random):
    """Plays one game with the learner's random numbers, and learns from it."""
    settings, agent = self.settings, 1 if self.settings.starts == "always" else -1
    every = settings.random_every
    is_random = bool(every) and self.num_games % every == 0
    if every and settings.random_games == "drawn":
      is_random = draw(random[1], every) == 0
    choices = random[2 : 2 + self.game.num_cells]
    coins = random[2 + self.game.num_cells :]
    explored = set()
    board, mover, visited = (0,) * self.game.num_cells, 1, []
    visited.append(board)
    while self.winner(board) == 0 and self.actions(board):
      options = self.actions(board)
      if mover == agent:
        options = self.best(board, mover)
        if settings.ties == "first":
          options = options[:1]
      else:
        ply = len(visited) - 1
        is_free = is_random or (ply == 0 and settings.opening == "random")
        if settings.random_moves and coins[ply] / 2**32 < settings.random_moves:
          is_free = True
        if is_free:
          explored.add(board)
        else:
          options = self.by_rules(board, mover)
      action = options[draw(choices[len(visited) - 1], len(options))]
      board = self.after(board, action, mover)
      visited.append(board)
      mover = -mover
    self.learn(visited, explored, agent)
    self.num_games += 1
    self.lost.append(self.winner(board) == -agent)

  def learn(self, visited, explored, agent):
    settings = self.settings
    sign = self.winner(visited[-1]) * agent
    reward = FLOAT({1: settings.win, 0: settings.draw, -1: settings.loss}[sign])
    old = {board: self.value(board) for board in visited}
    old[visited[-1]] = self.table[visited[-1]] = reward
    successor = visited[-1]
    for board in reversed(visited[:-1]):
      num_stones = sum(map(abs, board))
      agent_to_move = (num_stones % 2 == 0) == (agent == 1)
      if settings.visits == "own" and agent_to_move:
        continue
      source = self.table if settings.values == "fresh" else old
      error = FLOAT(settings.discount) * source[successor] - old[board]
      if settings.random_updates or board not in explored:
        self.table[board] = old[board] + FLOAT(settings.learning_rate) * error
      else:
        self.table[board] = old[board]
      successor = board

  def value(self, board):
    return self.table.get(board, FLOAT(self.settings.initial))

  def best(self, board, mover):
    worth = {a: self.value(self.after(board, a, mover)) for a in self.actions(board)}
    return [action for action in worth if worth[action] == max(worth.values())]

  def by_rules(self, board, mover):
    for rule in self.rules:
      action = self.completion(board, mover if rule == "win" else -mover)
      if action is not None:
        return [action]
    return self.actions(board)

  def completion(self, board, side):
    """Returns the first action with which a side would complete a line."""
    if self.game.gravity:
      for action in self.actions(board):
        if self.winner(self.after(board, action, side)) == side:
          return action
      return None
    for line in self.game.lines.tolist():
      if sorted(board[cell] * side for cell in line) == [0, 1, 1]:
        return next(cell for cell in line if board[cell] == 0)
    return None

  def actions(self, board):
    top = self.game.num_cells - self.game.num_actions
    return [a for a in range(self.game.num_actions) if board[top + a] == 0]

  def after(self, board, action, mover):
    cell = action
    while board[cell] != 0:
      cell += self.game.num_actions
    return (*board[:cell], mover, *board[cell + 1 :])

  def winner(self, board):
    for line in self.game.lines.tolist():
      total = sum(board[cell] for cell in line)
      if abs(total) == self.game.length:
        return total // self.game.length
    return 0
