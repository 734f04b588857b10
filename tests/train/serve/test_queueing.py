"""Turns are fair, bounded, and end with an answer for everybody."""

import asyncio
import threading

import pytest

from train.serve import queueing


def make_queue(most_each=3, most_in_all=6):
  return queueing.FairQueue("test", most_each=most_each, most_in_all=most_in_all)


async def gather(queue, jobs, gate):
  """Asks for all jobs while the first waits at a gate; returns the order."""
  order = []
  first = asyncio.create_task(queue.run("first", gate.wait))
  await asyncio.sleep(0.01)
  tasks = [
    asyncio.create_task(queue.run(session, lambda name=name: order.append(name)))
    for session, name in jobs
  ]
  await asyncio.sleep(0)
  gate.set()
  await asyncio.gather(first, *tasks)
  return order


def test_sessions_take_turns_however_many_jobs_one_has():
  async def run():
    jobs = [("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("c", "c1")]
    return await gather(make_queue(), jobs, threading.Event())

  assert asyncio.run(run()) == ["a1", "b1", "c1", "a2", "a3"]


def test_a_session_and_all_together_have_a_limit():
  async def run():
    queue, gate = make_queue(most_each=2, most_in_all=3), threading.Event()
    tasks = [asyncio.create_task(queue.run("a", gate.wait))]
    await asyncio.sleep(0.01)
    tasks += [asyncio.create_task(queue.run("a", int)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(queueing.FullError, match="of this page") as own:
      await queue.run("a", int)
    tasks.append(asyncio.create_task(queue.run("b", int)))
    await asyncio.sleep(0)
    with pytest.raises(queueing.FullError) as other:
      await queue.run("c", int)
    gate.set()
    await asyncio.gather(*tasks)
    assert await queue.run("c", lambda: 7) == 7
    return own.value.is_own, other.value.is_own

  assert asyncio.run(run()) == (True, False)


def test_an_error_is_that_of_its_own_job_only():
  async def run():
    queue = make_queue()
    good, bad = await asyncio.gather(
      queue.run("a", lambda: 1), queue.run("b", lambda: 1 // 0), return_exceptions=True
    )
    return good, bad

  good, bad = asyncio.run(run())
  assert good == 1
  assert isinstance(bad, ZeroDivisionError)


def test_nobody_thinks_for_a_page_that_has_left():
  async def run():
    queue, gate, done = make_queue(), threading.Event(), []
    first = asyncio.create_task(queue.run("a", gate.wait))
    left = asyncio.create_task(queue.run("b", lambda: done.append("b")))
    await asyncio.sleep(0.01)
    left.cancel()
    gate.set()
    await first
    await queue.run("c", lambda: done.append("c"))
    return done

  assert asyncio.run(run()) == ["c"]
