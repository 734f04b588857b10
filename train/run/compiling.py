"""Compiles programs in threads, and keeps them: each is compiled once in a process."""

from __future__ import annotations

import collections
from collections.abc import Callable, Hashable
import concurrent.futures
import threading
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
  import jax

__all__ = ["abandon", "begin", "in_background", "wait"]

# As many are kept, those that were used last.
MOST_KEPT = 64

Compiled: TypeAlias = "concurrent.futures.Future[jax.stages.Compiled]"
Traced: TypeAlias = concurrent.futures.Future[Compiled]

# Tracing holds Python's lock: one program is traced at a time, in the order in which they
# were asked for. XLA does not: it compiles some while the next one is traced.
_tracing = concurrent.futures.ThreadPoolExecutor(1, "tracing")
_compiling = concurrent.futures.ThreadPoolExecutor(2, "compiling")

_programs: collections.OrderedDict[Hashable, Traced] = collections.OrderedDict()
_lock = threading.Lock()


def begin(key: Hashable, lower_fn: Callable[[], jax.stages.Lowered]) -> Traced:
  """Begins to compile a program, unless that was begun before.

  Args:
    key: all that the program depends on.
    lower_fn: traces and lowers it; called in a thread.
  """
  with _lock:
    if key not in _programs:
      _programs[key] = _tracing.submit(_trace, lower_fn)
    _programs.move_to_end(key)
    while len(_programs) > MOST_KEPT:
      _programs.popitem(last=False)
    return _programs[key]


def wait(
  key: Hashable, lower_fn: Callable[[], jax.stages.Lowered]
) -> jax.stages.Compiled:
  """Returns a compiled program, when it is ready; what went wrong is raised here.

  Args are those of `begin`.
  """
  try:
    return begin(key, lower_fn).result().result()
  except Exception:
    with _lock:
      _programs.pop(key, None)  # Who asks again tries again.
    raise


def in_background(function: Callable[[], None]) -> None:
  """Calls a function that begins to compile programs, after those begun before."""
  _tracing.submit(function)


def abandon() -> bool:
  """Drops all programs that are not compiled yet, before the process ends.

  Returns:
    Whether one is still being compiled: nothing can stop that, and Python would wait
    for it before it exits.
  """
  for threads in (_tracing, _compiling):
    threads.shutdown(wait=False, cancel_futures=True)
  with _lock:
    return any(_is_compiling(traced) for traced in _programs.values())


def _trace(lower_fn: Callable[[], jax.stages.Lowered]) -> Compiled:
  return _compiling.submit(lower_fn().compile)


def _is_compiling(traced: Traced) -> bool:
  if not traced.done():
    return True
  if traced.cancelled() or traced.exception():
    return False
  return not traced.result().done()
