"""Configs: what a run is, how files compose to one, and errors that explain."""

from train.config.run import CheckpointSettings
from train.config.run import LearnerConfig
from train.config.run import RunConfig
from train.config.run import TestSettings
from train.config.run import Unchecked
from train.config.run import check
from train.config.run import differences
from train.config.run import dump
from train.config.run import from_saved
from train.config.run import load
from train.config.run import load_saved
from train.config.run import load_sweep
from train.config.run import migrate_saved
from train.config.run import read
from train.config.run import read_sweep
from train.config.run import sweep_name
from train.config.run import to_mapping

__all__ = [
  "CheckpointSettings",
  "LearnerConfig",
  "RunConfig",
  "TestSettings",
  "Unchecked",
  "check",
  "differences",
  "dump",
  "from_saved",
  "load",
  "load_saved",
  "load_sweep",
  "migrate_saved",
  "read",
  "read_sweep",
  "sweep_name",
  "to_mapping",
]
