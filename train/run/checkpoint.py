"""Checkpoints of runs, saved and restored by orbax."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
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
from train.run import checksums
from train.run import durable
from train.run import leaves as leaves_lib
from train.run import record as record_lib

__all__ = [
  "Checkpoints",
  "NoneUsableError",
  "Restored",
  "read_date",
  "restore",
  "restore_part",
  "set_aside",
]

SCORE = "score"

# The item of a checkpoint that holds the leaves; the other one is its record.
STATE = "state"


@dataclasses.dataclass(frozen=True)
class Restored:
  """The contents of a checkpoint.

  Attributes:
    number: the checkpoint's number.
    state: the state of all trials, on the host.
    progress: the loop's own values, saved with it.
    skipped: the numbers of newer checkpoints that are damaged or were not accepted.
  """

  number: int
  state: base.LearnerState
  progress: Mapping[str, Any]
  skipped: tuple[int, ...] = ()


class NoneUsableError(ValueError):
  """There are checkpoints, but none that can be used."""


class Checkpoints:
  """Saves checkpoints in the background.

  The newest few are kept, and the one with the best score. They are numbered in the
  order of saving. An unfinished one has another name, so a numbered one is complete,
  and on disk before an older one is removed.
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
        directory,
        preservation_policy=policy,
        cleanup_tmp_directories=True,
        temporary_path_class=_DurablePath,
      )
      self._next_number = max(record_lib.numbers(directory), default=0) + 1

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
    leaves = leaves_lib.to_host(state, num_trials)
    record = record_lib.Record(
      self._next_number, progress, score, checksums.of_arrays(leaves)
    )
    items: dict[str, Any] = {
      STATE: ocp.args.StandardSave(leaves),
      record_lib.ITEM: ocp.args.JsonSave(record_lib.seal(record)),
    }
    args = ocp.args.Composite(**items)
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


class _DurablePath(ocp.path.atomicity.AtomicRenameTemporaryPath):
  """Gives a checkpoint its name once it is on disk; orbax leaves that to the system."""

  async def finalize(self) -> None:
    temporary, final = pathlib.Path(self.get()), pathlib.Path(self.get_final())
    if not final.name.isdigit():  # An item of a checkpoint, which is synced as a whole.
      await super().finalize()
      return
    await asyncio.to_thread(durable.sync_tree, temporary)
    await super().finalize()
    await asyncio.to_thread(durable.sync, final.parent)


def restore(
  directory: pathlib.Path,
  abstract_state: base.LearnerState,
  *,
  renamed: Mapping[str, str] | None = None,
  refuse_fn: Callable[[Mapping[str, Any]], str] = lambda progress: "",
  warn_fn: Callable[[str], None] = lambda text: None,
) -> Restored | None:
  """Restores the newest checkpoint that is not damaged.

  Args:
    directory: the directory of checkpoints.
    abstract_state: the shapes and dtypes of the state.
    renamed: prefixes of leaves' names, and the prefixes they had in older checkpoints.
    refuse_fn: says from a checkpoint's progress why it cannot be used, if so; what it
      raises is raised.
    warn_fn: called with a line about each checkpoint that is skipped.

  Returns:
    None if nothing was ever saved.

  Raises:
    NoneUsableError: if none of the checkpoints can be used.
  """
  return _restore_first(
    directory,
    lambda manager, record: _read(manager, record, abstract_state, renamed or {}),
    refuse_fn=refuse_fn,
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
    NoneUsableError: if none of the checkpoints can be read.
  """
  return _restore_first(
    directory,
    lambda manager, record: _read_part(manager, record, path, renamed or {}),
    is_best=is_best,
  )


def _restore_first(
  directory: pathlib.Path,
  read_fn: Callable[[ocp.CheckpointManager, record_lib.Record], Any],
  *,
  is_best: bool = False,
  refuse_fn: Callable[[Mapping[str, Any]], str] = lambda progress: "",
  warn_fn: Callable[[str], None] = lambda text: None,
) -> Restored | None:
  """Returns the first checkpoint that can be read, newest or best first."""
  numbers = record_lib.numbers(directory)
  if is_best:
    numbers = _best_first(directory, numbers)
  if not numbers:
    return None
  skipped: dict[int, str] = {}
  with contextlib.closing(
    _manager(directory, read_only=True, lightweight_initialize=True)
  ) as manager:
    for number in numbers:
      try:
        found = _restore_one(manager, directory, number, read_fn, refuse_fn)
        return dataclasses.replace(found, skipped=tuple(skipped))
      except _SkippedError as error:
        skipped[number] = str(error)
        warn_fn(f"skipping checkpoint {number}, {error}")
  number, reason = next(iter(skipped.items()))
  raise NoneUsableError(
    f"no checkpoint in {directory} can be used; the first of them is number {number}, "
    f"{reason}"
  )


class _SkippedError(Exception):
  """A checkpoint cannot be used; says why."""


def _restore_one(
  manager: ocp.CheckpointManager,
  directory: pathlib.Path,
  number: int,
  read_fn: Callable[[ocp.CheckpointManager, record_lib.Record], Any],
  refuse_fn: Callable[[Mapping[str, Any]], str],
) -> Restored:
  with _damage_noticed():
    record = record_lib.read(directory, number)
  reason = refuse_fn(record.values)
  if reason:
    raise _SkippedError(reason)
  with _damage_noticed():
    return Restored(number, read_fn(manager, record), record.values)


@contextlib.contextmanager
def _damage_noticed() -> Iterator[None]:
  try:
    yield
  except Exception as error:  # A damaged file can look like anything.
    raise _SkippedError(f"which is damaged ({_reason(error)})") from error


def _best_first(directory: pathlib.Path, numbers: Iterable[int]) -> list[int]:
  """Returns the checkpoints that have a score, the highest first."""
  scores = {number: _read_score(directory, number) for number in numbers}
  scored = [number for number in scores if scores[number] >= 0]
  return sorted(scored, key=scores.__getitem__, reverse=True)


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
  """Sets aside checkpoints whose scores orbax would fail on or read wrongly."""
  for number in record_lib.numbers(directory):
    if _read_score(directory, number) != _read_metrics(directory, number):
      set_aside(directory, number)


def _read_score(directory: pathlib.Path, number: int) -> float:
  """Returns a checkpoint's score, -1 if it has none, NaN if it cannot be read."""
  try:
    record = record_lib.read(directory, number)
  except ValueError:
    return math.nan
  if record.checksums is None:
    return _read_metrics(directory, number)
  return -1.0 if record.score is None else record.score


def _read_metrics(directory: pathlib.Path, number: int) -> float:
  """Returns the same from the file that orbax chooses the best checkpoint by."""
  path = directory / str(number) / "metrics" / "metrics"
  try:
    return float(_score(json.loads(path.read_text())))
  except FileNotFoundError:
    return -1.0
  except (OSError, ValueError, KeyError, TypeError):
    return math.nan


def _manager(directory: pathlib.Path, **options: Any) -> ocp.CheckpointManager:
  _quiet()
  options = {"best_fn": _score, "save_root_metadata": False, **options}
  return ocp.CheckpointManager(
    directory.resolve(), options=ocp.CheckpointManagerOptions(**options)
  )


def _read(
  manager: ocp.CheckpointManager,
  record: record_lib.Record,
  abstract_state: base.LearnerState,
  renamed: Mapping[str, str],
) -> base.LearnerState:
  specs = dict(leaves_lib.saved_specs(abstract_state))
  names = _names_by_name(_saved_names(manager, record), specs, renamed)
  found = _read_leaves(manager, record, names.values())
  for name, (shape, dtype) in specs.items():
    leaf = found[names[name]]
    if (leaf.shape, leaf.dtype) != (shape, dtype):
      raise ValueError(
        f"{name} is {leaf.dtype}{list(leaf.shape)}, not {dtype}{list(shape)}"
      )
  leaves = {name: found[names[name]] for name in specs}
  return leaves_lib.from_host(leaves, abstract_state)


def _read_part(
  manager: ocp.CheckpointManager,
  record: record_lib.Record,
  path: str,
  renamed: Mapping[str, str],
) -> Any:
  saved = _saved_names(manager, record)
  for prefix in (path, leaves_lib.old_name(f"{path}/", renamed).rstrip("/")):
    wanted = [name for name in saved if name == prefix or name.startswith(f"{prefix}/")]
    if wanted:
      found = _read_leaves(manager, record, wanted)
      flat = {
        name.removeprefix(prefix).lstrip("/"): leaf for name, leaf in found.items()
      }
      return leaves_lib.unflatten(flat)
  raise ValueError(f"it has no {path}")


def _read_leaves(
  manager: ocp.CheckpointManager, record: record_lib.Record, names: Iterable[str]
) -> dict[str, np.ndarray]:
  """Returns leaves of a checkpoint by name, as they were saved.

  Raises:
    ValueError: if one of them is not.
  """
  _check_whole(manager.directory / str(record.number) / STATE)
  # Of what is wanted, the names alone count.
  arguments = ocp.args.PyTreeRestore(
    dict.fromkeys(names, 0),
    restore_args={name: ocp.RestoreArgs(restore_type=np.ndarray) for name in names},
    partial_restore=True,
  )
  items: dict[str, Any] = {STATE: arguments}
  restored = manager.restore(record.number, args=ocp.args.Composite(**items))
  leaves = restored[STATE]
  if record.checksums is not None:
    checksums.check_arrays(leaves, record.checksums)
  return leaves


def _saved_names(
  manager: ocp.CheckpointManager, record: record_lib.Record
) -> Collection[str]:
  """Returns the names of all leaves of a checkpoint."""
  if record.checksums is not None:
    return record.checksums.keys()
  handler = ocp.PyTreeCheckpointHandler()
  metadata = handler.metadata(manager.directory / str(record.number) / STATE)
  return metadata.tree.keys()


def _names_by_name(
  saved: Collection[str], names: Iterable[str], renamed: Mapping[str, str]
) -> dict[str, str]:
  """Returns the names under which leaves were saved, by their present names.

  Raises:
    ValueError: if a leaf was not saved; orbax would return it unrestored.
  """
  found = {
    name: name if name in saved else leaves_lib.old_name(name, renamed)
    for name in names
  }
  for name, saved_name in found.items():
    if saved_name not in saved:
      raise ValueError(f"it has no {name}")
  return found


def _check_whole(directory: Any) -> None:
  """Raises an error if any of the arrays cannot be read."""
  # Storage checks its own tables as it reads, not the arrays. Orbax would notice too,
  # but it reads in many tasks, and if one fails the others print warnings when they are
  # cancelled.
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
