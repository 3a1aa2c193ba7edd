"""When each noise level is visited and which frames each call of the network sees. Pure rules."""

import math
from dataclasses import dataclass

import numpy as np

KARRAS_RHO = 7.0


@dataclass(frozen=True)
class NoiseSchedule:
    """Noise levels of the Euler steps.

    Attributes:
        sigmas: one more than steps, falling, the last one 0.
        timesteps: what the network is told at each step: a quarter of the logarithm of sigma.
    """

    sigmas: tuple[float, ...]
    timesteps: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.timesteps)


def karras_schedule(
    num_steps: int, sigma_min: float = 0.002, sigma_max: float = 700.0
) -> NoiseSchedule:
    """Levels evenly spaced in the seventh root of sigma, from `sigma_max` to `sigma_min`, then 0.

    Values are rounded to float32, as the tables of the published scheduler are.
    """
    ramp = np.linspace(0.0, 1.0, num_steps)
    high, low = sigma_max ** (1 / KARRAS_RHO), sigma_min ** (1 / KARRAS_RHO)
    sigmas = (high + ramp * (low - high)) ** KARRAS_RHO
    timesteps = 0.25 * np.log(sigmas)
    return NoiseSchedule(
        (*map(float, sigmas.astype(np.float32)), 0.0),
        tuple(map(float, timesteps.astype(np.float32))),
    )


@dataclass(frozen=True)
class WindowPlan:
    """How the frames of a clip are dealt to calls of the network.

    Attributes:
        length: frames in one call.
        overlap: frames that neighbouring windows share.
        shift: frames by which all windows move back from step to step, so that no frame keeps
            its place inside a window and no seam stays where it is.
    """

    length: int = 25
    overlap: int = 0
    shift: int = 7

    def count(self, num_frames: int) -> int:
        """Number of calls (each of all guidance rows) that one step takes."""
        return math.ceil(num_frames / (self.length - self.overlap))

    def frames(self, step: int, num_frames: int) -> list[list[int]]:
        """The frame numbers of every window at `step`; they wrap around the clip's end."""
        stride = self.length - self.overlap
        starts = [k * stride - self.shift * step for k in range(self.count(num_frames))]
        return [[(start + j) % num_frames for j in range(self.length)] for start in starts]
