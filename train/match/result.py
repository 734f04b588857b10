"""The result of a match, and the progress bar while it is played."""

import dataclasses
from typing import Any

import rich.console
import rich.markup
import rich.progress
import rich.table
import scipy.stats

__all__ = ["Forfeit", "MatchResult", "progress_bar"]


@dataclasses.dataclass(frozen=True)
class Forfeit:
  """A game lost by forfeit, not on the board.

  Attributes:
    game: the number of the game in the match, from 0.
    player: the player that lost it, A or B.
    reason: why it is lost.
  """

  game: int
  player: str
  reason: str


@dataclasses.dataclass(frozen=True)
class MatchResult:
  """The result of a match for player A.

  Attributes:
    wins: A's wins moving first, and moving second.
    draws: likewise.
    losses: likewise.
    forfeits: the games that either player forfeited; None if neither could.
  """

  wins: tuple[int, ...]
  draws: tuple[int, ...]
  losses: tuple[int, ...]
  forfeits: tuple[Forfeit, ...] | None = None

  def as_json(self) -> dict[str, Any]:
    """Returns what `jaxgames match --json` prints."""
    sides = zip(("first", "second"), self.wins, self.draws, self.losses, strict=True)
    result: dict[str, Any] = {
      "wins": sum(self.wins),
      "draws": sum(self.draws),
      "losses": sum(self.losses),
      "by_side": {
        side: {"wins": wins, "draws": draws, "losses": losses}
        for side, wins, draws, losses in sides
      },
    }
    if self.forfeits is not None:
      result["forfeits"] = [dataclasses.asdict(forfeit) for forfeit in self.forfeits]
    return result

  def forfeits_as_lines(self) -> list[str]:
    """Returns a line for each forfeited game."""
    return [
      f"game {forfeit.game}: {forfeit.player} forfeits: {forfeit.reason}"
      for forfeit in self.forfeits or ()
    ]

  def as_table(self, game: str, a: str, b: str) -> rich.table.Table:
    """Returns the results by side, with a confidence interval of the win rate."""
    table = rich.table.Table(
      "", "games", "wins", "draws", "losses", "win rate, 95% interval",
      title=rich.markup.escape(f"{game}: {a} against {b}"),
    )  # fmt: skip
    results = (self.wins, self.draws, self.losses)
    rows = [*zip(*results, strict=True), tuple(map(sum, results))]
    for name, (wins, draws, losses) in zip(
      ("moving first", "moving second", "all"), rows, strict=True
    ):
      total = wins + draws + losses
      rate = "-"
      if total:
        low, high = scipy.stats.binomtest(wins, total).proportion_ci(method="wilson")
        rate = f"{wins / total:.1%} ({low:.1%} to {high:.1%})"
      table.add_row(name, *map(str, (total, wins, draws, losses)), rate)
    return table


def progress_bar(console: rich.console.Console) -> rich.progress.Progress:
  """Returns a bar that is shown only on a terminal, and removed when it is full."""
  return rich.progress.Progress(
    *rich.progress.Progress.get_default_columns(),
    console=console,
    transient=True,
    disable=not console.is_terminal,
  )
