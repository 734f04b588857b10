"""Compilation that takes less time, of programs that take more."""

import functools

import jax

from jaxgames import arena

# What a test computes once, on a few positions, is not worth optimizing. Where bits of
# floating-point numbers are compared, where speed counts, or where a program runs for
# longer than it compiles, use `jax.jit`, which compiles as for users.
jit = functools.partial(
  jax.jit,
  compiler_options={
    "xla_backend_optimization_level": 0,
    "xla_cpu_use_fusion_emitters": False,
  },
)

play_match = jit(arena.play_match, static_argnames="num_games")
self_play = jit(arena.self_play, static_argnames=("num_lanes", "num_plies"))
