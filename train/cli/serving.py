"""The command that serves pages."""

import pathlib
from typing import Annotated

import typer

from train.cli import common

__all__ = ["serve"]


def serve(
  directories: Annotated[
    list[pathlib.Path] | None,
    typer.Argument(
      metavar="[DIR]...",
      help="Runs, or directories of runs: their curves, reports and agents. "
      "Default: checkpoints, if there is one.",
    ),
  ] = None,
  host: Annotated[
    str,
    typer.Option(
      help="The address to listen on. Only this machine reaches the default; for "
      "any other a token is needed, which is part of the address that is printed."
    ),
  ] = "127.0.0.1",
  port: Annotated[
    int, typer.Option(help="The port; with 0, any that is free.", min=0, max=65535)
  ] = 8642,
  token: Annotated[
    str | None,
    typer.Option(
      envvar="JAXGAMES_TOKEN", help="The token. Default: a new one, if one is needed."
    ),
  ] = None,
  name: Annotated[
    list[str] | None,
    typer.Option(help="Another name of this machine that pages may be asked for by."),
  ] = None,
  warms_up: Annotated[
    bool,
    typer.Option(
      "--warm-up/--no-warm-up",
      help="Compile the bundled players at once, or each when it is first asked.",
    ),
  ] = True,
  opens: Annotated[
    bool, typer.Option("--open", help="Open the page in a browser.")
  ] = False,
) -> None:
  """Serves pages to play on, to watch agents and training, and to read reports."""
  _check_installed()
  from train.run import devices
  from train.serve import app
  from train.serve import guard
  from train.serve import minds
  from train.serve import server

  devices.enable_compilation_cache()
  default = pathlib.Path("checkpoints")
  roots = directories or ([default] if default.is_dir() else [])
  services = app.Services.below(roots)
  if token is None and not guard.is_loopback(host):
    token = guard.make_token()
  listening = server.listen(host, port)
  shown = server.address(listening, host, token)

  def say_started() -> None:
    common.say(f"jaxgames is at {shown}\n(Ctrl-C ends it; games are in their links)")
    if opens:
      import webbrowser

      webbrowser.open(shown)

  made = app.make(services, warm_up=minds.bundled() if warms_up else ())
  guarded = server.protect(made, host, token, name or ())
  server.make(guarded, say_started).run([listening])


def _check_installed() -> None:
  import importlib.util

  for package in ("starlette", "uvicorn"):
    if importlib.util.find_spec(package) is None:
      raise ValueError(
        f"serving needs the package {package}: pip install 'jaxgames[serve]'"
      )
