"""Packages whose public names are imported when they are first used.

Names of games and players, and what configs may say, are checked without jax. So a
package's `__init__` must not import the modules behind its names, only say where they
are; type checkers read the same imports under `if TYPE_CHECKING`.
"""

from collections.abc import Callable, Mapping
import importlib
import sys
from typing import Any

__all__ = ["attach"]


def attach(
  package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
  """Returns `__getattr__` and `__dir__` of a package.

  Args:
    package: its `__name__`.
    modules: for each public name, the module that has it, relative to the package.
  """

  def get(name: str) -> Any:
    if name not in modules:
      raise AttributeError(f"module {package!r} has no attribute {name!r}")
    module = importlib.import_module(f"{package}.{modules[name]}")
    value = getattr(module, name)
    # Kept, so that this function is asked once for each name.
    setattr(sys.modules[package], name, value)
    return value

  def list_names() -> list[str]:
    return sorted({*vars(sys.modules[package]), *modules})

  return get, list_names
