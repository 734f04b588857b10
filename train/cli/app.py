"""The command with all its parts."""

import importlib.metadata
import io
import os
import sys
from typing import Annotated

import typer

from train.cli import failures
from train.cli import information
from train.cli import playing
from train.cli import serving
from train.cli import training
from train.run import compiling

__all__ = ["app", "main"]

app = typer.Typer(
  cls=failures.Group,
  help="Self-play training for line games: tic-tac-toe to Gomoku.",
  epilog="Exit codes: 0 done, 2 refused with the reason, 70 a mistake in jaxgames, 128 + "
  "a signal's number if that ended it.",
  no_args_is_help=True,
  add_completion=True,
  pretty_exceptions_enable=False,
)

# In the order of the help.
for _command in (
  information.games,
  information.config,
  training.train,
  training.resume,
  training.sweep,
  information.runs,
  information.report,
  training.export,
  playing.match,
  playing.play,
  serving.serve,
  playing.brain,
  information.bench,
):
  app.command()(_command)


def _show_version(is_asked: bool) -> None:
  if is_asked:
    version = importlib.metadata.version
    print(f"jaxgames {version('jaxgames')} (jax {version('jax')})")
    raise typer.Exit()


@app.callback()
def _common(
  version: Annotated[
    bool,
    typer.Option(
      "--version",
      callback=_show_version,
      is_eager=True,
      help="Print the versions of jaxgames and jax.",
    ),
  ] = False,
  debug: Annotated[
    bool,
    typer.Option(
      "--debug", help="Show the traceback of an error. As JAXGAMES_DEBUG=1."
    ),
  ] = False,
) -> None:
  del version  # Answered by its callback.
  if debug:
    failures.show_tracebacks()


def main() -> None:
  """Runs the command line."""
  # What cannot be encoded, as a path may be, is escaped rather than an error.
  for stream in (sys.stdout, sys.stderr):
    if isinstance(stream, io.TextIOWrapper):
      stream.reconfigure(errors="backslashreplace")
  try:
    # As `python -m train`, too, it is this command that help and completion speak of.
    app(prog_name="jaxgames")
  except SystemExit as end:
    _leave(end)


def _leave(end: SystemExit) -> None:
  """Ends the process; after a signal or an error no program is waited for."""
  if isinstance(end.code, int) and end.code and compiling.is_busy():
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(end.code)
  raise end
