"""Strictness for every test: bought once, here."""

from collections.abc import Iterator
import io
import os

import hypothesis
import jax
import pytest
import rich.console

from tests.support import paths

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_num_cpu_devices", 2)

# Both workers and all processes started by tests share what any of them compiled.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(paths.ROOT / ".jax_cache"))
jax.config.update("jax_compilation_cache_dir", os.environ["JAX_COMPILATION_CACHE_DIR"])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)

# The machine may be busy: an example may take long, and every run tries the same ones.
hypothesis.settings.register_profile(
  "default", deadline=None, derandomize=True, max_examples=50
)
hypothesis.settings.load_profile("default")


@pytest.fixture
def console() -> rich.console.Console:
  """A console that is no terminal; `runs.said` reads what was written."""
  return rich.console.Console(file=io.StringIO(), width=200)


@pytest.fixture
def toy() -> Iterator[None]:
  """Lets configs name the toy learner."""
  # Imported here: jax must not be used before it is configured above.
  from tests.support import toy_learner

  with toy_learner.registered():
    yield
