"""How many inputs a fuzzing test tries: few by default, very many on demand.

`make fuzz` sets `JAXGAMES_FUZZ` to the number of inputs of all tests together; then
each tries its share of them, other ones each time. Without it every run of the tests
tries the same few.
"""

from collections.abc import Callable
import os
from typing import TypeVar

import hypothesis

__all__ = ["TOTAL", "inputs"]

# The inputs of all tests together; 0 for the quick version.
TOTAL = int(os.environ.get("JAXGAMES_FUZZ") or 0)

Test = TypeVar("Test", bound=Callable[..., object])


def inputs(*, quick: int, share: float) -> Callable[[Test], Test]:
  """Sets how many inputs a test tries.

  Args:
    quick: by default.
    share: of `TOTAL`, in the long version.
  """
  return hypothesis.settings(
    max_examples=max(int(share * TOTAL), 1) if TOTAL else quick,
    derandomize=not TOTAL,
    database=None,
    deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    print_blob=True,
  )
