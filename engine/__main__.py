"""`python -m engine ...`: the command line."""

import sys

try:
    from engine.cli import main
except ModuleNotFoundError as missing:
    sys.exit(
        f"This Python lacks the package {missing.name}; nothing was done. "
        "Run the command as `python3 bootstrap.py ...`, which sets up everything."
    )

if __name__ == "__main__":
    sys.exit(main())
