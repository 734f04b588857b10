"""What a manager may send to an engine: answered line by line, and never breaks."""

import io
import re

import hypothesis
import hypothesis.strategies as st

from jaxgames import players
from tests.fuzz import budget
from tests.fuzz import texts
from train.engines import brain

ANSWER = re.compile(r"OK|[0-9]+,[0-9]+|(ERROR|UNKNOWN) .+|name=.+")

LINES = st.one_of(
  st.sampled_from(
    [
      "START 5",
      "START 5",
      "START 4",
      "START x",
      "RESTART",
      "BEGIN",
      "TURN 0,0",
      "TURN 1,1",
      "TURN 2,2",
      "turn 3,3",
      "TURN 9,9",
      "TAKEBACK 0,0",
      "BOARD",
      "0,0,1",
      "0,1,2",
      "1,1,3",
      "DONE",
      "INFO timeout_turn 0",
      "INFO timeout_match 1",
      "INFO time_left -5",
      "INFO folder /",
      "ABOUT",
      "",
      "SWAP2BOARD",
      "PLAY 1,1",
    ]
  ).map(str.encode),
  st.binary(max_size=20),
  texts.anything.map(lambda text: f"TURN {text}".encode("utf-8", "ignore")),
  st.just(b"TURN " + b"9" * 5000),
)


@budget.inputs(quick=25, share=0.05)
@hypothesis.given(lines=st.lists(LINES, max_size=15), has_end=st.booleans())
def test_every_command_is_answered(lines, has_end):
  engine = brain.Brain(lambda game: [players.Random(game)], name="fuzzed")
  source = b"\n".join(lines) + (b"\nEND\n" if has_end else b"")
  sink = io.BytesIO()
  brain.serve(engine, io.BytesIO(source), sink)
  answers = sink.getvalue().decode("ascii").splitlines()
  assert all(ANSWER.fullmatch(answer) for answer in answers), answers
  # An open BOARD is answered too when something else comes.
  assert len(answers) <= 2 * (source.count(b"\n") + 1)
