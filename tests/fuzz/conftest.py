"""What fuzzing tests share; see `budget` for how many inputs they try."""

from collections.abc import Iterator
import contextlib
import pathlib

import pytest


@pytest.fixture(scope="module")
def workplace(tmp_path_factory) -> Iterator[pathlib.Path]:
  """An empty working directory, in which all inputs of a module are tried."""
  directory = tmp_path_factory.mktemp("workplace")
  with contextlib.chdir(directory):
    yield directory
