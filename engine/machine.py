"""What this computer lets the studio use."""

import math
import os
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")


def usable_cores(cgroup: Path = CGROUP) -> int:
    """Processor cores that this process may keep busy, at least one.

    A container often sees every core of its host and may use a few: by affinity (`taskset`,
    Docker's `--cpuset-cpus`) or by a quota of time (`--cpus`, Kubernetes' limits, hosted Spaces),
    which Linux tells in `cpu.max` (cgroup 2) or `cpu.cfs_quota_us` (cgroup 1). More threads than
    that wait for each other.

    Args:
        cgroup: where the control groups are mounted.
    """
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    quota = _quota_cores(cgroup)
    return max(1, cores if quota is None else min(cores, math.ceil(quota)))


def _quota_cores(cgroup: Path) -> float | None:
    """Cores' worth of time a second, None where nothing limits it."""
    try:
        if (cgroup / "cpu.max").exists():
            quota, period = (cgroup / "cpu.max").read_text().split()
        else:
            quota = (cgroup / "cpu" / "cpu.cfs_quota_us").read_text().strip()
            period = (cgroup / "cpu" / "cpu.cfs_period_us").read_text().strip()
        return int(quota) / int(period) if quota not in {"max", "-1"} else None
    except (OSError, ValueError, ZeroDivisionError):
        return None
