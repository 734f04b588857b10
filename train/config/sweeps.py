"""Sweeps as files: many runs, each perhaps in several readings of a paper."""

from collections.abc import Iterator, Mapping, Sequence
import pathlib
import re
from typing import Any

from jaxgames import suggestions
from train.config import files as config_files

__all__ = ["read"]

FIELDS = {"name": None, "runs": None, "overrides": None, "readings": None}


def read(
  path: pathlib.Path, overrides: Sequence[str] = ()
) -> list[tuple[str, config_files.Source]]:
  """Reads the configs of a sweep, unchecked, each with its name.

  Args:
    path: a YAML file with `runs`, a list of files; perhaps a `name`, `overrides` for
      all of them, and `readings`, named overrides. With readings every run is made
      once in each of them and is called `READING/RUN`.
    overrides: from the command line, for all runs; they win over the file's, and there
      a reading over what is for all.

  Raises:
    ValueError: if the file is no sweep, or one of the runs' files cannot be read.
  """
  values = config_files.read_mapping(path)
  for key in values:
    if key not in FIELDS:
      hint = suggestions.close_match(str(key), FIELDS)
      raise ValueError(f"{path}: there is no field {key} in a sweep: {hint}")
  common = values.get("overrides") or {}
  if not isinstance(common, Mapping):
    message = f"{path}: overrides is {common!r}, but must be fields with values"
    raise ValueError(message)
  runs = [
    (stem, config_files.overlay(source, common, f"{path}, overrides"))
    for stem, source in _read_runs(path, values["runs"])
  ]
  if "readings" in values:
    runs = list(_in_readings(path, runs, values["readings"]))
  return [
    (name, config_files.apply_overrides(source, overrides)) for name, source in runs
  ]


def _read_runs(
  path: pathlib.Path, files: Any
) -> Iterator[tuple[str, config_files.Source]]:
  """Yields the runs of a sweep by the names of their files."""
  is_list = isinstance(files, list) and all(isinstance(file, str) for file in files)
  if not is_list or not files:
    raise ValueError(f"{path}: runs is {files!r}, but must be a list of files")
  stems = [pathlib.Path(file).stem for file in files]
  for stem in stems:
    if stems.count(stem) > 1:
      raise ValueError(f"{path}: two runs have the name {stem!r}; rename a file")
  for stem, file in zip(stems, files, strict=True):
    yield stem, config_files.read(path.parent / file)


def _in_readings(
  path: pathlib.Path, runs: Sequence[tuple[str, config_files.Source]], readings: Any
) -> Iterator[tuple[str, config_files.Source]]:
  """Yields all runs in the first reading, then in the second, and so on."""
  _check_readings(path, readings)
  for reading, values in readings.items():
    for stem, source in runs:
      source = config_files.overlay(source, values or {}, f"{path}, readings {reading}")
      paper = source.values.get("paper")
      if not isinstance(paper, Mapping):
        raise ValueError(
          f"{path}: readings are of a paper, but paper is {paper!r} in {source.name}"
        )
      named = config_files.overlay(source, {"paper.reading": reading}, str(path))
      yield f"{reading}/{stem}", named


def _check_readings(path: pathlib.Path, readings: Any) -> None:
  if not isinstance(readings, Mapping) or not readings:
    raise ValueError(
      f"{path}: readings is {readings!r}, but must be names with overrides"
    )
  for name, values in readings.items():
    # A reading is a directory. YAML takes some words, such as no, for other things.
    if not isinstance(name, str) or not re.fullmatch(r"[\w-]+", name):
      raise ValueError(
        f"{path}: the name {name!r} of a reading must be text of letters, digits, _ "
        "and -"
      )
    if values is not None and not isinstance(values, Mapping):
      raise ValueError(
        f"{path}: readings {name} is {values!r}, but must be fields with values"
      )
