"""Did-you-mean suggestions for mistyped names."""

from collections.abc import Iterable
import difflib

__all__ = ["close_match"]


def close_match(name: str, known: Iterable[str]) -> str:
  """Returns a sentence that lists the known names, after the closest if one is close.

  >>> close_match("attak", ["random", "attack"])
  "did you mean 'attack'? there are random, attack"
  """
  known = list(known)
  close = difflib.get_close_matches(name, known, n=1)
  hint = f"did you mean {close[0]!r}? " if close else ""
  return f"{hint}there are {', '.join(known)}"
