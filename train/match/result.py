"""The result of a match: in numbers, as a table, as JSON."""

import dataclasses
import math
from typing import Any

import rich.box
import rich.markup
import rich.table

from train.match import estimate as estimate_lib
from train.match import record

__all__ = ["MatchResult"]

SIDES = ("first", "second")

# Fewer distinct games than this share of all are worth a sentence.
FEW = 0.5


@dataclasses.dataclass(frozen=True)
class MatchResult:
  """The result of a match for player A.

  Attributes:
    wins: A's wins moving first, and moving second.
    draws: likewise.
    losses: likewise.
    distinct: how many distinct games A has played on each side.
    estimate: A's score, with an interval from pairs of games.
    by_side: the same for each side, from its games; None where there is no game.
    num_opening: the plies of the openings, 0 if there are none.
    forfeits: the games that either player forfeited; None if neither could.
  """

  wins: tuple[int, ...]
  draws: tuple[int, ...]
  losses: tuple[int, ...]
  distinct: tuple[int, ...]
  estimate: estimate_lib.Estimate
  by_side: tuple[estimate_lib.Estimate | None, ...]
  num_opening: int = 0
  forfeits: tuple[record.Forfeit, ...] | None = None

  @property
  def num_games(self) -> int:
    """How many games were played."""
    return sum(self.wins + self.draws + self.losses)

  @property
  def num_distinct(self) -> int:
    """How many of them differ in their moves or in the player that began."""
    return sum(self.distinct)

  def as_json(self) -> dict[str, Any]:
    """Returns what `jaxgames match --json` prints.

    An Elo is null where it is infinite.
    """
    sides = zip(SIDES, self.wins, self.draws, self.losses, strict=True)
    found = self.estimate
    result: dict[str, Any] = {
      "wins": sum(self.wins),
      "draws": sum(self.draws),
      "losses": sum(self.losses),
      "by_side": {
        side: {"wins": wins, "draws": draws, "losses": losses}
        for side, wins, draws, losses in sides
      },
      "games": self.num_games,
      "distinct_games": self.num_distinct,
      "openings": self.num_opening,
      "score": found.score,
      "score_interval": list(found.interval),
      "elo": _finite(found.elo),
      "elo_interval": list(map(_finite, found.elo_interval)),
    }
    if self.forfeits is not None:
      result["forfeits"] = [dataclasses.asdict(forfeit) for forfeit in self.forfeits]
    return result

  def as_table(self, game: str, a: str, b: str) -> rich.table.Table:
    """Returns the results by side, with the scores' confidence intervals."""
    # Narrow, to fit 80 columns.
    table = rich.table.Table(
      title=rich.markup.escape(f"{game}: {a} against {b}"),
      box=rich.box.SIMPLE_HEAD,
      padding=(0, 1, 0, 0),
      pad_edge=False,
    )
    table.add_column("")
    for heading in ("games", "distinct", "wins", "draws", "losses", "score"):
      table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("95% interval", justify="right", no_wrap=True)
    columns = list(zip(self.distinct, self.wins, self.draws, self.losses, strict=True))
    rows = [*columns, tuple(map(sum, zip(*columns, strict=True)))]
    names = ("moving first", "moving second", "all")
    estimates = (*self.by_side, self.estimate)
    for name, row, found in zip(names, rows, estimates, strict=True):
      distinct, *results = row
      numbers = (sum(results), distinct, *results)
      texts = (f"{number:,}" for number in numbers)
      table.add_row(name, *texts, *_format_estimate(found))
    return table

  def as_lines(self) -> list[str]:
    """Returns sentences below the table."""
    low, high = map(_format_elo, self.estimate.elo_interval)
    elo = _format_elo(self.estimate.elo)
    return [
      f"Elo difference: {elo} (95% interval: {low} to {high})",
      *self._opening_lines(),
      *self._repetition_lines(),
      *(
        f"game {forfeit.game}: {forfeit.player} forfeits: {forfeit.reason}"
        for forfeit in self.forfeits or ()
      ),
    ]

  def _opening_lines(self) -> list[str]:
    if not self.num_opening:
      return []
    return [
      f"Every game begins with {self.num_opening} random plies; each opening was played "
      "with both sides. Intervals are of pairs of games."
    ]

  def _repetition_lines(self) -> list[str]:
    if self.num_distinct > FEW * self.num_games:
      return []
    advice = "longer ones vary them" if self.num_opening else "--openings 4 varies them"
    return [
      f"Only {self.num_distinct:,} of {self.num_games:,} games are distinct: repeated "
      f"ones count once in the intervals; {advice}."
    ]


def _format_estimate(found: estimate_lib.Estimate | None) -> tuple[str, str]:
  """Returns a score and its interval."""
  if found is None:
    return "-", "-"
  low, high = found.interval
  return f"{found.score:.1%}", f"{low:.1%} to {high:.1%}"


def _format_elo(elo: float) -> str:
  return (
    f"{round(elo):+,}" if math.isfinite(elo) else f"{'+' if elo > 0 else '-'}infinity"
  )


def _finite(number: float) -> float | None:
  return number if math.isfinite(number) else None
