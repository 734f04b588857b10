"""A queue with fair turns: one worker, who takes a job of each session in turn."""

import asyncio
import collections
from collections.abc import Callable
import concurrent.futures
import dataclasses
from typing import Any, TypeVar

__all__ = ["FairQueue", "FullError"]

T = TypeVar("T")


class FullError(Exception):
  """A queue takes no more jobs; the message says which limit is reached.

  Attributes:
    is_own: whether it is the session's own limit, not that of all.
  """

  def __init__(self, message: str, *, is_own: bool):
    """Makes the error."""
    super().__init__(message)
    self.is_own = is_own


@dataclasses.dataclass
class _Job:
  fn: Callable[[], Any]
  future: asyncio.Future[Any]


class FairQueue:
  """Runs jobs one at a time in a thread, in turn for all who wait.

  However many jobs a session has, others wait for one of them at most before their own
  first.
  """

  def __init__(self, name: str, *, most_each: int, most_in_all: int):
    """Makes an empty queue.

    Args:
      name: of its thread.
      most_each: how many jobs of a session may wait.
      most_in_all: how many jobs may wait.
    """
    self._most_each, self._most_in_all = most_each, most_in_all
    # Sessions with jobs that wait, the next in turn first.
    self._waiting: collections.OrderedDict[str, collections.deque[_Job]]
    self._waiting = collections.OrderedDict()
    self._worker = concurrent.futures.ThreadPoolExecutor(1, name)
    self._task: asyncio.Task[None] | None = None

  @property
  def num_waiting(self) -> int:
    return sum(map(len, self._waiting.values()))

  async def run(self, session: str, fn: Callable[[], T]) -> T:
    """Returns what a function returns, once it is this session's turn.

    Raises:
      FullError: if too many jobs wait already.
    """
    own = self._waiting.get(session, ())
    if len(own) >= self._most_each:
      raise FullError(
        f"{len(own)} requests of this page wait already, no more than "
        f"{self._most_each} may",
        is_own=True,
      )
    if self.num_waiting >= self._most_in_all:
      raise FullError(
        f"{self.num_waiting} requests wait already, no more than "
        f"{self._most_in_all} may",
        is_own=False,
      )
    job = _Job(fn, asyncio.get_running_loop().create_future())
    self._waiting.setdefault(session, collections.deque()).append(job)
    if self._task is None or self._task.done():
      self._task = asyncio.create_task(self._work())
    return await job.future

  def close(self) -> None:
    """Takes no more turns; a job that runs is not waited for."""
    if self._task is not None:
      self._task.cancel()
    self._worker.shutdown(wait=False, cancel_futures=True)

  async def _work(self) -> None:
    """Runs jobs until none is left."""
    while self._waiting:
      session, jobs = self._waiting.popitem(last=False)
      job = jobs.popleft()
      if jobs:
        self._waiting[session] = jobs  # Behind all others.
      if not job.future.done():  # Nobody waits for it any more.
        await self._do(job)

  async def _do(self, job: _Job) -> None:
    loop = asyncio.get_running_loop()
    try:
      result = await loop.run_in_executor(self._worker, job.fn)
    except asyncio.CancelledError:
      job.future.cancel()
      raise
    except Exception as error:
      if not job.future.done():
        job.future.set_exception(error)
    else:
      if not job.future.done():
        job.future.set_result(result)
