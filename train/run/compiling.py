"""Compiles programs in threads, and keeps them: each is compiled once in a process."""

from __future__ import annotations

import collections
from collections.abc import Callable, Hashable, Iterator
import concurrent.futures
import contextlib
import threading
import time
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
  import jax

__all__ = [
  "begin",
  "in_background",
  "is_busy",
  "is_waited_for",
  "seconds_waited",
  "wait",
]

# As many are kept, those that were used last.
MOST_KEPT = 64

# What is not ready by then is not on disk, but has to be compiled.
SECONDS_TO_LOAD = 2.0

Program: TypeAlias = "concurrent.futures.Future[jax.stages.Compiled]"

# Tracing holds Python's lock: one program is traced at a time, in the order in which they
# were asked for. XLA does not: it compiles some while the next one is traced.
_tracing = concurrent.futures.ThreadPoolExecutor(1, "tracing")
_compiling = concurrent.futures.ThreadPoolExecutor(2, "compiling")

_programs: collections.OrderedDict[Hashable, Program] = collections.OrderedDict()
_lock = threading.Lock()

# When each thread that waits for a program began to, and how long all others waited.
_waiting: dict[int, float] = {}
_waited = 0.0


def begin(key: Hashable, lower_fn: Callable[[], jax.stages.Lowered]) -> Program:
  """Begins to compile a program, unless that was begun before.

  Args:
    key: all that the program depends on.
    lower_fn: traces and lowers it; called in a thread.
  """
  with _lock:
    if key not in _programs:
      _programs[key] = concurrent.futures.Future()
      _tracing.submit(_trace, lower_fn, _programs[key])
    _programs.move_to_end(key)
    while len(_programs) > MOST_KEPT:
      _programs.popitem(last=False)
    return _programs[key]


def wait(
  key: Hashable,
  lower_fn: Callable[[], jax.stages.Lowered],
  meanwhile_fn: Callable[[], object] | None = None,
) -> jax.stages.Compiled:
  """Returns a compiled program, when it is ready; what went wrong is raised here.

  Args:
    key: see `begin`.
    lower_fn: likewise.
    meanwhile_fn: called if the program has to be compiled, to begin with another one.
  """
  program = begin(key, lower_fn)
  try:
    with _counted_as_waiting():
      if meanwhile_fn is not None and _is_late(program):
        meanwhile_fn()
      return program.result()
  except Exception:
    with _lock:
      _programs.pop(key, None)  # Who asks again tries again.
    raise


def in_background(function: Callable[[], None]) -> None:
  """Calls a function that begins to compile programs, after those begun before."""
  _tracing.submit(function)


def is_busy() -> bool:
  """Returns whether a program is not compiled yet.

  Nothing can stop that, and Python waits for it before it exits.
  """
  with _lock:
    return any(not program.done() for program in _programs.values())


def is_waited_for() -> bool:
  """Returns whether a thread waits for a program at this moment."""
  return bool(_waiting)


def seconds_waited() -> float:
  """Returns how long programs were waited for, up to this moment."""
  with _lock:
    now = time.monotonic()
    return _waited + sum(now - begin for begin in _waiting.values())


@contextlib.contextmanager
def _counted_as_waiting() -> Iterator[None]:
  global _waited
  thread = threading.get_ident()
  with _lock:
    _waiting[thread] = time.monotonic()
  try:
    yield
  finally:
    with _lock:
      _waited += time.monotonic() - _waiting.pop(thread)


def _is_late(program: Program) -> bool:
  """Waits for a program that may be on disk; returns whether it is not."""
  return bool(concurrent.futures.wait([program], SECONDS_TO_LOAD).not_done)


def _trace(lower_fn: Callable[[], jax.stages.Lowered], program: Program) -> None:
  try:
    _compiling.submit(_compile, lower_fn(), program)
  except Exception as error:
    program.set_exception(error)


def _compile(lowered: jax.stages.Lowered, program: Program) -> None:
  try:
    program.set_result(lowered.compile())
  except Exception as error:
    program.set_exception(error)
