"""The gomoku paper's critic: what a move changes gives the value of the position after."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import networks
from jaxgames.networks import count_rows
from tests.support import quick

GAME = jaxgames.make("gomoku:size=5")


def random_situations(seed, num):
  random = np.random.default_rng(seed)
  return networks.Situation(
    counts=jnp.asarray(random.integers(0, 9, (num, 2, 20)), jnp.int32),
    boards=jnp.zeros((num, GAME.num_cells), jnp.int8),
    is_turn=jnp.asarray(random.random(num) < 0.5),
    is_first=jnp.asarray(random.random(num) < 0.5),
  )


@pytest.mark.parametrize(
  "fields",
  [
    {},
    {"counts": "plain", "turn": "two", "sees_first": False},
    {"counts": "none", "turn": "none", "sees_board": True},
    {"sees_board": True},
  ],
  ids=["coded", "plain", "board", "coded and board"],
)
def test_values_by_changes_are_those_by_all_inputs(fields):
  critic = networks.Critic(GAME, hidden=3, **fields)
  params = critic.init(jax.random.key(0), jnp.zeros((1, critic.num_inputs)))
  before = random_situations(seed=1, num=30)
  random = np.random.default_rng(2)
  added = random.integers(-3, 6, (30, 2, 20)) * (random.random((30, 2, 20)) < 0.1)
  after_counts = np.maximum(np.asarray(before.counts) + added, 0)
  differences = jnp.asarray(after_counts - np.asarray(before.counts), jnp.int32)
  cells = jnp.asarray(random.integers(0, GAME.num_cells, 30), jnp.int32)
  stones = np.where(np.asarray(before.is_turn), 1, -1).astype(np.int8)
  after = before._replace(
    counts=jnp.asarray(after_counts, jnp.int32),
    boards=before.boards.at[np.arange(30), cells].set(stones),
    is_turn=~before.is_turn,
  )

  @quick.jit
  def by_changes(params):
    turned = before._replace(is_turn=after.is_turn)
    sums = critic.apply(params, critic.encode(turned), method="sums")
    tables = critic.apply(params, method="tables")
    changes = count_rows.find_changes(before.counts, differences, 20)
    return critic.apply(
      params, tables, sums, changes, after.is_turn, cells, method="after"
    )

  by_inputs = critic.apply(params, critic.encode(after))
  np.testing.assert_allclose(by_changes(params), by_inputs, rtol=1e-5)
  assert len(set(np.asarray(by_inputs).tolist())) > 20


def test_changes_are_listed_in_order_and_all_are_counted():
  counts = jnp.arange(40, dtype=jnp.int32).reshape(1, 2, 20)
  differences = jnp.zeros_like(counts).at[0, :, [3, 19]].set(-2).at[0, 1, 0].set(5)
  found = count_rows.find_changes(counts, differences, 4)
  assert found.num_changed.tolist() == [5]
  assert found.shapes.tolist() == [[3, 19, 20, 23]]
  assert found.before.tolist() == [[3, 19, 20, 23]]
  assert found.after.tolist() == [[1, 17, 25, 21]]
  few = count_rows.find_changes(counts, jnp.zeros_like(counts).at[0, 0, 0].set(1), 3)
  assert few.num_changed.tolist() == [1]
  assert (few.after - few.before).tolist() == [[1, 0, 0]]
