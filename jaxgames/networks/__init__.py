"""Networks that judge boards, in flax."""

from jaxgames.networks.q import QNetwork
from jaxgames.networks.value import NETWORKS
from jaxgames.networks.value import ValueNetwork
from jaxgames.networks.value import num_weights

__all__ = ["NETWORKS", "QNetwork", "ValueNetwork", "num_weights"]
