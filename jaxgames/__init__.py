"""Line games, their players and value networks, as pure functions in JAX."""

from jaxgames.game import GAMES
from jaxgames.game import GOMOKU_SIZES
from jaxgames.game import LineGame
from jaxgames.game import State
from jaxgames.game import make

__all__ = ["GAMES", "GOMOKU_SIZES", "LineGame", "State", "make"]
