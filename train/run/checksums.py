"""Checksums of what is saved: made before it is written, compared after it is read."""

from collections.abc import Mapping
import hashlib
import json
import sys
from typing import Any

import numpy as np

__all__ = ["add_array", "check_arrays", "of_arrays", "of_values"]


def of_arrays(arrays: Mapping[str, np.ndarray]) -> dict[str, str]:
  """Returns the sha256 of each array: of its name, dtype, shape and bytes."""
  return {name: _of_array(name, array) for name, array in arrays.items()}


def check_arrays(
  arrays: Mapping[str, np.ndarray], checksums: Mapping[str, str]
) -> None:
  """Compares arrays with the checksums of what was saved under their names.

  Raises:
    ValueError: with the name of an array that is not as it was saved.
  """
  for name, array in arrays.items():
    if checksums.get(name) != _of_array(name, array):
      raise ValueError(f"{name} is not as it was saved: its checksum differs")


def of_values(values: Mapping[str, Any]) -> str:
  """Returns the sha256 of plain values, however they are laid out.

  >>> of_values({"a": 1, "b": [2.5]}) == of_values({"b": (2.5,), "a": 1})
  True
  """
  text = json.dumps(values, sort_keys=True, allow_nan=False)
  return hashlib.sha256(text.encode()).hexdigest()


def add_array(digest: Any, name: str, array: np.ndarray) -> None:
  """Adds the name, dtype, shape and bytes of an array to a digest of hashlib."""
  digest.update(f"{name} {array.dtype.name} {array.shape}\n".encode())
  own = np.ascontiguousarray(array)
  little_endian = own if sys.byteorder == "little" else own.byteswap()
  digest.update(little_endian.reshape(-1).view(np.uint8))


def _of_array(name: str, array: np.ndarray) -> str:
  digest = hashlib.sha256()
  add_array(digest, name, array)
  return digest.hexdigest()
