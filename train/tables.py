"""Tables described once, to be shown in a terminal or written as Markdown."""

from collections.abc import Sequence
import dataclasses

import rich.box
import rich.console
import rich.table
import rich.text

__all__ = ["Group", "Table"]


@dataclasses.dataclass(frozen=True)
class Group:
  """Rows of a table under a heading of their own.

  Attributes:
    title: the heading; none if it is empty.
    rows: the cells, as many in each row as the table has columns.
  """

  title: str
  rows: tuple[tuple[str, ...], ...]


@dataclasses.dataclass(frozen=True)
class Table:
  """A table. The first column is of words, the others are of numbers.

  Attributes:
    title: its heading.
    columns: the columns' headings.
    groups: the rows.
    notes: sentences below it.
  """

  title: str
  columns: tuple[str, ...]
  groups: tuple[Group, ...]
  notes: tuple[str, ...] = ()

  def __rich_console__(
    self, console: rich.console.Console, options: rich.console.ConsoleOptions
  ) -> rich.console.RenderResult:
    """Draws the table in a terminal."""
    del console, options
    table = rich.table.Table(
      box=rich.box.SIMPLE_HEAD,
      # Narrow gaps and no edge: seven columns fit into a terminal of 80.
      padding=(0, 1, 0, 0),
      show_edge=False,
    )
    for number, column in enumerate(self.columns):
      table.add_column(
        rich.text.Text(column),
        justify="right" if number else "left",
        no_wrap=number > 0,
        overflow="fold",
      )
    for group in self.groups:
      if group.title:
        table.add_row(rich.text.Text(group.title, style="bold"))
      for row in group.rows:
        table.add_row(*map(rich.text.Text, row))
      table.add_section()
    # Not as the table's own title, which would be wrapped to the table's width.
    yield rich.text.Text(self.title, style="bold")
    yield table
    for note in self.notes:
      yield rich.text.Text(note, style="dim")

  def as_markdown(self, heading: str = "###") -> str:
    """Returns the table as Markdown, its title as a heading of that depth."""
    num_numbers = len(self.columns) - 1
    lines = [_markdown_row(self.columns), "| :--- |" + " ---: |" * num_numbers]
    for group in self.groups:
      if group.title:
        lines.append(f"| **{_escape(group.title)}** |" + " |" * num_numbers)
      lines += map(_markdown_row, group.rows)
    notes = map(_escape, self.notes)
    return "\n\n".join([f"{heading} {_escape(self.title)}", "\n".join(lines), *notes])


def _markdown_row(cells: Sequence[str]) -> str:
  return "| " + " | ".join(map(_escape, cells)) + " |"


def _escape(text: str) -> str:
  """Returns Markdown that shows a text as it is."""
  return "".join(f"\\{letter}" if letter in r"\|*`<" else letter for letter in text)
