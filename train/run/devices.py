"""The devices that a run uses, and the cache of compiled programs."""

import os
import pathlib

import jax

__all__ = [
  "enable_compilation_cache",
  "num_devices_for",
  "set_cpu_devices",
  "trial_sharding",
]

AXIS = "trials"


def set_cpu_devices(num_devices: int = 1) -> None:
  """Splits the CPU into several devices, among which trials are divided.

  Must be called before jax computes anything.

  Raises:
    ValueError: if the number is not positive, or jax is already in use.
  """
  if num_devices < 1:
    raise ValueError(f"there must be at least 1 device, not {num_devices}")
  try:
    jax.config.update("jax_num_cpu_devices", num_devices)
  except RuntimeError as error:
    raise ValueError(
      f"cannot use {num_devices} devices: jax is already in use"
    ) from error


def enable_compilation_cache() -> pathlib.Path:
  """Keeps compiled programs on disk, so that a second start compiles nothing.

  Returns:
    The cache: `JAX_COMPILATION_CACHE_DIR`, or a directory in the user's cache.
  """
  # A directory that is already set, by this variable or in code, has priority.
  given = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
  # Many small programs make a start slow too: all of them are cached.
  if "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
  if given:
    return pathlib.Path(given)
  home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
  directory = pathlib.Path(home).expanduser() / "jaxgames"
  jax.config.update("jax_compilation_cache_dir", str(directory))
  return directory


def num_devices_for(num_trials: int) -> int:
  """Returns how many devices share some trials: no more than make it quicker.

  Five trials take as long on three devices as on four: one of them has two trials.
  """
  places_each = -(-num_trials // len(jax.devices()))
  return -(-num_trials // places_each)


def trial_sharding(num_devices: int) -> jax.sharding.Sharding:
  """Returns a sharding that gives each of some devices equally many trials."""
  devices = jax.devices()[:num_devices]
  if num_devices == 1:
    return jax.sharding.SingleDeviceSharding(devices[0])
  mesh = jax.make_mesh(
    (num_devices,),
    (AXIS,),
    axis_types=(jax.sharding.AxisType.Auto,),
    devices=devices,
  )
  return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(AXIS))
