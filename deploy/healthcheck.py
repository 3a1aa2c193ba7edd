"""Whether the page, or every worker, of this container is well: exit code 0 or 1."""

import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

OLDEST_S = 60.0
"""A worker touches its file every ten seconds."""


def page_answers() -> bool:
    """Whether the page answers; that it asks for a password is fine."""
    address = f"http://127.0.0.1:{os.environ.get('STUDIO_PORT', '7860')}/"
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return int(answer.status) < 500
    except urllib.error.HTTPError as error:
        return error.code < 500
    except OSError:
        return False


def workers_live() -> bool:
    """Whether there is a worker, and each one has touched its file lately."""
    files = Path(os.environ.get("STUDIO_DATA_DIR", "/data")).glob("workers/*/alive")
    ages_s = [time.time() - path.stat().st_mtime for path in files]
    return bool(ages_s) and max(ages_s) < OLDEST_S


if __name__ == "__main__":
    check = {"web": page_answers, "worker": workers_live}[sys.argv[1]]
    sys.exit(0 if check() else 1)
