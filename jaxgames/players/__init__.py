"""Ways to play, named in configs and on the command line."""

from jaxgames.players.base import Chooser
from jaxgames.players.base import Memory
from jaxgames.players.base import Player
from jaxgames.players.base import tabulate
from jaxgames.players.critic_greedy import CriticGreedy
from jaxgames.players.expert import Expert
from jaxgames.players.guided import Guided
from jaxgames.players.ladder import Beginner
from jaxgames.players.ladder import Dilettante
from jaxgames.players.lookahead import Ahead
from jaxgames.players.mcts import Mcts
from jaxgames.players.mixture import EveryNthGame
from jaxgames.players.mixture import OnePerGame
from jaxgames.players.mixture import SomeMoves
from jaxgames.players.ordered import Ordered
from jaxgames.players.q_greedy import QGreedy
from jaxgames.players.random import Random
from jaxgames.players.registry import PLAYERS
from jaxgames.players.registry import make
from jaxgames.players.rules import Rules
from jaxgames.players.table_greedy import Utilities

__all__ = [
  "PLAYERS",
  "Ahead",
  "Beginner",
  "Chooser",
  "CriticGreedy",
  "Dilettante",
  "EveryNthGame",
  "Expert",
  "Guided",
  "Mcts",
  "Memory",
  "OnePerGame",
  "Ordered",
  "Player",
  "QGreedy",
  "Random",
  "Rules",
  "SomeMoves",
  "Utilities",
  "make",
  "tabulate",
]
