"""Where the time of a compiled program's loops goes, by the scopes its code names.

A profiler says how long each operation took; the program's text says which
`jax.named_scope` it came from. An operation that the compiler fused from several has the
scope of its result. Where several threads work, their times are added.
"""

from collections.abc import Callable, Iterable, Iterator
import contextlib
import functools
import pathlib
import re
import statistics
import tempfile
from typing import NamedTuple

import jax

__all__ = [
  "PARTS",
  "SCOPES",
  "Event",
  "names_in_cache",
  "outside_loops",
  "parts_of",
  "record",
  "self_times",
  "shares",
]

# The scopes that learners name in their steps.
SCOPES = {
  "move": "values of positions, and the best move",
  "random": "random numbers and moves",
  "rules": "the game's rules, counts, new games",
  "update": "gradients and new weights",
  "answer": "the opponent's moves",
  "memory": "what later updates need",
}
PARTS = {
  **SCOPES,
  "rest": "operations without a scope",
  "dispatch": "between operations; what other processes interrupt is here too",
}

# Random numbers are generated under jax's own names, in whichever part.
_RANDOM = re.compile(r"threefry|random_bits|random_split|random_fold_in")

# The event of a CPU's thread as it runs one operation after the other.
_EXECUTOR = "ThunkExecutor::Execute"

_MODULE = re.compile(r"HloModule ([\w.-]+)")
_FUNCTION = re.compile(r"^(?:ENTRY|%([\w.-]+)) .*\{$")
_INSTRUCTION = re.compile(r"^ +(?:ROOT )?%([\w.-]+) = (.*)$")
_OP_NAME = re.compile(r'op_name="([^"]*)"')
_REFERENCE = re.compile(r"%([\w.-]+)")


class Event(NamedTuple):
  """Something that a thread or a stream of a device did.

  Attributes:
    name: of the operation; empty for what runs operations.
    start: in nanoseconds.
    end: likewise.
  """

  name: str
  start: float
  end: float


class _Operation(NamedTuple):
  """All calls of an operation.

  Attributes:
    times: of each call, without the operations inside, in nanoseconds.
    runs_others: whether there were operations inside.
  """

  times: list[float]
  runs_others: bool

  @property
  def time(self) -> float:
    """The time of all calls."""
    if self.runs_others:
      return sum(self.times)
    # Calls take the same time, unless other processes interrupt them.
    return statistics.median(self.times) * len(self.times)


class _Instruction(NamedTuple):
  """An operation of a program's text.

  Attributes:
    op_name: where in the code it comes from; empty for the compiler's own.
    function: that it is in; empty for the program itself.
    references: the operations that it takes, and the functions that it calls.
  """

  op_name: str
  function: str
  references: list[str]


@contextlib.contextmanager
def names_in_cache() -> Iterator[None]:
  """Loads programs from the compilation cache only if their scopes have these names.

  Otherwise a program that was compiled before a scope was named would be loaded.
  """
  option = "jax_compilation_cache_include_metadata_in_key"
  before = getattr(jax.config, option)
  jax.config.update(option, True)
  try:
    yield
  finally:
    jax.config.update(option, before)


def shares(run_fn: Callable[[], object], program: str) -> dict[str, float]:
  """Returns the share of each of `PARTS` in the time of a program's loops.

  Operations outside of loops are left out: they are there once, however many steps the
  loop takes, and a profile is of fewer steps than a run makes.

  Args:
    run_fn: runs the program, compiled before, and waits for it.
    program: its text, with the names of operations.

  Returns:
    Shares that add up to 1; nothing if the profiler has not seen the program's
    operations.
  """
  module = _MODULE.match(program)
  if module is None:
    return {}
  parts, outside = parts_of(program), outside_loops(program)
  times = dict.fromkeys(PARTS, 0.0)
  for name, operation in _by_name(record(run_fn, module[1])).items():
    if operation.runs_others or name not in outside:
      # What runs others, as the loop of steps does, has no work of its own.
      otherwise = "dispatch" if operation.runs_others else "rest"
      times[parts.get(name) or otherwise] += operation.time
  total = sum(times.values())
  return {part: time / total for part, time in times.items()} if total else {}


def record(run_fn: Callable[[], object], module: str) -> list[list[Event]]:
  """Returns what each thread or stream did for a program while a function ran.

  Args:
    run_fn: runs the program, and waits for it.
    module: the name of the program.
  """
  options = jax.profiler.ProfileOptions()
  options.python_tracer_level = 0
  options.enable_hlo_proto = False
  with tempfile.TemporaryDirectory() as directory:
    with jax.profiler.trace(directory, profiler_options=options):
      run_fn()
    (path,) = pathlib.Path(directory).rglob("*.xplane.pb")
    planes = list(jax.profiler.ProfileData.from_file(str(path)).planes)
  # With an accelerator the host has events too, of starting operations.
  accelerators = [plane for plane in planes if plane.name.startswith("/device:")]
  lines = [line for plane in accelerators or planes for line in plane.lines]
  found = [list(_read(line.events, module)) for line in lines]
  return [events for events in found if any(event.name for event in events)]


def self_times(events: Iterable[Event]) -> Iterator[tuple[str, float, bool]]:
  """Yields each event's name, its time without the events inside, and if there are any.

  >>> events = [Event("while", 0, 10), Event("add", 1, 3), Event("dot", 4, 9)]
  >>> list(self_times(events))
  [('add', 2, False), ('dot', 5, False), ('while', 3, True)]
  """
  # Those that are open, the innermost last, each with the time of the events inside.
  stack: list[tuple[Event, float]] = []

  def close() -> tuple[str, float, bool]:
    event, inner = stack.pop()
    duration = event.end - event.start
    if stack:
      outer, others = stack[-1]
      stack[-1] = (outer, others + duration)
    # Clocks are read one after the other: what is inside may seem to end later.
    return event.name, max(0, duration - inner), inner > 0

  for event in sorted(events, key=lambda event: (event.start, -event.end)):
    while stack and stack[-1][0].end <= event.start:
      yield close()
    # What runs the operations inside of one is a part of that one.
    if event.name or not stack:
      stack.append((event, 0))
  while stack:
    yield close()


def _by_name(lines: Iterable[Iterable[Event]]) -> dict[str, _Operation]:
  """Returns the operations that threads or streams made, by name."""
  found: dict[str, _Operation] = {}
  for events in lines:
    for name, time, has_inner in self_times(events):
      operation = found.setdefault(name, _Operation([], not name))
      operation.times.append(time)
      found[name] = operation._replace(runs_others=operation.runs_others or has_inner)
  return found


def parts_of(program: str) -> dict[str, str]:
  """Returns the parts of operations, by their names in a compiled program's text."""
  instructions = dict(_parse(program))
  callers: dict[str, str] = {}
  inside: dict[str, list[str]] = {}
  for name, (op_name, function, references) in instructions.items():
    callers.update(dict.fromkeys(references, name))
    if part := _part(op_name):
      inside.setdefault(function, []).append(part)

  @functools.cache
  def find(name: str) -> str:
    op_name, function, references = instructions[name]
    if part := _part(op_name):
      return part
    # The loop's choice between new and old values is fused with what makes the new.
    fused = [part for called in references for part in inside.get(called, ())]
    if fused and "fusion" in name:
      # Random numbers take many operations, and are fused with what they are drawn for.
      return statistics.mode([part for part in fused if part != "random"] or fused)
    if op_name:
      return ""
    # The compiler's own operations belong to what they take, or to their loop.
    others = [*references, callers.get(function, "")]
    parts = (find(other) for other in others if other in instructions)
    return next(filter(None, parts), "")

  return {name: part for name in instructions if (part := find(name))}


def outside_loops(program: str) -> set[str]:
  """Returns the operations that a compiled program makes once, the loops among them."""
  return {name for name, operation in _parse(program) if not operation.function}


def _parse(program: str) -> Iterator[tuple[str, _Instruction]]:
  function = ""
  for line in program.splitlines():
    if match := _FUNCTION.match(line):
      function = match[1] or ""
    elif match := _INSTRUCTION.match(line):
      name, definition = match.groups()
      op_name = _OP_NAME.search(definition)
      references = _REFERENCE.findall(definition)
      yield name, _Instruction(op_name[1] if op_name else "", function, references)


def _part(op_name: str) -> str:
  """Returns the innermost part that an operation's name is in; empty if none.

  >>> _part("jit(advance)/while/body/vmap(move)/rules/add")
  'rules'
  """
  if _RANDOM.search(op_name):
    return "random"
  names = re.findall(r"\w+", op_name)
  return next((name for name in reversed(names) if name in SCOPES), "")


def _read(events: Iterable[jax.profiler.ProfileEvent], module: str) -> Iterator[Event]:
  """Yields the events of a program's operations, and of what runs them."""
  for event in events:
    stats = dict(event.stats)
    if event.name == _EXECUTOR:
      name = ""
    elif stats.get("hlo_module") == module and "hlo_op" in stats:
      name = str(stats["hlo_op"])
    else:
      continue
    yield Event(name, event.start_ns, event.start_ns + event.duration_ns)
