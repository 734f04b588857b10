"""The `jaxgames` command: arguments and help only.

`--help`, `--version`, completion and what is said of a wrong config must not wait for
jax. So modules here import at their top only what is free of it, and a command imports
what it needs in its body.
"""

from train.cli.app import app
from train.cli.app import main

__all__ = ["app", "main"]
