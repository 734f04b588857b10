"""Matches between two compiled players: many games at once, on the device."""

import dataclasses
from typing import Any

import jax
import numpy as np
import rich.console
import rich.markup
import rich.progress
import rich.table
import scipy.stats

from jaxgames import arena
from jaxgames import players

__all__ = ["Forfeit", "MatchResult", "play", "progress_bar"]

# Longer matches are played in batches, so that there is progress to show and a tree
# search for every game fits into memory. Even, so that colours keep alternating.
MOST_AT_ONCE = 2000


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

  @property
  def score(self) -> float:
    """A's score: wins plus half of the draws, as a share of all games."""
    num_games = sum(self.wins + self.draws + self.losses)
    return (sum(self.wins) + sum(self.draws) / 2) / num_games

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


def play(
  player_a: players.Player,
  player_b: players.Player,
  *,
  num_games: int,
  seed: int,
  console: rich.console.Console,
) -> MatchResult:
  """Plays a match, in batches of `MOST_AT_ONCE` games.

  Args:
    player_a: the player whose results are returned.
    player_b: its opponent.
    num_games: the number of games.
    seed: the seed of all randomness.
    console: shows progress if it is a terminal.

  Raises:
    ValueError: if there is no game to play.
  """
  if num_games < 1:
    raise ValueError(f"a match has at least one game, not {num_games}")
  total = None
  with progress_bar(console) as progress:
    task = progress.add_task("playing", total=num_games)
    for batch, first in enumerate(range(0, num_games, MOST_AT_ONCE)):
      score = arena.play_match(
        player_a,
        player_b,
        jax.random.fold_in(jax.random.key(seed), batch),
        num_games=min(MOST_AT_ONCE, num_games - first),
        first_number=np.int32(first),
      )
      # Added up on the host, where integers do not overflow.
      score = jax.tree.map(lambda x: np.asarray(x, np.int64), score)
      total = score if total is None else total + score
      progress.update(task, completed=min(first + MOST_AT_ONCE, num_games))
  assert total is not None
  wins, draws, losses = (
    tuple(map(int, sides)) for sides in (total.wins, total.draws, total.losses)
  )
  return MatchResult(wins, draws, losses)


def progress_bar(console: rich.console.Console) -> rich.progress.Progress:
  """Returns a bar that is shown only on a terminal, and removed when it is full."""
  return rich.progress.Progress(
    *rich.progress.Progress.get_default_columns(),
    console=console,
    transient=True,
    disable=not console.is_terminal,
  )
