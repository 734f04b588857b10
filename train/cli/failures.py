"""How the command fails: one line on standard error, and an exit code that says why."""

from collections.abc import Iterator, Sequence
import contextlib
import contextvars
import os
import sys
import traceback
from typing import Any

import typer
import typer.core

__all__ = ["BUG", "REFUSED", "Group", "errors_as_one_line", "show_tracebacks"]

# Exit codes. What a user, a file or the machine is the cause of is refused; anything
# else is a mistake of this program, EX_SOFTWARE in the system's sysexits.h.
REFUSED = 2
BUG = 70

# In the environment it is as the option --debug.
DEBUG_VARIABLE = "JAXGAMES_DEBUG"

# A longer message is cut in its middle: somebody has given a very long text.
MOST_LETTERS = 2000

# Typer brings its own click or uses the installed one. This is the error about wrong
# arguments, in either.
_UsageError: type[Any] = typer.BadParameter.__bases__[0]

_shows_tracebacks: contextvars.ContextVar[bool] = contextvars.ContextVar(
  "shows_tracebacks", default=False
)


class Group(typer.core.TyperGroup):
  """The command with all its parts, which fails as `errors_as_one_line` says."""

  def main(
    self,
    args: Sequence[str] | None = None,
    prog_name: str | None = None,
    complete_var: str | None = None,
    standalone_mode: bool = True,
    windows_expand_args: bool = True,
    **options: Any,
  ) -> Any:
    """Runs the command line, and ends the process unless it is told otherwise."""
    is_set = os.environ.get(DEBUG_VARIABLE, "") not in ("", "0")
    before = _shows_tracebacks.set(is_set)
    try:
      with errors_as_one_line():
        code = super().main(
          args, prog_name, complete_var, False, windows_expand_args, **options
        )
    except typer.Exit as end:
      code = end.exit_code
    finally:
      _shows_tracebacks.reset(before)
    if standalone_mode:
      sys.exit(code or 0)
    return code


def show_tracebacks() -> None:
  """Shows the tracebacks of errors until the command line is done."""
  _shows_tracebacks.set(True)


@contextlib.contextmanager
def errors_as_one_line() -> Iterator[None]:
  """Ends the program with the sentence of an error; a traceback is for `--debug`.

  Raises:
    typer.Exit: with `REFUSED` for what the user can change, the arguments, a file or
      the size of the task; with `BUG` for anything else.
  """
  try:
    yield
  except (typer.Exit, typer.Abort, BrokenPipeError):
    raise
  except KeyboardInterrupt as error:
    raise typer.Exit(130) from error
  except Exception as error:
    if _shows_tracebacks.get():
      traceback.print_exc()
    message, code = _explain(error)
    if message:
      print(message, file=sys.stderr)
    raise typer.Exit(code) from error


def _explain(error: Exception) -> tuple[str, int]:
  """Returns what is to be said of an error, and the exit code."""
  if isinstance(error, _UsageError):
    return _explain_usage(error), REFUSED
  if _is_out_of_memory(error):
    reason = (
      "not enough memory for this: fewer trials, parallel_games, test.games or "
      f"simulations, or a smaller network, need less ({error or 'no details'})"
    )
    return _line(reason), REFUSED
  if isinstance(error, OSError):
    named = f"{error.filename}: " if error.filename is not None else ""
    return _line(f"{named}{error.strerror or error}"), REFUSED
  if isinstance(error, ValueError):
    return _line(str(error)), REFUSED
  return _line(
    f"{type(error).__name__}: {error}; this is a mistake in jaxgames, not yours: please "
    "report it with what `jaxgames --debug` and the same arguments show"
  ), BUG


def _explain_usage(error: Any) -> str:
  """Returns what is to be said of wrong arguments."""
  message = error.format_message()
  # Without any argument the help is shown, here or by Typer already.
  if not message.strip() or "Usage:" in message:
    return message.rstrip()
  path = error.ctx.command_path if error.ctx is not None else "jaxgames"
  return _line(f"{message.rstrip('.')} (see {path} --help)")


def _is_out_of_memory(error: Exception) -> bool:
  """Returns whether memory was short, on the host or on a device."""
  if isinstance(error, MemoryError):
    return True
  # The error of jax, which is not imported here.
  return isinstance(error, RuntimeError) and "RESOURCE_EXHAUSTED" in str(error)


def _line(message: str) -> str:
  """Returns a message on one line, with nothing in it that a terminal would obey."""
  if len(message) > MOST_LETTERS:
    half = MOST_LETTERS // 2
    message = f"{message[:half]} … {message[-half:]}"
  letters = (
    letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
    for letter in message.strip()
  )
  return f"jaxgames: {''.join(letters)}"
