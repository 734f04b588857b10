"""Value networks for tests: those of the configs, and some with patterns."""

import functools

import jax
import jax.numpy as jnp
import yaml

from jaxgames import networks
from jaxgames import players
from tests.support import paths
from tests.support import quick

DIRECTORY = paths.ROOT / "configs" / "ttt3d" / "networks"
PAPER = tuple(sorted(path.stem for path in DIRECTORY.glob("*.yaml")))

PATTERNS = {
  "patterns_none": {"pattern_sharings": ("none",)},
  "patterns_symmetry": {"pattern_sharings": ("symmetry",)},
  "patterns_all": {"pattern_sharings": ("all",)},
  "patterns_counts": {"pattern_sharings": ("counts",)},
  "patterns_of_sides": {"pattern_sharings": ("counts", "symmetry"), "has_sides": True},
  "deep_patterns": {"pattern_sharings": ("symmetry", "all"), "hidden": (6,)},
}


def make(game, name, **fields):
  """Returns a network of the ttt3d paper's Table I, or one of `PATTERNS`."""
  if name in PATTERNS:
    return networks.ValueNetwork(game, **PATTERNS[name], **fields)
  config = yaml.safe_load((DIRECTORY / f"{name}.yaml").read_text(encoding="utf-8"))
  said = config["learner"]["network"]
  return networks.ValueNetwork(game, tuple(said["hidden"]), said["detectors"], **fields)


def randomize(params, seed=0):
  """Returns parameters of which none is zero."""
  leaves, structure = jax.tree.flatten(params)
  keys = jax.random.split(jax.random.key(seed), len(leaves))
  drawn = [jax.random.normal(k, x.shape) for k, x in zip(keys, leaves, strict=True)]
  return jax.tree.unflatten(structure, drawn)


@functools.partial(quick.jit, static_argnames=("network", "randomized"))
def init(network, seed=0, *, randomized=False):
  boards = jnp.zeros((1, network.game.num_cells), jnp.int8)
  params = network.init(jax.random.key(seed), boards)
  return randomize(params) if randomized else params


@functools.partial(quick.jit, static_argnames="network")
def apply(network, params, boards):
  return network.apply(params, boards)


def player(game, seed=0):
  """Returns the player of a small network with random weights."""
  network = networks.ValueNetwork(game, (4,), 0)
  params = randomize(init(network), seed)
  tables = network.apply(params, method="tables")
  return players.ValueGreedy(network, params, tables, counts_wins=False)
