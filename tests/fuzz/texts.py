"""Texts that people, programs and accidents write: what the fuzzing tests draw from."""

import hypothesis.strategies as st

__all__ = ["TOO_LONG", "anything", "odd", "players", "yaml_texts"]

# Names that no file can have, and what a reader in Python cannot nest.
TOO_LONG = ["x" * 300, "x/" * 2100, "9" * 5000, "[" * 500, "(" * 500, "{a: " * 500]

# Numbers at and beyond the ends of ranges, names that no file can have, and signs that
# mean something to somebody.
odd = st.sampled_from(
  [
    "", " ", "\n", "\t", "\0", "\x1b[31m", "\udc80", "é", "日本", "🎲", "-", "--", "=", ":",
    ",", ".", "/", "//", "..", "./.", "~", "@", "@0", ":best", "(", ")", "((", "[", "]",
    "{", "}", "&a", "*a", "!", "!!int", "<<", "?", "|", ">", "%", "#", "'", '"', "\\",
    "0", "-0", "-1", "1", "1.5", "1e3", "1e400", "-1e400", "nan", ".nan", "inf", ".inf",
    "-.inf", "2147483647", "2147483648", "4294967295", "4294967296", "9" * 30, "9" * 5000,
    "0x10", "1:30", "1_000", "٣", "true", "null", "~", "no", "2020-01-01", "x" * 300,
    "x/" * 300, "/dev/zero", "/dev/null", "/proc/self/mem", "a/b.safetensors", "$HOME",
  ]
)  # fmt: skip

anything = st.one_of(
  odd,
  st.sampled_from(TOO_LONG),
  st.text(max_size=20),
  st.text("0123456789.-+e", min_size=1, max_size=8),
)

_NAMES = [
  "random", "attack", "defense", "attack-defense", "combined", "benchmark", "ladder",
  "mcts", "lookahead", "guided", "sometimes", "every", "ttt3d", "gomoku", "self",
  "tested", "nobody",
]  # fmt: skip

_OPTIONS = [
  "simulations", "exploration", "ties", "level", "player", "other", "probability",
  "every", "width", "depth", "temperature", "nothing",
]  # fmt: skip


def _with_options(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
  bracketed = inner.map(lambda spec: f"({spec})")
  value = st.one_of(inner, bracketed, anything, st.sampled_from(["first", "0.5", "3"]))
  option = st.builds("{}={}".format, st.sampled_from(_OPTIONS), value)
  options = st.lists(option, min_size=1, max_size=4).map(",".join)
  return st.builds("{}:{}".format, st.sampled_from(_NAMES), options)


# Players as they are written, right and wrong, and players in players.
players = st.one_of(
  st.recursive(st.sampled_from(_NAMES), _with_options, max_leaves=4),
  st.lists(st.one_of(st.sampled_from(_NAMES), anything), max_size=4).map("".join),
)

_YAML_PARTS = st.one_of(
  odd,
  st.sampled_from(TOO_LONG),
  st.sampled_from(
    [
      "a: ",
      "b: ",
      "- ",
      "\n",
      "\n  ",
      "\n    ",
      ": ",
      ", ",
      "[1, 2]",
      "{a: 1}",
      "&x ",
      "*x",
      "<<: ",
      "? ",
      "---\n",
      "...\n",
      "!!set ",
      "!!binary ",
      "!a ",
      "%YAML 1.1\n",
      "extends: ",
      "runs: ",
      "game: ttt3d\n",
      "learner: ",
      "{kind: td}",
      "games: 10\n",
      "test: {every: 1, games: 1, against: random}\n",
      "trials: ",
      "paper: ",
      "opponent: ",
      "seed: ",
      "|\n",
      ">-\n",
      "'",
      '"',
      "# ",
      "&x [*x]",
      "&x {a: *x}",
      "&x [*x, *x]",
    ]
  ),
)

# Texts of the parts that YAML is made of, in any order.
yaml_texts = st.lists(_YAML_PARTS, max_size=25).map("".join)
