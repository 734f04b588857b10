"""Pieces of HTML that notebooks show; they need nothing else."""

from collections.abc import Mapping
import html

__all__ = ["card"]

FRAME = (
  "display:inline-block;border:1px solid #d9d5ca;border-radius:8px;padding:8px 12px;"
  "font:13px/1.45 system-ui,sans-serif"
)


def card(title: str, facts: Mapping[str, object], picture: str = "") -> str:
  """Returns a title, some facts in two columns, and a picture.

  >>> "<b>mcts</b>" in card("mcts", {"simulations": 200})
  True

  Args:
    title: a text.
    facts: texts or numbers by name; those that are None are left out.
    picture: SVG, as it is.
  """
  rows = "".join(
    f'<tr><td style="text-align:left;opacity:.65">{html.escape(name)}</td>'
    f'<td style="text-align:left">{html.escape(_say(value))}</td></tr>'
    for name, value in facts.items()
    if value is not None
  )
  return (
    f'<div style="{FRAME}"><b>{html.escape(title)}</b>'
    f'<table style="margin:4px 0;font-size:13px">{rows}</table>{picture}</div>'
  )


def _say(value: object) -> str:
  is_count = isinstance(value, int) and not isinstance(value, bool)
  return f"{value:,}" if is_count else str(value)
