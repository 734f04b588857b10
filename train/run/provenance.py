"""The machine and versions behind a run, and fingerprints of its parameters."""

import functools
import hashlib
import importlib.metadata
import os
import pathlib
import platform
from typing import Any

import chex
import jax
import numpy as np

from train.run import checksums

__all__ = [
  "environment",
  "fingerprint",
  "fingerprints",
  "machine",
  "num_cores",
  "versions",
]

PACKAGES = {
  "jax": "jax",
  "jaxlib": "jaxlib",
  "flax": "flax",
  "optax": "optax",
  "orbax": "orbax-checkpoint",
  "numpy": "numpy",
  "jaxgames": "jaxgames",
}


def environment(num_devices: int) -> dict[str, Any]:
  """Returns what must be unchanged for a resumed run to compute the same bits."""
  return {
    "jax": jax.__version__,
    "platform": jax.default_backend(),
    "devices": num_devices,
    "numbers": str(jax.dtypes.canonicalize_dtype(float)),
    "random numbers": str(jax.random.key_impl(jax.random.key(0))),
  }


def machine(num_devices: int) -> dict[str, Any]:
  """Returns the hardware in use."""
  return {
    "cpu": _cpu_model(),
    "cores": num_cores(),
    "devices": num_devices,
    "device": jax.devices()[0].device_kind,
    "platform": jax.default_backend(),
  }


def num_cores() -> int:
  """Returns how many cores of the CPU this process may use."""
  if hasattr(os, "sched_getaffinity"):
    return len(os.sched_getaffinity(0))
  return os.cpu_count() or 1


@functools.cache
def versions() -> dict[str, str]:
  """Returns the versions of Python and of the packages that results depend on."""
  found = {"python": platform.python_version()}
  for name, package in PACKAGES.items():
    try:
      found[name] = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
      found[name] = "unknown"
  return found


def fingerprints(parameters: chex.ArrayTree, num_trials: int) -> list[str]:
  """Returns the sha256 of each trial's parameters.

  It covers the names, dtypes, shapes and bytes of the arrays, sorted by name.

  Args:
    parameters: `[trials, ...]` arrays on the host.
    num_trials: the number of trials.
  """
  chex.assert_tree_shape_prefix(parameters, (num_trials,))
  leaves = sorted(
    (jax.tree_util.keystr(path), np.asarray(leaf))
    for path, leaf in jax.tree_util.tree_leaves_with_path(parameters)
  )
  return [_fingerprint(leaves, trial) for trial in range(num_trials)]


def fingerprint(parameters: chex.ArrayTree) -> str:
  """Returns the same for the parameters of one trial."""
  (only,) = fingerprints(
    jax.tree.map(lambda leaf: np.asarray(leaf)[None], parameters), 1
  )
  return only


def _fingerprint(leaves: list[tuple[str, np.ndarray]], trial: int) -> str:
  digest = hashlib.sha256()
  for name, leaf in leaves:
    checksums.add_array(digest, name, leaf[trial])
  return digest.hexdigest()


@functools.cache
def _cpu_model() -> str:
  try:
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
      if line.startswith("model name"):
        return line.partition(":")[2].strip()
  except OSError:
    pass
  return platform.processor() or platform.machine()
