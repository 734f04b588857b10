"""Networks that judge boards, in flax."""

from jaxgames.networks.value import NETWORKS
from jaxgames.networks.value import ValueNetwork
from jaxgames.networks.value import num_weights

__all__ = ["NETWORKS", "ValueNetwork", "num_weights"]
