"""A tiny real watermark for tests: the last bit of blue follows a pattern."""

import numpy as np


class ParityWatermark:
    name = "parity 1"

    def embed(self, frame, frame_index):
        marked = frame.copy()
        marked[..., 2] = (marked[..., 2] & 254) | self._pattern(frame.shape)
        return marked

    def find(self, frame):
        return bool(((frame[..., 2] & 1) == self._pattern(frame.shape)).mean() > 0.9)

    def _pattern(self, shape):
        rows, columns = np.indices(shape[:2])
        return ((rows // 3 + columns // 5) & 1).astype(np.uint8)


PARITY = ParityWatermark()
