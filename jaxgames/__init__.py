"""Line games, their players and value networks, as pure functions in JAX."""

from typing import TYPE_CHECKING

from jaxgames import lazy

if TYPE_CHECKING:
  from jaxgames.game import GAMES
  from jaxgames.game import LineGame
  from jaxgames.game import State
  from jaxgames.game import make

__all__ = ["GAMES", "LineGame", "State", "make"]

__getattr__, __dir__ = lazy.attach(__name__, dict.fromkeys(__all__, "game"))
