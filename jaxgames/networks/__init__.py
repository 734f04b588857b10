"""Networks that judge boards, in flax."""

from jaxgames.networks.critic import Critic
from jaxgames.networks.critic import Situation
from jaxgames.networks.q import QNetwork
from jaxgames.networks.value import NETWORKS
from jaxgames.networks.value import ValueNetwork
from jaxgames.networks.value import num_weights

__all__ = [
  "NETWORKS",
  "Critic",
  "QNetwork",
  "Situation",
  "ValueNetwork",
  "num_weights",
]
