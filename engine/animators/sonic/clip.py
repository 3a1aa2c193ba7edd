"""One clip of any length: piece after piece is heard, denoised, decoded and handed on.

Memory holds one piece. Keyframes of all pieces flow into one stream, so that frames are
interpolated across a seam like everywhere else.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from threading import Event, Lock

import numpy as np
import torch
from numpy.typing import NDArray

from engine.animators.sonic.ahead import ahead
from engine.animators.sonic.frame_times import FrameTimes
from engine.animators.sonic.kept import KeptPieces
from engine.animators.sonic.picture import SonicPicture
from engine.animators.sonic.pieces import CONTEXT, Piece
from engine.animators.sonic.pipeline import SeenPicture, SonicPipeline, SonicRun, to_uint8
from engine.animators.sonic.smoothing import calm
from engine.media.audio import read_stretch

SAMPLE_RATE_HZ = 16_000
SAMPLES_PER_KEYFRAME = 1_280

DECODING_COST = 1.5
"""Decoding a window and making the frames between takes as long as one or two of its calls of the
network (0.4 s against 0.22 s on an H200 at 512 pixels, 1.4 against 1.1 at 1024); only progress
depends on it."""

FRAMES_AHEAD = 16
"""Frames that may wait for the encoder: one chunk of keyframes, 50 MB at 1024 pixels."""


@dataclass(frozen=True)
class ClipInputs:
    """What a clip is made from.

    Attributes:
        picture: the photo on the 64 grid.
        speech_wav: the sound.
        pieces: how it is cut.
        num_frames: of the video.
        fps: of the video.
        shift_s: frame k shows the state of k / fps plus this.
    """

    picture: SonicPicture
    speech_wav: Path
    pieces: tuple[Piece, ...]
    num_frames: int
    fps: Fraction
    shift_s: float = 0.0


class SonicClip:
    """Makes one clip.

    Args:
        pipeline: the stages.
        inputs: what it is made from.
        run: how; `on_progress` is told the share of the whole clip, 0-1.
        kept: pieces that earlier attempts finished.
    """

    def __init__(
        self, pipeline: SonicPipeline, inputs: ClipInputs, run: SonicRun, kept: KeptPieces
    ) -> None:
        self._pipeline, self._inputs, self._run, self._kept = pipeline, inputs, run, kept
        self._seen: SeenPicture | None = None
        self._progress = _ClipProgress(inputs, run)

    def frames(self, given_up: Event) -> Generator[NDArray[np.uint8], None, None]:
        """Yield every frame while the next ones are made: H x W x 3, uint8, RGB.

        Args:
            given_up: set when nobody wants the rest; the run's `check` looks at it.
        """
        stream = ahead(self._drawn(), FRAMES_AHEAD, given_up)
        try:
            for frame in stream:
                self._progress.frame_made()
                yield frame
        finally:
            stream.close()

    def _drawn(self) -> Generator[NDArray[np.uint8], None, None]:
        inputs = self._inputs
        times = FrameTimes(inputs.num_frames, inputs.fps, inputs.shift_s)
        stream = self._pipeline.frames_between(self._keyframes(), times, self._run)
        try:
            for frame in stream:
                yield to_uint8(frame)
        finally:
            stream.close()

    def _keyframes(self) -> Generator[torch.Tensor, None, None]:
        before: torch.Tensor | None = None
        for index, piece in enumerate(self._inputs.pieces):
            latents = self._latents(index, piece, before)
            known = latents if before is None else torch.cat([before, latents])
            calmed = calm(latents, self._face_mask(), self._run.options.smoothing, before)
            before = known[-CONTEXT:].clone()
            yield from self._pipeline.keyframes(calmed, self._run)

    def _face_mask(self) -> torch.Tensor:
        """1 x 1 x H x W, 0..1."""
        return torch.from_numpy(self._inputs.picture.mask.copy()).float()[None, None] / 255

    def _latents(self, index: int, piece: Piece, before: torch.Tensor | None) -> torch.Tensor:
        """The new keyframes of a piece."""
        height_px, width_px = self._inputs.picture.mask.shape
        shape = (piece.end - piece.start, 4, height_px // 8, width_px // 8)
        latents = self._kept.load(index, shape)
        if latents is None:
            latents = self._denoised(index, piece, before)
            self._kept.save(index, latents)
        self._progress.piece_done(piece)
        return latents

    def _denoised(self, index: int, piece: Piece, before: torch.Tensor | None) -> torch.Tensor:
        run = self._run
        if self._seen is None:
            self._seen = self._pipeline.see(self._inputs.picture, run)
        speech = self._pipeline.hear(self._samples(piece), self._seen, run)
        options = replace(run.options, seed=run.options.seed + index)
        part = replace(run, options=options, on_progress=self._progress.within(piece))
        lead = before[-piece.lead :] if before is not None else None
        made = self._pipeline.denoise_piece(
            self._seen, speech.first(piece.num_keyframes), part, lead
        )
        return made[piece.lead :].clone()

    def _samples(self, piece: Piece) -> NDArray[np.float32]:
        """The speech of a piece and what is heard around it; silence after the end."""
        start, end = piece.start - piece.lead, piece.end + piece.tail
        count = (end - start) * SAMPLES_PER_KEYFRAME
        first = start * SAMPLES_PER_KEYFRAME
        return read_stretch(self._inputs.speech_wav, SAMPLE_RATE_HZ, first, count)


class _ClipProgress:
    """Adds up calls of the network and frames made to a share of the clip; told by any thread."""

    def __init__(self, inputs: ClipInputs, run: SonicRun) -> None:
        self._options, self._tell = run.options, run.on_progress
        windows = sum(self._windows(piece) for piece in inputs.pieces)
        self._frame_cost = DECODING_COST * windows / inputs.num_frames
        self._total = windows * (run.options.num_inference_steps + DECODING_COST)
        self._called = dict.fromkeys(inputs.pieces, 0.0)
        self._decoded = 0.0
        self._lock = Lock()

    def _windows(self, piece: Piece) -> int:
        return self._options.windows.count(piece.num_keyframes)

    def within(self, piece: Piece) -> Callable[[float], None]:
        """Takes the share of a piece that is denoised."""
        return partial(self._call, piece)

    def piece_done(self, piece: Piece) -> None:
        self._call(piece, 1.0)

    def frame_made(self) -> None:
        with self._lock:
            self._decoded += self._frame_cost
            self._show()

    def _call(self, piece: Piece, share: float) -> None:
        calls = self._windows(piece) * self._options.num_inference_steps
        with self._lock:
            self._called[piece] = share * calls
            self._show()

    def _show(self) -> None:
        """Told inside the lock, so that what people see never goes back."""
        self._tell(min((sum(self._called.values()) + self._decoded) / self._total, 1.0))
