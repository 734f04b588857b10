"""The one loop: train a chunk, test, log, save, until the end or a signal."""

from __future__ import annotations

from collections.abc import Mapping
import contextlib
import dataclasses
import pathlib
import shlex
import signal
import time
from typing import Any

import jax
import numpy as np
import rich.console

from train import config as config_lib
from train.learners import registry as learner_registry
from train.run import checkpoint
from train.run import directory as run_directory
from train.run import display as display_lib
from train.run import programs
from train.run import progress as progress_lib
from train.run import provenance
from train.run import record as record_lib
from train.run import sameness
from train.run import signals
from train.run import tensorboard as tensorboard_lib
from train.run import trials as trials_lib

__all__ = ["Outcome", "num_devices", "resume", "start"]

# A chunk should take about this long: progress is shown, and signals are noticed, after
# each. Its length makes no difference to the numbers.
CHUNK_SECONDS = 1.5
# The first one is short, since a game may take long; the next ones grow at most so fast.
FIRST_CHUNK_GAMES = 16
MOST_GROWTH = 4.0


@dataclasses.dataclass(frozen=True)
class Outcome:
  """How the loop ended.

  Attributes:
    directory: of the run.
    is_finished: whether there is nothing left to train.
    has_diverged: whether no trial came to its end.
    signal: what asked it to stop.
  """

  directory: pathlib.Path
  is_finished: bool
  has_diverged: bool = False
  signal: signal.Signals | None = None

  @property
  def exit_code(self) -> int:
    """What a shell expects of a process that ended so."""
    if self.signal and not self.is_finished:
      return 128 + self.signal
    return 1 if self.has_diverged else 0


def start(
  config: config_lib.RunConfig,
  directory: pathlib.Path | str,
  console: rich.console.Console,
  *,
  tensorboard: bool = False,
  how_to_resume: str = "",
  next_config: config_lib.RunConfig | None = None,
) -> Outcome:
  """Trains from the beginning.

  Args:
    config: what to train.
    directory: a place for the run, where no run is yet.
    console: where progress is shown.
    tensorboard: whether to write curves for TensorBoard.
    how_to_resume: the command to show when it is stopped, if not `jaxgames resume`.
    next_config: of the run that comes next, compiled while this one trains.

  Raises:
    ValueError: if there is a run already, or the directory cannot be written.
  """
  files = run_directory.RunDirectory(directory)
  _refuse_if_held(files)
  run = _Run(config, files, console, how_to_resume)
  with files.locked():
    _refuse_if_held(files)  # Another process may have been quicker.
    files.write_config(config_lib.dump(config))
    return run.go(tensorboard=tensorboard, next_config=next_config)


def resume(
  directory: pathlib.Path | str,
  console: rich.console.Console,
  *,
  allow_different: bool = False,
  tensorboard: bool = False,
  how_to_resume: str = "",
  next_config: config_lib.RunConfig | None = None,
) -> Outcome:
  """Continues a run from its newest good checkpoint.

  Args:
    directory: of the run.
    console: where progress is shown.
    allow_different: whether to continue where the same bits cannot be promised.
    tensorboard: whether to write curves for TensorBoard.
    how_to_resume: the command to show when it is stopped, if not `jaxgames resume`.
    next_config: of the run that comes next, compiled while this one trains.

  Raises:
    ValueError: if there is no run, or it cannot be continued.
  """
  files = run_directory.RunDirectory(directory)
  if not (files.config.exists() or record_lib.numbers(files.states)):
    raise ValueError(f"there is no run in {files.path}: it has no config.yaml")
  with files.locked():
    # As many devices as before, if they are here, have the same places for trials.
    before = None if allow_different else num_devices(files.path)
    if before is not None and before > len(jax.devices()):
      before = None
    config, problem = _load_config(files)
    run = _Run(config, files, console, how_to_resume, num_devices=before)
    is_finished = run.restore(allow_different=allow_different)
    if problem:
      _mend_config(files, config, problem, console)
    if is_finished:
      return run.outcome()
    return run.go(tensorboard=tensorboard, next_config=next_config)


def num_devices(directory: pathlib.Path | str) -> int | None:
  """Returns how many devices a run was begun on, if that is known."""
  files = run_directory.RunDirectory(directory)
  record = record_lib.find_newest(files.states)
  return None if record is None else record.values["environment"]["devices"]


class _Run:
  """A run in this process, which holds the directory's lock."""

  def __init__(
    self,
    config: config_lib.RunConfig,
    files: run_directory.RunDirectory,
    console: rich.console.Console,
    how_to_resume: str,
    num_devices: int | None = None,
  ):
    self._config = config
    self._files = files
    self._how_to_resume = how_to_resume or _resume_command(files)
    self._programs = programs.Programs(config, num_devices=num_devices)
    self._display = display_lib.Display(console, files.name, config)
    self._kind = learner_registry.KINDS[config.learner.kind]
    self._environment = {
      **provenance.environment(self._programs.num_devices),
      sameness.ARITHMETIC: self._kind.arithmetic,
    }
    self._trials: trials_lib.Trials | None = None
    self._progress = progress_lib.Progress(games=[0] * config.num_trials)
    self._is_log_damaged = False
    self._warned: set[int] = set()
    self._counted_compiling = 0.0
    self._chunk_games = float(FIRST_CHUNK_GAMES)

  # Beginning and end.

  def restore(self, *, allow_different: bool) -> bool:
    """Loads the newest good checkpoint; returns whether the run is finished."""
    found = self._find_checkpoint()
    if found is None:
      self._display.say(f"{self._files.path} has no checkpoint yet: from the beginning")
      return False
    self._progress = progress_lib.Progress.from_saved(found.progress)
    state = self._programs.place(found.state)
    self._trials = trials_lib.Trials(self._programs, state)
    if self._progress.is_finished(self._config):
      if not self._is_status_true():
        self._write_status()
      self._display.say(f"{self._files.path} is finished: {self._progress.summary()}")
      return True
    warning = sameness.check_environment(
      found.progress["environment"],
      self._environment,
      self._files,
      allow_different=allow_different,
    )
    if warning:
      self._display.say(warning)
    for number in found.skipped:
      checkpoint.set_aside(self._files.states, number)
    return False

  def _find_checkpoint(self) -> checkpoint.Restored | None:
    try:
      return checkpoint.restore(
        self._files.states,
        self._programs.abstract_state(),
        renamed=self._kind.renamed,
        refuse_fn=self._refuse,
        warn_fn=self._display.say,
      )
    except checkpoint.NoneUsableError as error:
      again = f"jaxgames train {shlex.quote(str(self._files.config))} --out DIR"
      raise ValueError(
        f"{error}; nothing was changed: put back what is missing, or train again: "
        f"{again}"
      ) from error

  def _refuse(self, saved: Mapping[str, Any]) -> str:
    """Says why a checkpoint is not continued from, if so.

    Raises:
      ValueError: if the config was changed since.
    """
    sameness.check_config(saved["config"], self._config, self._files)
    if self._lines(progress_lib.Progress.from_saved(saved)) is not None:
      return ""
    self._is_log_damaged = self._files.metrics.exists()
    return f"whose tests are not in {self._files.metrics} as they were written"

  def _lines(self, progress: progress_lib.Progress) -> bytes | None:
    """Returns the lines of metrics.jsonl up to a checkpoint, if they are as written."""
    return run_directory.find_lines(
      self._files,
      num_tests=progress.num_tests,
      num_lines=progress.num_lines,
      checksum=progress.log,
    )

  def go(
    self, *, tensorboard: bool, next_config: config_lib.RunConfig | None
  ) -> Outcome:
    """Trains until the end or a signal."""
    progress = self._progress
    self._next_config = next_config
    self._programs.begin(is_new=self._trials is None)
    with contextlib.ExitStack() as stack:
      stop = stack.enter_context(signals.stop_requests())
      self._metrics = self._open_metrics()
      stack.callback(self._metrics.close)
      self._writer = None
      if tensorboard:
        self._writer = tensorboard_lib.Writer(
          self._files.tensorboard, first_games=max(progress.games) + 1
        )
        stack.callback(self._writer.close)
      self._checkpoints = checkpoint.Checkpoints(
        self._files.states, keep=self._config.checkpoint.keep
      )
      stack.callback(self._checkpoints.close)
      stack.enter_context(self._display)
      if self._trials is None:
        self._trials = trials_lib.Trials(self._programs, self._programs.init())
      self._display.trained(self._progress)
      self._write_status()
      self._train(stop)
      self._checkpoints.wait()
      self._write_status()
    if progress.is_finished(self._config):
      self._display.say(f"{self._files.name}: {progress.summary()}")
    else:
      done = f"{sum(progress.games):,} games"
      self._display.say(f"stopped after {done}; to continue: {self._how_to_resume}")
    return self.outcome(stop.signal)

  def outcome(self, stopped_by: signal.Signals | None = None) -> Outcome:
    """Returns how the run stands.

    Args:
      stopped_by: the signal that asked to stop, if one did.
    """
    return Outcome(
      self._files.path,
      is_finished=self._progress.is_finished(self._config),
      has_diverged=len(self._progress.diverged) == self._config.num_trials,
      signal=stopped_by,
    )

  def _open_metrics(self) -> run_directory.Metrics:
    """Opens the log; one that has other lines than the checkpoint is kept beside it."""
    lines = self._lines(self._progress)
    assert lines is not None  # No other checkpoint is restored.
    if self._is_log_damaged:
      aside = self._files.set_aside(self._files.metrics, lines)
      self._display.say(f"{self._files.metrics} was changed; as it was it is {aside}")
    return run_directory.Metrics(self._files, lines)

  # The loop.

  def _train(self, stop: signals.StopRequest) -> None:
    config, progress = self._config, self._progress
    while not progress.is_finished(config):
      target = config.test_points[progress.num_tests]
      reached = None
      while not _is_at(reached, target) and stop.signal is None:
        reached = self._train_chunk(target)
        self._prepare_next()
        self._checkpoints.check()
      if reached is None or not _is_at(reached, target):
        self._save(score=None)
        return
      self._test(reached)
      is_last = progress.is_finished(config) or stop.signal is not None
      if is_last or progress.num_tests % config.checkpoint.every == 0:
        self._save(score=progress.score)
        if is_last:
          return  # The status says so once the checkpoint is on disk.
        self._write_status()

  def _train_chunk(self, target: int) -> programs.Reached:
    """Trains for about `CHUNK_SECONDS`, at most to the next test."""
    progress, active = self._progress, self._progress.active
    games = min(progress.games[trial] for trial in active)
    until = min(target, games + max(int(self._chunk_games), 1))
    assert self._trials is not None
    start = self._clock()
    reached = self._trials.advance(active, until)
    seconds = self._clock() - start
    progress.seconds += seconds
    progress.count_games(active, reached.games)
    self._notice_divergence(active[~reached.is_finite])
    self._display.trained(progress, seconds)
    # A chunk that was cut short by a test tells nothing against a longer one.
    rate = (until - games) / max(seconds, 1e-6)
    self._chunk_games = min(rate * CHUNK_SECONDS, MOST_GROWTH * self._chunk_games)
    return reached

  def _prepare_next(self) -> None:
    """Begins to compile the run that comes next, once this one trains."""
    if self._next_config is not None:
      programs.prepare(self._next_config)
      self._next_config = None

  def _test(self, reached: programs.Reached) -> None:
    """Tests the active trials, and ends those that are done or have diverged."""
    progress, active = self._progress, self._progress.active
    # Decided only here, since the ends of chunks depend on the clock.
    progress.end_trials(
      finished=active[reached.is_done & reached.is_finite],
      diverged=active[~reached.is_finite],
    )
    assert self._trials is not None
    start = self._clock()
    result = self._trials.test(active, progress.num_tests + 1)
    progress.test_seconds += self._clock() - start
    lines = progress.count_test(active, result)
    self._metrics.write(lines)
    if self._writer is not None:
      self._writer.write(lines)
    if progress.score is not None:
      self._display.tested(progress.num_tests, progress.score)

  def _clock(self) -> float:
    """Returns a time in seconds that stands still while programs are compiled."""
    return time.perf_counter() - self._programs.compile_seconds

  def _notice_divergence(self, trials: np.ndarray) -> None:
    for trial in trials.tolist():
      if trial not in self._warned:
        self._warned.add(trial)
        self._display.say(
          f"trial {trial} has diverged: after {self._progress.games[trial]:,} games its "
          "numbers are no longer finite; it ends with the next test, the others continue"
        )

  def _save(self, *, score: float | None) -> None:
    assert self._trials is not None
    self._count_compiling()
    self._progress.log = self._metrics.checksum
    self._checkpoints.save(
      self._trials.state,
      {
        "progress": dataclasses.asdict(self._progress),
        "config": config_lib.to_mapping(self._config),
        "environment": self._environment,
      },
      score=score,
      num_trials=self._config.num_trials,
    )

  def _is_status_true(self) -> bool:
    """Returns whether run.json says of the progress what the checkpoint says."""
    status = self._files.read_status()
    progress = self._progress.status(self._config)
    is_whole = all(isinstance(status.get(key), dict) for key in ("machine", "versions"))
    return is_whole and all(status.get(key) == progress[key] for key in progress)

  def _write_status(self) -> None:
    assert self._trials is not None
    parameters = self._programs.parameters(self._trials.state)
    self._count_compiling()
    num_trials = self._config.num_trials
    self._files.write_status(
      {
        "name": self._files.name,
        **self._progress.status(self._config),
        "machine": provenance.machine(self._programs.num_devices),
        "versions": provenance.versions(),
        "fingerprints": provenance.fingerprints(parameters, num_trials),
      }
    )

  def _count_compiling(self) -> None:
    now = self._programs.compile_seconds
    self._progress.compile_seconds += now - self._counted_compiling
    self._counted_compiling = now


def _is_at(reached: programs.Reached | None, target: int) -> bool:
  """Returns whether all active trials are ready for the next test."""
  if reached is None:
    return False
  return bool((reached.is_done | (reached.games >= target)).all())


def _refuse_if_held(files: run_directory.RunDirectory) -> None:
  if files.holds_run:
    raise ValueError(
      f"there is a run in {files.path} already; to continue it: "
      f"{_resume_command(files)}"
    )


def _load_config(
  files: run_directory.RunDirectory,
) -> tuple[config_lib.RunConfig, str]:
  """Reads a run's config; one that cannot be read is taken from a checkpoint.

  Returns:
    The config, and why it could not be read.

  Raises:
    ValueError: if no checkpoint has it either.
  """
  try:
    return config_lib.load_saved(files.config), ""
  except ValueError as error:
    record = record_lib.find_newest(files.states)
    if record is None:
      raise
    return config_lib.from_saved(record.values["config"], str(files.config)), str(error)


def _mend_config(
  files: run_directory.RunDirectory,
  config: config_lib.RunConfig,
  problem: str,
  console: rich.console.Console,
) -> None:
  """Writes a config that could not be read, as a checkpoint has it."""
  if files.config.exists():
    files.set_aside(files.config)
  files.write_config(config_lib.dump(config))
  text = f"{problem}; it is written anew, from a checkpoint"
  console.print(text, markup=False, highlight=False, soft_wrap=True)


def _resume_command(files: run_directory.RunDirectory) -> str:
  return f"jaxgames resume {shlex.quote(str(files.path))}"
