"""Configs by name: `quickstart`, `ttt3d/beyond`, wherever the command is called."""

from collections.abc import Iterator
import difflib
import pathlib

__all__ = ["find", "known"]

SUFFIX = ".yaml"

# Below the working directory, configs of one's own that may be named in the same way.
OWN = pathlib.Path("configs")


def find(name: pathlib.Path | str) -> pathlib.Path:
  """Returns the file of a config.

  Args:
    name: a path, or the path below a folder of configs: `configs` in the working
      directory, or the package's own. The ending may be left out.

  Raises:
    ValueError: if there is no such config, with the closest names that there are.
  """
  given = pathlib.Path(name)
  places = [
    given,
    *(folder / given for folder in _folders() if not given.is_absolute()),
  ]
  try:
    for place in places:
      for path in (place, pathlib.Path(f"{place}{SUFFIX}")):
        if path.is_file():
          return path
  except OSError as error:
    raise ValueError(f"no config {str(name)!r}: {error.strerror}") from error
  raise ValueError(f"no config {str(name)!r}{_hint(given)}")


def known() -> list[str]:
  """Returns the names of all files in the folders of configs, sorted.

  Some are only parts, which others extend.
  """
  found = {
    path.relative_to(folder).with_suffix("").as_posix()
    for folder in _folders()
    for path in folder.rglob(f"*{SUFFIX}")
  }
  return sorted(found)


def _folders() -> Iterator[pathlib.Path]:
  package = pathlib.Path(__file__).parent.parent
  # Installed, the configs are inside of the package; in a checkout, beside it.
  for folder in (OWN, package / "configs", package.parent / "configs"):
    if folder.is_dir():
      yield folder
      if folder != OWN:
        return


def _hint(given: pathlib.Path) -> str:
  """Returns which names are close: of files beside it, or in the folders."""
  # A missing folder has no files; any other error is said when a file is read.
  beside = [
    (given.parent / path.name).with_suffix("").as_posix()
    for path in given.parent.glob(f"*{SUFFIX}")
    if path.is_file()
  ]
  wanted = given.as_posix().removesuffix(SUFFIX)
  names = known()
  close = difflib.get_close_matches(wanted, [*beside, *names], n=3)
  # The end alone may be right, where the folder is left out or another one.
  last = wanted.rpartition("/")[2]
  close += [name for name in names if name.rpartition("/")[2] == last]
  if not close:
    return "; `jaxgames games` lists the configs that may be named"
  return f": did you mean {' or '.join(map(repr, dict.fromkeys(close[:4])))}?"
