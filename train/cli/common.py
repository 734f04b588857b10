"""What commands do alike: devices, and how results are shown."""

from __future__ import annotations

import os
import pathlib
from typing import TYPE_CHECKING

import rich.console

if TYPE_CHECKING:
  from train.report import document

__all__ = ["say", "set_up", "show_report"]


def set_up(num_devices: int | None) -> None:
  """Chooses devices and turns the compilation cache on, before jax is used."""
  from train.run import devices

  devices.set_cpu_devices(num_devices or os.cpu_count() or 1)
  devices.enable_compilation_cache()


def say(text: str) -> None:
  """Prints a line with nothing in it marked or broken, so that it can be copied."""
  console = rich.console.Console()
  console.print(text, highlight=False, markup=False, soft_wrap=True)


def show_report(found: document.Report, directory: pathlib.Path) -> None:
  """Prints a report, writes it, and says where it is."""
  from train.report import document

  document.print_to(rich.console.Console(), found)
  for path in document.write(found, directory):
    say(f"written: {path}")
