"""An agent as one file: its weights, config and provenance, in safetensors."""

from collections.abc import Mapping
import json
import pathlib
from typing import Any, NamedTuple

import jax
import numpy as np
import safetensors
import safetensors.numpy

from train.config import regular
from train.run import checksums
from train.run import durable
from train.run import leaves as leaves_lib

__all__ = ["Contents", "read", "write"]

# Changes when older files can no longer be read as they are.
FORMAT = "jaxgames agent 2"

# Files of the first format have no checksums, and are read as they are.
UNSEALED_FORMAT = "jaxgames agent 1"

# The checksum of all other fields of the metadata.
SEAL = "sha256"

# The name of parameters that are a single array.
WHOLE = "parameters"


class Contents(NamedTuple):
  """What a file holds.

  Attributes:
    parameters: nested mappings of arrays, or one array.
    config: of the agent's run, laid out as in a file.
    provenance: where the agent comes from.
  """

  parameters: Any
  config: dict[str, Any]
  provenance: dict[str, Any]


def write(
  path: pathlib.Path,
  parameters: Any,
  config: Mapping[str, Any],
  provenance: Mapping[str, Any],
) -> None:
  """Writes an agent; at no time there is half of a file.

  Raises:
    ValueError: if it cannot be written.
  """
  leaves = {
    jax.tree_util.keystr(parts, simple=True, separator="/") or WHOLE: np.asarray(leaf)
    for parts, leaf in jax.tree_util.tree_leaves_with_path(parameters)
  }
  metadata = {
    "format": FORMAT,
    "config": json.dumps(config),
    "provenance": json.dumps(provenance),
    "checksums": json.dumps(checksums.of_arrays(leaves)),
  }
  metadata[SEAL] = checksums.of_values(metadata)
  try:
    durable.replace(path, safetensors.numpy.save(leaves, metadata))
  except OSError as error:
    raise ValueError(f"cannot write {path}: {error.strerror or error}") from error


def read(path: pathlib.Path) -> Contents:
  """Reads an agent.

  Raises:
    ValueError: if there is no such file, or it holds no agent, or is damaged.
  """
  try:
    regular.check(path)
    with safetensors.safe_open(path, framework="numpy") as file:
      metadata = file.metadata() or {}
      leaves = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
  except FileNotFoundError:
    raise ValueError(f"no agent {str(path)!r}: there is no such file") from None
  except (OSError, ValueError, safetensors.SafetensorError) as error:
    raise ValueError(f"no agent {str(path)!r}: it cannot be read ({error})") from error
  if metadata.get("format") not in (FORMAT, UNSEALED_FORMAT):
    raise ValueError(
      f"no agent {str(path)!r}: it is not an agent's file but "
      f"{metadata.get('format', 'something else')!r}; expected {FORMAT!r}"
    )
  if metadata["format"] == FORMAT or SEAL in metadata:
    _check(leaves, metadata, path)
  try:
    config, provenance = (json.loads(metadata[k]) for k in ("config", "provenance"))
  except (KeyError, ValueError) as error:
    message = f"no agent {str(path)!r}: its config or provenance is damaged"
    raise ValueError(message) from error
  if set(leaves) == {WHOLE}:
    leaves = {"": leaves[WHOLE]}
  return Contents(leaves_lib.unflatten(leaves), config, provenance)


def _check(
  leaves: Mapping[str, np.ndarray], metadata: Mapping[str, str], path: pathlib.Path
) -> None:
  """Raises a `ValueError` if a file's contents are not as they were written."""
  sealed = {name: text for name, text in metadata.items() if name != SEAL}
  try:
    if metadata.get(SEAL) != checksums.of_values(sealed):
      raise ValueError("the checksum of its config and provenance differs")
    saved = json.loads(sealed["checksums"])
    if set(saved) != set(leaves):
      raise ValueError("it has other arrays than were saved")
    checksums.check_arrays(leaves, saved)
  except (ValueError, KeyError) as error:
    raise ValueError(f"no agent {str(path)!r}: it is damaged ({error})") from error
