"""Lines of the Gomocup protocol."""

import io

import hypothesis
from hypothesis import strategies as st

from train.engines import protocol


@hypothesis.given(st.binary(max_size=30_000))
def test_any_bytes_are_read_as_lines(data):
  lines = list(protocol.read_lines(io.BytesIO(data)))
  expected = data.split(b"\n")
  assert len(lines) == len(expected) - (expected[-1] == b"")
  for line, whole in zip(lines, expected, strict=False):
    assert line.rstrip(b"\n") == whole[: protocol.MOST_LINE_BYTES]


def test_a_long_line_is_cut():
  data = b"x" * 100_000 + b"\nABOUT\n" + b"y" * 5000
  sizes = [len(line) for line in protocol.read_lines(io.BytesIO(data))]
  assert sizes == [protocol.MOST_LINE_BYTES, 6, protocol.MOST_LINE_BYTES]
