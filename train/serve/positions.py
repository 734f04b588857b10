"""Games as pages tell them: a board's name and the moves, which make the position."""

import collections
import functools
import threading
from typing import Any

import numpy as np

import jaxgames
from jaxgames.display import layout
from jaxgames.display import notation

__all__ = ["Positions", "describe_board"]

Moves = tuple[int, ...]


class Positions:
  """The positions of games, each the one before and a move; some are kept.

  A server keeps no games. What it remembers only saves work.
  """

  def __init__(self, most: int = 4096):
    """Makes an empty memory.

    Args:
      most: how many positions are kept, those used last.
    """
    self._most = most
    self._kept: collections.OrderedDict[tuple[str, Moves], jaxgames.State]
    self._kept = collections.OrderedDict()
    self._lock = threading.Lock()

  def read(self, game_name: str, text: str) -> tuple[jaxgames.LineGame, Moves]:
    """Returns a game and its moves.

    Raises:
      ValueError: if there is no such game, or a move is not legal.
    """
    game = jaxgames.make(game_name)
    moves = tuple(notation.parse_moves(game, text))
    if len(moves) > game.num_cells:
      raise ValueError(f"there are {len(moves)} moves on {game.num_cells} cells")
    self.state(game_name, moves)
    return game, moves

  def state(self, game_name: str, moves: Moves) -> jaxgames.State:
    """Returns the position after some moves.

    Raises:
      ValueError: if one of them is not legal; the message names it.
    """
    game, known = jaxgames.make(game_name), len(moves)
    while known and (game_name, moves[:known]) not in self._kept:
      known -= 1
    state = self._recall(game_name, moves[:known]) or game.from_moves(moves[:known])
    for number in range(known, len(moves)):
      try:
        state = game.step(state, np.int32(moves[number]))
      except ValueError as error:
        name = notation.action_name(game, moves[number])
        raise ValueError(f"move {number + 1}, {name}: {error}") from error
      self._keep((game_name, moves[: number + 1]), state)
    return state

  def describe(self, game_name: str, moves: Moves) -> dict[str, Any]:
    """Returns all that a page draws of a position, in plain values."""
    game, state = jaxgames.make(game_name), self.state(game_name, moves)
    picture = layout.lay_out(game, state, moves[-1] if moves else None)
    # A cell is playable if it is empty and does not hang in the air.
    is_open = (picture.stones == 0) & ~picture.is_hanging & (not state.is_over)
    return {
      "game": game_name,
      "moves": [notation.action_name(game, move) for move in moves],
      "actions": list(moves),
      "stones": picture.stones.tolist(),
      "playable": np.flatnonzero(is_open).tolist(),
      "last": picture.last_cell,
      "won": picture.won_lines.tolist(),
      "winner": int(state.winner),
      "is_over": bool(state.is_over),
      "standing": picture.standing,
    }

  def _recall(self, game_name: str, moves: Moves) -> jaxgames.State | None:
    with self._lock:
      state = self._kept.get((game_name, moves))
      if state is not None:
        self._kept.move_to_end((game_name, moves))
      return state

  def _keep(self, key: tuple[str, Moves], state: jaxgames.State) -> None:
    with self._lock:
      self._kept[key] = state
      while len(self._kept) > self._most:
        self._kept.popitem(last=False)


@functools.lru_cache(maxsize=64)
def describe_board(game_name: str) -> dict[str, Any]:
  """Returns what is the same in all positions of a game, in plain values.

  Raises:
    ValueError: if there is no such game.
  """
  game = jaxgames.make(game_name)
  picture = layout.lay_out(game, game.init())
  return {
    "game": game_name,
    "shape": list(game.shape),
    "length": game.length,
    "gravity": game.gravity,
    "panels": [
      {"title": panel.title, "cells": panel.cells.tolist()} for panel in picture.panels
    ],
    "actions": picture.actions.tolist(),
    "names": [notation.action_name(game, a) for a in range(game.num_actions)],
    "is_upright": picture.is_upright,
    "is_numbered": picture.is_numbered,
    "has_letters": picture.has_letters,
    "how": notation.describe_actions(game),
  }
