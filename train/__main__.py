"""Runs the command line, as `python -m train`."""

from train import cli

if __name__ == "__main__":
  cli.main()
