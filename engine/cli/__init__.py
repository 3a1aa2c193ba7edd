"""The command line of the studio."""

from engine.cli.program import main

__all__ = ["main"]
