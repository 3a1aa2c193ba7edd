"""How much longer limits of time are here: they are meant for an ordinary, idle machine."""

import os
import time

USUAL_S = 0.065
"""A million additions in a loop, on an ordinary machine."""

MOST = 6.0
PROCESSES_SHARE = 1.5
"""Several test processes at once use more than the cores there are."""


def _slowness() -> float:
    """Of this machine against an ordinary one, 1 to `MOST`."""
    took_s = []
    for _ in range(3):
        start, total = time.perf_counter(), 0
        for number in range(1_000_000):
            total += number
        took_s.append(time.perf_counter() - start)
    share = PROCESSES_SHARE if "PYTEST_XDIST_WORKER" in os.environ else 1.0
    return min(max(sorted(took_s)[1] / USUAL_S * share, 1.0), MOST)


PATIENCE = float(os.environ.get("STUDIO_TEST_PATIENCE") or _slowness())
"""Factor of every limit of time in the tests."""
