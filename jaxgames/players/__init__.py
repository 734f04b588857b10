"""Ways to play, named in configs and on the command line."""

from typing import TYPE_CHECKING

from jaxgames import lazy

if TYPE_CHECKING:
  from jaxgames.players.base import Chooser
  from jaxgames.players.base import Memory
  from jaxgames.players.base import Player
  from jaxgames.players.base import tabulate
  from jaxgames.players.critic_greedy import CriticGreedy
  from jaxgames.players.expert import Expert
  from jaxgames.players.guided import Guided
  from jaxgames.players.ladder import Beginner
  from jaxgames.players.ladder import Dilettante
  from jaxgames.players.lookahead import Lookahead
  from jaxgames.players.mcts import Mcts
  from jaxgames.players.mixture import EveryNthGame
  from jaxgames.players.mixture import OnePerGame
  from jaxgames.players.mixture import SomeMoves
  from jaxgames.players.ordered import Ordered
  from jaxgames.players.q_greedy import QGreedy
  from jaxgames.players.random import Random
  from jaxgames.players.registry import PLAYERS
  from jaxgames.players.registry import check
  from jaxgames.players.registry import make
  from jaxgames.players.rules import Rules
  from jaxgames.players.table_greedy import TableGreedy
  from jaxgames.players.value_greedy import ValueGreedy

__all__ = [
  "PLAYERS",
  "Beginner",
  "Chooser",
  "CriticGreedy",
  "Dilettante",
  "EveryNthGame",
  "Expert",
  "Guided",
  "Lookahead",
  "Mcts",
  "Memory",
  "OnePerGame",
  "Ordered",
  "Player",
  "QGreedy",
  "Random",
  "Rules",
  "SomeMoves",
  "TableGreedy",
  "ValueGreedy",
  "check",
  "make",
  "tabulate",
]

__getattr__, __dir__ = lazy.attach(
  __name__,
  {
    "PLAYERS": "registry",
    "Beginner": "ladder",
    "Chooser": "base",
    "CriticGreedy": "critic_greedy",
    "Dilettante": "ladder",
    "EveryNthGame": "mixture",
    "Expert": "expert",
    "Guided": "guided",
    "Lookahead": "lookahead",
    "Mcts": "mcts",
    "Memory": "base",
    "OnePerGame": "mixture",
    "Ordered": "ordered",
    "Player": "base",
    "QGreedy": "q_greedy",
    "Random": "random",
    "Rules": "rules",
    "SomeMoves": "mixture",
    "TableGreedy": "table_greedy",
    "ValueGreedy": "value_greedy",
    "check": "registry",
    "make": "registry",
    "tabulate": "base",
  },
)
