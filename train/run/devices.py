"""The devices that a run is computed on, and what is kept of compilations."""

import os
import pathlib

import jax

__all__ = ["enable_compilation_cache", "set_cpu_devices", "trial_sharding"]

AXIS = "trials"


def set_cpu_devices(num_devices: int = 1) -> None:
  """Makes the processor look like some devices; trials are shared out among them.

  Must come before anything is computed.

  Raises:
    ValueError: if it is impossible, or too late.
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
    Where: `JAX_COMPILATION_CACHE_DIR`, or else a place in the user's cache directory.
  """
  # What jax was told, by this variable or in code, has priority.
  given = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
  # Many small programs make a start slow too: keep them all.
  if "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
  if given:
    return pathlib.Path(given)
  home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
  directory = pathlib.Path(home).expanduser() / "jaxgames"
  jax.config.update("jax_compilation_cache_dir", str(directory))
  return directory


def trial_sharding(num_trials: int) -> jax.sharding.NamedSharding | None:
  """Returns how trials are shared out among devices, equally many to each.

  Returns:
    None if they stay on one device: there is no other, or no number of devices divides
    the number of trials.
  """
  devices = jax.devices()
  num_devices = max(n for n in range(1, len(devices) + 1) if num_trials % n == 0)
  if num_devices == 1:
    return None
  mesh = jax.make_mesh(
    (num_devices,),
    (AXIS,),
    axis_types=(jax.sharding.AxisType.Auto,),
    devices=devices[:num_devices],
  )
  return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(AXIS))
