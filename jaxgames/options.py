"""The choices that configs may name and the library implements, free of jax.

Checking a config must be quick, so what it may say is here and not beside the code that
does it; that code imports its type from here.
"""

from typing import Literal

__all__ = [
  "Activation",
  "CriticCounts",
  "CriticTurn",
  "PatternSharing",
  "ScriptTies",
  "Starts",
  "Ties",
]

# Whether a player moves first: in every other game, in all, or in none.
Starts = Literal["alternate", "always", "never"]

# Which of several equally good moves is played.
Ties = Literal["first", "random"]

# The same for scripted players; `game` is the first in an order drawn for each game.
ScriptTies = Literal["first", "random", "game"]

# Activations of Q networks; see `networks.q`.
Activation = Literal["sigmoid", "tanh", "relu", "identity"]

# Which lines have a table of patterns in common; see `networks.pattern_sums`.
PatternSharing = Literal["none", "symmetry", "all", "counts"]

# How the critic sees counts of shapes, and whose turn it is; see `networks.critic`.
CriticCounts = Literal["coded", "plain", "none"]
CriticTurn = Literal["shapes", "two", "none"]
