"""A profile attributes all time of a program to the scopes that its code names."""

import jax
import jax.numpy as jnp
import pytest

from train.bench import profile

PROGRAM = """HloModule jit_f, is_scheduled=true

%fused (a: f32[2]) -> f32[2] {
  %a = f32[2] parameter(0)
  %gradient = f32[2] multiply(%a, %a), metadata={op_name="jit(f)/vmap(update)/mul"}
  ROOT %choice = f32[2] select(%a, %gradient), metadata={op_name="jit(f)/select_n"}
}

%body (b: (s32[], f32[2])) -> (s32[], f32[2]) {
  %b = (s32[], f32[2]) parameter(0)
  %copy.1 = f32[2] copy(%b)
  %gain = f32[2] add(%b, %b), metadata={op_name="jit(f)/while/body/update/add"}
}

ENTRY %main (p: f32[2]) -> f32[2] {
  %p = f32[2] parameter(0)
  %greedy = f32[2] negate(%p), metadata={op_name="jit(f)/vmap(move)/rules/neg"}
  %dot.1 = f32[2] dot(%p, %greedy)
  %while.1 = (s32[], f32[2]) while(%p), body=%body, metadata={op_name="jit(f)/move/jit(_threefry_split)/while"}
  %select_fusion = f32[2] fusion(%p), calls=%fused, metadata={op_name="jit(f)/select_n"}
  ROOT %copy.2 = f32[2] copy(%p)
}
"""


def test_operations_have_the_part_of_their_scope():
  parts = profile.parts_of(PROGRAM)
  assert parts["greedy"] == "rules", "the innermost scope counts"
  assert parts["dot.1"] == "rules", "without a name, that of what it takes"
  assert parts["while.1"] == "random"
  assert parts["copy.1"] == "random", "without a name, that of its loop"
  assert parts["select_fusion"] == "update", "without a scope, that of what is fused"
  assert "copy.2" not in parts


def test_operations_outside_loops_are_known():
  outside = profile.outside_loops(PROGRAM)
  assert outside == {"p", "greedy", "dot.1", "while.1", "select_fusion", "copy.2"}


def test_no_time_is_counted_twice():
  events = [
    profile.Event("", 0, 100),
    profile.Event("while", 10, 90),
    profile.Event("", 20, 80),  # Runs the body.
    profile.Event("dot", 30, 50),
    profile.Event("add", 50, 60),
    profile.Event("tanh", 95, 99),
  ]
  times = {name: time for name, time, _ in profile.self_times(events)}
  assert times == {"": 16, "while": 50, "dot": 20, "add": 10, "tanh": 4}


def test_interruptions_and_what_is_outside_of_loops_do_not_count(monkeypatch):
  starts_and_ends = {
    "gain": [(0, 10), (20, 30), (40, 9040)],
    "copy.1": [(10, 20), (30, 40), (9040, 9050)],
    "dot.1": [(9100, 9900)],
  }
  events = [
    profile.Event(name, *times) for name in starts_and_ends
    for times in starts_and_ends[name]
  ]  # fmt: skip
  monkeypatch.setattr(profile, "record", lambda run_fn, module: [events])
  shares = profile.shares(lambda: None, PROGRAM)
  assert {part: share for part, share in shares.items() if share} == {
    "update": 0.5, "random": 0.5
  }  # fmt: skip


@pytest.fixture(scope="module")
def program():
  """A loop of which nearly all is an update."""

  def step(_, x):
    with jax.named_scope("update"):
      x = jnp.tanh(x @ x)
    with jax.named_scope("move"):
      return x + 1.0

  @jax.jit
  def run(x):
    return jax.lax.fori_loop(0, 20, step, x)

  with profile.names_in_cache():
    return run.lower(jnp.ones((128, 128))).compile()


def test_shares_of_a_program_add_up(program):
  def run():
    jax.block_until_ready(program(jnp.ones((128, 128))))

  shares = profile.shares(run, program.as_text())
  assert set(shares) == set(profile.PARTS)
  assert sum(shares.values()) == pytest.approx(1)
  assert shares["update"] > 0.3
  assert shares["answer"] == 0


def test_another_program_is_not_seen(program):
  text = program.as_text().replace("HloModule jit_run", "HloModule jit_other")
  run = lambda: jax.block_until_ready(program(jnp.ones((128, 128))))  # noqa: E731
  assert profile.shares(run, text) == {}


def test_a_program_without_text_has_no_parts():
  assert profile.shares(lambda: pytest.fail("nothing is to be run"), "") == {}
