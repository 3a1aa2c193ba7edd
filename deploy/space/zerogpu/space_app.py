"""Start Sonic Studio on a ZeroGPU Space: a card is lent to this process for each video.

`spaces` must be imported before anything that may touch a card.
"""

import os
import sys
from pathlib import Path

import spaces  # noqa: F401

STORAGE = Path("/data")
"""Where a Space's attached storage lies; without one everything is gone at a restart."""


def prepare() -> None:
    """Ask for lent cards; use the storage where there is one; fetch the weights the owner named."""
    os.environ.setdefault("STUDIO_EXECUTOR", "zerogpu")
    if os.access(STORAGE, os.W_OK):
        os.environ.setdefault("STUDIO_DATA_DIR", str(STORAGE / "sonic-studio"))
    name = os.environ.get("SPACE_FETCH_WEIGHTS")
    if not name:
        return
    # Read only now: the settings take the folder from the environment just prepared.
    from engine.errors import EngineError  # noqa: PLC0415
    from engine.messages import describe  # noqa: PLC0415
    from engine.settings import EngineSettings  # noqa: PLC0415
    from engine.weights.service import get_weights  # noqa: PLC0415

    try:
        get_weights(name, EngineSettings())
    except EngineError as error:  # the studio starts all the same, with the lite animator
        message = describe(error.code, error.values)
        sys.stderr.write(f"{message.sentence} {message.hint}\n")


if __name__ == "__main__":
    prepare()
    from app import main

    sys.exit(main())
