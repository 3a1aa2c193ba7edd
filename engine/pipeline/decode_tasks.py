"""What a decoder can do, with what it needs for recordings loaded beforehand."""

import scipy.signal  # noqa: F401 - a second, which the first recording should not wait for

from engine.pipeline.decode import TASKS

__all__ = ["TASKS"]
