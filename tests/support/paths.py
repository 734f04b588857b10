"""Where the project's files are."""

import pathlib

ROOT = pathlib.Path(__file__).parent.parent.parent
