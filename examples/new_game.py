"""Plays and solves a game that has no name: three in a row, falling, on 4x4.

Every line game has the same rules, so a new one is a shape, a length and whether stones
fall. Players, search, the arena and exact solutions work on it at once.
"""

import jax

import jaxgames
from jaxgames import arena
from jaxgames import players
from jaxgames.display import text
from jaxgames.exact import graph
from jaxgames.exact import solver


def main() -> None:
  # With gravity axis 0 is the height and an action is a column.
  game = jaxgames.LineGame(shape=(4, 4), length=3, gravity=True)
  print(f"{game.num_actions} actions, {len(game.lines)} winning lines")

  # The players take turns in moving first. All games are one compiled call.
  search = players.make(game, "mcts:simulations=50")
  random = players.make(game, "random")
  score = arena.play_match(search, random, jax.random.key(0), num_games=200)
  for side, name in enumerate(("first", "second")):
    wins, draws, losses = (int(count[side]) for count in score[:3])
    print(f"search moving {name}: {wins} won, {draws} drawn, {losses} lost")

  # Few enough positions to go through all of them. The tables of a solution go by the
  # number of a position; position 0 of the graph is the empty board.
  solution = solver.solve(game)
  start = graph.of(game).numbers[0]
  value, best = int(solution.score[start]), int(solution.best_actions[start])
  first = [action for action in range(game.num_actions) if best >> action & 1]
  # Above 0 the player to move wins, the higher the sooner; below 0 the other does.
  outcome = "a draw"
  if value != 0:
    outcome = f"the {'first' if value > 0 else 'second'} player wins"
  print(f"{solution.num_states:,} positions; with perfect play: {outcome}")
  print(f"the best first moves: {first}")

  # The expert plays by that table: one of the fastest wins.
  expert = players.make(game, "expert")
  act_fn = jax.jit(expert.act)
  state, key = game.init(), jax.random.key(1)
  while not state.is_over:
    key, key_act = jax.random.split(key)
    state = game.step(state, int(act_fn((), state, key_act)))
  print(f"a perfect game, {int(state.num_moves)} moves:")
  print(text.draw(game, state))


if __name__ == "__main__":
  main()
