"""Plays a game of 3D tic-tac-toe between two players, and draws how it ends.

Run it with a path for the picture: `python examples/play_and_draw.py game.svg`
"""

import pathlib
import sys

import jax
import jax.numpy as jnp

import jaxgames
from jaxgames import players
from jaxgames.display import notation
from jaxgames.display import svg
from jaxgames.display import text


def main(path: str) -> None:
  game = jaxgames.make("ttt3d")
  both = [players.make(game, spec) for spec in ("mcts:simulations=100", "benchmark")]

  # A player decides some things once for a whole game, such as which of several
  # strategies it follows. `begin` returns that memory, `act` takes it at every move.
  key, key_x, key_o = jax.random.split(jax.random.key(0), 3)
  keys = (key_x, key_o)
  memories = [
    player.begin(key_begin, jnp.int32(0))
    for player, key_begin in zip(both, keys, strict=True)
  ]

  # Compiled once for each player: without this, every operation of a search is sent
  # to the device by itself.
  act_fns = [jax.jit(player.act) for player in both]

  state, action = game.init(), None
  while not state.is_over:
    side = int(state.num_moves) % 2
    # A key is used once. One that is used again repeats its random numbers.
    key, key_act = jax.random.split(key)
    action = int(act_fns[side](memories[side], state, key_act))
    print(f"{'XO'[side]} plays {notation.action_name(game, action)}")
    # Outside compiled code `step` checks the move; inside, an illegal one does nothing.
    state = game.step(state, action)

  print(text.draw(game, state))
  # 1 is the first player, -1 the second, 0 a draw.
  print({1: "X wins", -1: "O wins", 0: "a draw"}[int(state.winner)])
  pathlib.Path(path).write_text(svg.draw(game, state, last_action=action))
  print(f"written: {path}")


if __name__ == "__main__":
  if len(sys.argv) != 2:
    sys.exit(f"usage: python {sys.argv[0]} FILE.svg")
  main(sys.argv[1])
