"""States as named arrays: what checkpoints and agent files hold."""

from collections.abc import Iterator, Mapping
from typing import Any

import flax.traverse_util
import jax
import numpy as np

from train.learners import base

__all__ = [
  "from_host",
  "key_data",
  "named_leaves",
  "old_name",
  "saved_specs",
  "to_host",
  "unflatten",
]


def named_leaves(state: base.LearnerState) -> list[tuple[str, Any]]:
  """Returns all leaves of a state, named by its fields: `games/states/own`."""
  return [
    (jax.tree_util.keystr(path, simple=True, separator="/"), leaf)
    for path, leaf in jax.tree_util.tree_leaves_with_path(state)
  ]


def to_host(
  state: base.LearnerState, num_trials: int | None = None
) -> dict[str, np.ndarray]:
  """Returns copies of all leaves by name; random keys become their data.

  Args:
    state: of some trials.
    num_trials: how many of the trials; if not given, all.
  """
  # Copies: on a CPU, an array on the host may share memory that is donated next.
  return {
    name: np.array(key_data(leaf))[:num_trials]
    for name, leaf in named_leaves(state)
    if leaf.size
  }


def from_host(
  leaves: Mapping[str, np.ndarray], abstract_state: base.LearnerState
) -> base.LearnerState:
  """Returns the state of leaves by name; the inverse of `to_host`."""
  values = []
  for name, leaf in named_leaves(abstract_state):
    value: Any = leaves[name] if leaf.size else np.empty(leaf.shape, leaf.dtype)
    if _is_key(leaf):
      value = jax.random.wrap_key_data(value, impl=_key_implementation(leaf))
    values.append(value)
  return jax.tree.unflatten(jax.tree.structure(abstract_state), values)


def saved_specs(
  abstract_state: base.LearnerState,
) -> Iterator[tuple[str, tuple[tuple[int, ...], np.dtype]]]:
  """Yields the name, shape and dtype of each leaf that `to_host` has."""
  for name, leaf in named_leaves(abstract_state):
    # Orbax refuses arrays without elements, and they hold nothing to save.
    if leaf.size:
      saved = jax.eval_shape(key_data, leaf)
      yield name, (saved.shape, saved.dtype)


def old_name(name: str, renamed: Mapping[str, str]) -> str:
  """Returns the name of a leaf in older checkpoints.

  >>> old_name("games/states/own", {"games/states/": "games/", "games/": ""})
  'games/own'
  """
  for new in sorted(renamed, key=len, reverse=True):
    if name.startswith(new):
      return renamed[new] + name.removeprefix(new)
  return name


def unflatten(leaves: Mapping[str, Any]) -> Any:
  """Returns nested mappings for names with slashes; a single nameless leaf as it is.

  >>> unflatten({"a/b": 1, "a/c": 2})
  {'a': {'b': 1, 'c': 2}}
  """
  if set(leaves) == {""}:
    return leaves[""]
  return flax.traverse_util.unflatten_dict(leaves, sep="/")


def key_data(leaf: Any) -> Any:
  """Returns the plain numbers of random keys, and other leaves as they are."""
  return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _key_implementation(abstract_key: Any) -> Any:
  """Returns the random number generator of an abstract key."""
  found = []
  jax.eval_shape(lambda key: found.append(jax.random.key_impl(key)), abstract_key)
  return found[0]


def _is_key(leaf: Any) -> bool:
  return jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
