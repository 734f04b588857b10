"""What a checkpoint says of itself: plain values, sealed; read without jax."""

from collections.abc import Iterator, Mapping
import dataclasses
import json
import pathlib
from typing import Any

from train.run import checksums

__all__ = ["Record", "find_newest", "numbers", "read", "seal"]

# The item of a checkpoint that holds the record, and the file in which orbax keeps it.
ITEM = "progress"
FILE = "metadata"

# The fields that are added to the values. Checkpoints from before have none of them,
# but they have those of the loop.
ABOUT = "checkpoint"
SEAL = "sha256"
UNSEALED = {"config", "environment"}


@dataclasses.dataclass(frozen=True)
class Record:
  """What a checkpoint says of itself.

  Attributes:
    number: the checkpoint's number.
    values: what the loop saved beside the state.
    score: of a test of this very state, if there was one.
    checksums: of all leaves by name; None in checkpoints from before there were any.
  """

  number: int
  values: Mapping[str, Any]
  score: float | None = None
  checksums: Mapping[str, str] | None = None


def seal(record: Record) -> dict[str, Any]:
  """Returns what is written of a record: its values and a checksum of all of them."""
  about = {
    "number": record.number,
    "score": record.score,
    "checksums": record.checksums,
  }
  contents = {**record.values, ABOUT: about}
  return {**contents, SEAL: checksums.of_values(contents)}


def read(directory: pathlib.Path, number: int) -> Record:
  """Reads the record of a checkpoint.

  Args:
    directory: the directory of checkpoints.
    number: of the checkpoint.

  Raises:
    ValueError: if it is not as it was written.
  """
  path = directory / str(number) / ITEM / FILE
  try:
    contents = json.loads(path.read_bytes())
  except OSError as error:
    raise ValueError(f"its record cannot be read: {error.strerror}") from error
  except (ValueError, RecursionError) as error:
    raise ValueError("its record is not as it was saved") from error
  if not isinstance(contents, dict):
    raise ValueError("its record is not as it was saved")
  if set(contents) >= UNSEALED and not {ABOUT, SEAL} & set(contents):
    return Record(number, contents)
  return _open(contents, number)


def numbers(directory: pathlib.Path) -> list[int]:
  """Returns the numbers of all checkpoints in a directory, the newest first."""
  if not directory.is_dir():
    return []
  names = [path.name for path in directory.iterdir() if path.is_dir()]
  # An unfinished checkpoint has a longer name.
  found = {int(name) for name in names if name.isascii() and name.isdigit()}
  return sorted((number for number in found if str(number) in names), reverse=True)


def find_newest(directory: pathlib.Path) -> Record | None:
  """Returns the newest record that can be read, whatever has become of its state."""
  return next(_readable(directory), None)


def _readable(directory: pathlib.Path) -> Iterator[Record]:
  for number in numbers(directory):
    try:
      yield read(directory, number)
    except ValueError:
      continue


def _open(contents: dict[str, Any], number: int) -> Record:
  """Returns the record of sealed contents."""
  sealed_with = contents.pop(SEAL, None)
  if sealed_with != checksums.of_values(contents):
    raise ValueError("its record is not as it was saved: its checksum differs")
  about = contents.pop(ABOUT)
  if about["number"] != number:
    raise ValueError(f"it was saved as number {about['number']}")
  return Record(number, contents, about["score"], about["checksums"])
