"""Prints how many of the videos named on the command line lack a label or a valid signature."""

import sys
from pathlib import Path

from engine.provenance.manifest import read_manifest
from engine.provenance.metadata import find_tags


def is_labeled(video: Path) -> bool:
    """Whether the signed manifest is valid and says what made it, and the tags are there."""
    manifest, tags = read_manifest(video), find_tags(video)
    is_signed = manifest.state == "valid" and manifest.says_ai
    return is_signed and tags.aigc is not None and tags.xmp_says_ai


if __name__ == "__main__":
    sys.stdout.write(f"{sum(not is_labeled(Path(name)) for name in sys.argv[1:])}\n")
