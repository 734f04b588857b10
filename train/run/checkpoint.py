"""Checkpoints of runs, saved and restored by orbax."""

from collections.abc import Callable, Iterable, Iterator, Mapping
import contextlib
import dataclasses
import datetime
import functools
import json
import logging
import math
import pathlib
import sys
from typing import Any
import urllib.parse

from absl import logging as absl_logging
import numpy as np
import orbax.checkpoint as ocp  # type: ignore[import-untyped]
import tensorstore

from train.learners import base
from train.run import leaves as leaves_lib

__all__ = [
  "Checkpoints",
  "Restored",
  "read_date",
  "restore",
  "restore_part",
  "set_aside",
]

SCORE = "score"


@dataclasses.dataclass(frozen=True)
class Restored:
  """The contents of a checkpoint.

  Attributes:
    number: the checkpoint's number.
    state: the state of all trials, on the host.
    progress: the loop's own values, saved with it.
    damaged: the numbers of newer checkpoints that could not be read.
  """

  number: int
  state: base.LearnerState
  progress: Mapping[str, Any]
  damaged: tuple[int, ...] = ()


class Checkpoints:
  """Saves checkpoints in the background.

  The newest few are kept, and the one with the best score. They are numbered in the
  order of saving. An unfinished one has another name, so a numbered one is complete.
  """

  def __init__(self, directory: pathlib.Path, *, keep: int):
    """Opens or creates a directory of checkpoints.

    Args:
      directory: the directory.
      keep: how many of the newest checkpoints are kept.
    """
    self._directory = directory
    policies = ocp.checkpoint_managers
    best = policies.BestN(
      get_metric_fn=_score, n=1, keep_checkpoints_without_metrics=False
    )
    policy = policies.AnyPreservationPolicy([policies.LatestN(keep), best])
    with self._errors_explained():
      _set_aside_unreadable(directory)
      self._manager = _manager(
        directory, preservation_policy=policy, cleanup_tmp_directories=True
      )
      self._next_number = max(self._manager.all_steps(), default=0) + 1

  def save(
    self,
    state: base.LearnerState,
    progress: Mapping[str, Any],
    *,
    score: float | None,
    num_trials: int | None = None,
  ) -> None:
    """Starts saving; the state may be donated as soon as this returns.

    Args:
      state: the state of all trials.
      progress: plain values to be saved with it.
      score: the score of a test of this very state, if there was one.
      num_trials: how many there are; what the state has in further places is left out.

    Raises:
      ValueError: if this or the previous checkpoint cannot be written.
    """
    args = ocp.args.Composite(
      state=ocp.args.StandardSave(leaves_lib.to_host(state, num_trials)),
      progress=ocp.args.JsonSave(dict(progress)),
    )
    metrics = None if score is None else {SCORE: score}
    with self._errors_explained():
      self._manager.save(self._next_number, args=args, metrics=metrics, force=True)
    self._next_number += 1

  def check(self) -> None:
    """Raises a `ValueError` if a checkpoint could not be written; does not wait."""
    if not self._manager.is_saving_in_progress():
      self.wait()

  def wait(self) -> None:
    """Waits until everything is on disk; raises a `ValueError` if that fails."""
    with self._errors_explained():
      self._manager.wait_until_finished()
      self._manager.check_for_errors()

  def close(self) -> None:
    """Waits until everything is on disk, and closes the directory."""
    with self._errors_explained():
      self._manager.close()

  @contextlib.contextmanager
  def _errors_explained(self) -> Iterator[None]:
    # Orbax raises whatever its storage raises, also from its threads.
    try:
      yield
    except Exception as error:
      raise ValueError(
        f"cannot write a checkpoint into {self._directory} ({_reason(error)}); the "
        "earlier ones are complete"
      ) from error


def restore(
  directory: pathlib.Path,
  abstract_state: base.LearnerState,
  *,
  renamed: Mapping[str, str] | None = None,
  warn_fn: Callable[[str], None] = lambda text: None,
) -> Restored | None:
  """Restores the newest checkpoint that is not damaged.

  Args:
    directory: the directory of checkpoints.
    abstract_state: the shapes and dtypes of the state.
    renamed: prefixes of leaves' names, and the prefixes they had in older checkpoints.
    warn_fn: called with a line about each checkpoint that cannot be read.

  Returns:
    None if nothing was ever saved.

  Raises:
    ValueError: if none of the checkpoints can be read.
  """
  return _restore_first(
    directory,
    lambda manager, number: _read(manager, number, abstract_state, renamed or {}),
    warn_fn=warn_fn,
  )


def restore_part(
  directory: pathlib.Path,
  path: str,
  *,
  renamed: Mapping[str, str] | None = None,
  is_best: bool = False,
) -> Restored | None:
  """Restores a part of the newest checkpoint, whatever its shapes.

  Args:
    directory: the directory of checkpoints.
    path: the part's path in the state, such as `params`: a prefix of leaves' names.
    renamed: see `restore`.
    is_best: whether to read the checkpoint with the best score, not the newest.

  Returns:
    The part, as nested mappings of arrays or one array, in place of the state; None if
    nothing was ever saved.

  Raises:
    ValueError: if none of the checkpoints can be read.
  """
  return _restore_first(
    directory,
    lambda manager, number: _read_part(manager, number, path, renamed or {}),
    is_best=is_best,
  )


def _restore_first(
  directory: pathlib.Path,
  read_fn: Callable[[ocp.CheckpointManager, int], tuple[Any, Mapping[str, Any]]],
  *,
  is_best: bool = False,
  warn_fn: Callable[[str], None] = lambda text: None,
) -> Restored | None:
  """Returns the first checkpoint that `read_fn` can read, newest or best first."""
  if not directory.is_dir():
    return None
  manager = _manager(directory, read_only=True, lightweight_initialize=True)
  try:
    numbers = sorted(manager.all_steps(), reverse=True)
    if is_best:
      scores = {number: _read_score(directory / str(number)) for number in numbers}
      numbers = [number for number in numbers if scores[number] >= 0]
      numbers.sort(key=scores.__getitem__, reverse=True)
    damaged: list[int] = []
    reason = ""
    for number in numbers:
      try:
        state, progress = read_fn(manager, number)
        return Restored(number, state, progress, tuple(damaged))
      except Exception as error:  # A damaged file can look like anything.
        reason = reason or _reason(error)
        damaged.append(number)
        warn_fn(f"skipping checkpoint {number}, which is damaged ({_reason(error)})")
  finally:
    manager.close()
  if damaged:
    raise ValueError(f"no checkpoint in {directory} can be read ({reason})")
  return None


def read_date(directory: pathlib.Path, number: int) -> str | None:
  """Returns when a checkpoint was saved, in UTC as ISO 8601; None if it is unknown."""
  try:
    text = (directory / str(number) / "_CHECKPOINT_METADATA").read_text()
    seconds = json.loads(text)["init_timestamp_nsecs"] / 1e9
    date = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
  except (OSError, ValueError, KeyError, TypeError, OverflowError):
    return None
  return date.isoformat(timespec="seconds")


def set_aside(directory: pathlib.Path, number: int) -> None:
  """Renames a damaged checkpoint, so that it no longer counts as one."""
  target = directory / f"damaged_{number}"
  while target.exists():  # A later checkpoint of the same number was damaged too.
    target = target.with_name(f"{target.name}_again")
  (directory / str(number)).rename(target)


def _set_aside_unreadable(directory: pathlib.Path) -> None:
  """Sets aside checkpoints with unreadable scores, on which orbax would fail."""
  for path in directory.glob("[0-9]*"):
    if path.name.isdigit() and math.isnan(_read_score(path)):
      set_aside(directory, int(path.name))


def _read_score(path: pathlib.Path) -> float:
  """Returns a checkpoint's score, -1 if it has none, NaN if it cannot be read."""
  try:
    return float(_score(json.loads((path / "metrics" / "metrics").read_text())))
  except FileNotFoundError:
    return -1.0
  except (ValueError, KeyError, TypeError):
    return math.nan


def _manager(directory: pathlib.Path, **options: Any) -> ocp.CheckpointManager:
  _quiet()
  options = {"best_fn": _score, "save_root_metadata": False, **options}
  return ocp.CheckpointManager(
    directory.resolve(), options=ocp.CheckpointManagerOptions(**options)
  )


def _read(
  manager: ocp.CheckpointManager,
  number: int,
  abstract_state: base.LearnerState,
  renamed: Mapping[str, str],
) -> tuple[base.LearnerState, Mapping[str, Any]]:
  specs = dict(leaves_lib.saved_specs(abstract_state))
  names = _saved_names(manager, number, specs, renamed)
  found, progress = _read_leaves(
    manager, number, {names[name]: np.empty(*spec) for name, spec in specs.items()}
  )
  for name, (shape, dtype) in specs.items():
    leaf = found[names[name]]
    if (leaf.shape, leaf.dtype) != (shape, dtype):
      raise ValueError(
        f"{name} is {leaf.dtype}{list(leaf.shape)}, not {dtype}{list(shape)}"
      )
  leaves = {name: found[names[name]] for name in specs}
  return leaves_lib.from_host(leaves, abstract_state), progress


def _read_part(
  manager: ocp.CheckpointManager, number: int, path: str, renamed: Mapping[str, str]
) -> tuple[Any, Mapping[str, Any]]:
  saved = _saved_leaves(manager, number)
  for prefix in (path, leaves_lib.old_name(f"{path}/", renamed).rstrip("/")):
    wanted = {
      name: leaf
      for name, leaf in saved.items()
      if name == prefix or name.startswith(f"{prefix}/")
    }
    if wanted:
      found, progress = _read_leaves(manager, number, wanted)
      flat = {
        name.removeprefix(prefix).lstrip("/"): leaf for name, leaf in found.items()
      }
      return leaves_lib.unflatten(flat), progress
  raise ValueError(f"it has no {path}")


def _read_leaves(
  manager: ocp.CheckpointManager, number: int, wanted: Mapping[str, Any]
) -> tuple[dict[str, np.ndarray], Mapping[str, Any]]:
  """Returns leaves of a checkpoint by name, and the loop's own values."""
  _check_whole(manager.directory / str(number) / "state")
  restored = manager.restore(
    number,
    args=ocp.args.Composite(
      state=ocp.args.PyTreeRestore(
        dict(wanted),
        restore_args={
          name: ocp.RestoreArgs(restore_type=np.ndarray) for name in wanted
        },
        partial_restore=True,
      ),
      progress=ocp.args.JsonRestore(),
    ),
  )
  return restored.state, restored.progress


def _saved_leaves(manager: ocp.CheckpointManager, number: int) -> dict[str, Any]:
  """Returns the shapes and dtypes of all leaves of a checkpoint, by name."""
  handler = ocp.PyTreeCheckpointHandler()
  metadata = handler.metadata(manager.directory / str(number) / "state")
  return {
    name: np.empty(leaf.shape, leaf.dtype) for name, leaf in metadata.tree.items()
  }


def _saved_names(
  manager: ocp.CheckpointManager,
  number: int,
  names: Iterable[str],
  renamed: Mapping[str, str],
) -> dict[str, str]:
  """Returns the names under which leaves were saved, by their present names.

  Raises:
    ValueError: if a leaf was not saved; orbax would return it unrestored.
  """
  saved = _saved_leaves(manager, number)
  found = {
    name: name if name in saved else leaves_lib.old_name(name, renamed)
    for name in names
  }
  for name, saved_name in found.items():
    if saved_name not in saved:
      raise ValueError(f"it has no {name}")
  return found


def _check_whole(directory: Any) -> None:
  """Raises an error if any byte of the arrays is missing or wrong."""
  # Storage verifies checksums as it reads. Orbax would notice too, but it reads in many
  # tasks, and if one fails the others print warnings when they are cancelled.
  store = tensorstore.KvStore.open(
    {"driver": "ocdbt", "base": f"file://{urllib.parse.quote(str(directory))}/"}
  ).result()
  for name in store.list().result():
    store.read(name).result()


def _score(metrics: Any) -> float:
  return metrics[SCORE]


def _reason(error: BaseException) -> str:
  """Returns an error's text in one line."""
  text = " ".join(str(error).split()) or type(error).__name__
  # Storage lists the files involved first and the cause last.
  text = text.rpartition('": ')[2] or text
  return text if len(text) <= 160 else f"... {text[-160:]}"


@functools.cache
def _quiet() -> None:
  """Silences logs and late errors; the errors that matter are raised."""
  # Orbax logs each of its steps, and tracebacks of its errors.
  absl_logging.set_verbosity(absl_logging.FATAL)
  logging.getLogger("asyncio").setLevel(logging.CRITICAL)
  # If one of many writes fails, the others end after their event loop is closed.
  before = sys.unraisablehook

  def hook(unraisable: Any) -> None:
    error = unraisable.exc_value
    is_late = isinstance(error, RuntimeError) and str(error) == "Event loop is closed"
    if not is_late:
      before(unraisable)

  sys.unraisablehook = hook
