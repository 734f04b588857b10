"""Temporal coherence: a step size for every weight, by how consistent its changes are.

A weight whose recommended changes have one sign keeps its full rate; where they cancel
each other, the rate falls:

  Beal, Smith: Temporal Coherence and Prediction Decay in TD Learning. IJCAI 1999.
  Bagheri, Thill, Koch, Konen: Online Adaptable Learning Rates for the Game Connect-4.
    IEEE Transactions on Computational Intelligence and AI in Games 8 (1), 2016.
"""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import optax

__all__ = ["CoherenceState", "scale_by_coherence"]


class CoherenceState(NamedTuple):
  """What has been recommended so far, in the shapes of the parameters.

  Attributes:
    net: the sums of the changes.
    total: the sums of their absolute values.
  """

  net: chex.ArrayTree
  total: chex.ArrayTree


def scale_by_coherence(exponent: float | None = None) -> optax.GradientTransformation:
  """Scales updates by |sum of changes| / sum of |changes| of each weight.

  The changes that are summed up are the recommended ones, before any scaling: the error
  times the gradient. A step is scaled by the sums before it, the first by 1.

  Args:
    exponent: if given, a coherence of c scales by exp(exponent (c - 1)), so that a
      weight without any coherence still learns a little.
  """

  def init(params: chex.ArrayTree) -> CoherenceState:
    zeros = jax.tree.map(jnp.zeros_like, params)
    return CoherenceState(net=zeros, total=zeros)

  def scale(update: jax.Array, net: jax.Array, total: jax.Array) -> jax.Array:
    coherence = jnp.where(total > 0, jnp.abs(net) / jnp.where(total > 0, total, 1), 1)
    if exponent is not None:
      coherence = jnp.exp(exponent * (coherence - 1))
    return coherence * update

  def update(
    updates: chex.ArrayTree, state: CoherenceState, params: chex.ArrayTree | None = None
  ) -> tuple[chex.ArrayTree, CoherenceState]:
    del params
    scaled = jax.tree.map(scale, updates, state.net, state.total)
    return scaled, CoherenceState(
      net=jax.tree.map(jnp.add, state.net, updates),
      total=jax.tree.map(lambda sums, new: sums + jnp.abs(new), state.total, updates),
    )

  return optax.GradientTransformation(init, update)
