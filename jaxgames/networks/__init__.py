"""Networks that evaluate positions, in flax."""

from typing import TYPE_CHECKING

from jaxgames import lazy

if TYPE_CHECKING:
  from jaxgames.networks.critic import Critic
  from jaxgames.networks.critic import Situation
  from jaxgames.networks.q import QNetwork
  from jaxgames.networks.value import ValueNetwork
  from jaxgames.networks.value import num_weights

__all__ = ["Critic", "QNetwork", "Situation", "ValueNetwork", "num_weights"]

__getattr__, __dir__ = lazy.attach(
  __name__,
  {
    "Critic": "critic",
    "QNetwork": "q",
    "Situation": "critic",
    "ValueNetwork": "value",
    "num_weights": "value",
  },
)
