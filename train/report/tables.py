"""Tables that are shown in a terminal or written as Markdown."""

from collections.abc import Sequence
import dataclasses

import rich.box
import rich.cells
import rich.console
import rich.table
import rich.text

__all__ = ["Group", "Table"]

# The space between two columns in a terminal, and the least width of the first column.
GAP = 2
LEAST_WIDTH = 10

MARKDOWN_ESCAPES = str.maketrans({letter: f"\\{letter}" for letter in r"\|*`<"})


@dataclasses.dataclass(frozen=True)
class Group:
  """Rows of a table under a common heading.

  Attributes:
    title: the heading; no heading if it is empty.
    rows: the cells, one per column in each row.
  """

  title: str
  rows: tuple[tuple[str, ...], ...]


@dataclasses.dataclass(frozen=True)
class Table:
  """A table with text in the first column and numbers in the others.

  Attributes:
    title: the heading.
    columns: the columns' headings.
    groups: the rows.
    notes: sentences below the table.
  """

  title: str
  columns: tuple[str, ...]
  groups: tuple[Group, ...]
  notes: tuple[str, ...] = ()

  def __rich_console__(
    self, console: rich.console.Console, options: rich.console.ConsoleOptions
  ) -> rich.console.RenderResult:
    """Draws the table in a terminal."""
    del console
    # Titles are separate lines: as part of the grid the table's title would be wrapped
    # to its width, and groups' titles would widen the first column.
    yield rich.text.Text(self.title, style="bold")
    yield self._make_grid((), options.max_width, show_header=True)
    for number, group in enumerate(self.groups):
      if number:
        yield ""
      if group.title:
        yield rich.text.Text(group.title, style="bold")
      yield self._make_grid(group.rows, options.max_width)
    for note in self.notes:
      yield rich.text.Text(note, style="dim")

  def _make_grid(
    self,
    rows: Sequence[Sequence[str]],
    max_width: int,
    *,
    show_header: bool = False,
  ) -> rich.table.Table:
    """Returns some rows, or the header, in columns of the same widths for all."""
    cells = [self.columns, *(row for group in self.groups for row in group.rows)]
    widths = [
      max(map(rich.cells.cell_len, column)) for column in zip(*cells, strict=True)
    ]
    # Text can be folded, numbers cannot.
    room = max_width - sum(widths[1:]) - GAP * (len(widths) - 1)
    widths[0] = max(min(widths[0], room), LEAST_WIDTH)
    table = rich.table.Table(
      box=rich.box.SIMPLE_HEAD,
      padding=(0, 1, 0, 0),
      pad_edge=False,
      show_edge=False,
      show_header=show_header,
    )
    for number, (column, width) in enumerate(zip(self.columns, widths, strict=True)):
      table.add_column(
        rich.text.Text(column),
        justify="right" if number else "left",
        width=width,
        no_wrap=number > 0,
        overflow="fold",
      )
    for row in rows:
      table.add_row(*map(rich.text.Text, row))
    return table

  def as_markdown(self, heading: str = "###") -> str:
    """Returns the table as Markdown, its title after the `heading` marks."""
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
  """Escapes a text for Markdown."""
  return text.translate(MARKDOWN_ESCAPES)
