"""Rooms, noise, channels and damage for a whole batch of waveforms at once, on any torch device.

Everything keeps the direct sound at its place, so labels never move. All randomness comes from the
generator that is handed in.
"""

import math

import torch

RATE = 16_000
BABBLE_SHARE, MUSIC_SHARE = 0.45, 0.15  # of the noise; the rest hisses
FFT = 1 << 17  # 4 s of sound plus a long room


class Dice:
    """Random numbers of the shapes a batch needs."""

    def __init__(self, device: torch.device, seed: int) -> None:
        self.device = device
        self.generator = torch.Generator(device=device).manual_seed(seed)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> torch.Tensor:
        drawn = torch.rand(*shape, device=self.device, generator=self.generator)
        return low + (high - low) * drawn

    def normal(self, *shape: int) -> torch.Tensor:
        return torch.randn(*shape, device=self.device, generator=self.generator)

    def chance(self, count: int, probability: float) -> torch.Tensor:
        return self.uniform(count) < probability

    def whole(self, count: int, high: int) -> torch.Tensor:
        return torch.randint(high, (count,), device=self.device, generator=self.generator)


def damaged(clean: torch.Tensor, dice: Dice, strength: float = 1.0) -> torch.Tensor:
    """Put B x L clean speech (0 where silent) through rooms, noise and channels.

    Args:
        clean: B x L waveforms, any level.
        dice: source of randomness.
        strength: share of the items that get each effect, 0 = none, 1 = as trained.

    Returns:
        B x L, the same speech as a careless person would record it.
    """
    count = len(clean)
    level = rms(clean)
    quiet = level < 1e-5
    speech = clean / level.clamp_min(1e-5) * 0.1
    wet = dice.chance(count, 0.55 * strength)
    speech = torch.where(wet[:, None], in_room(speech, dice), speech)
    mixed = speech + noise_for(speech, quiet[:, 0], dice, strength)
    mixed = torch.where(dice.chance(count, 0.7 * strength)[:, None], coloured(mixed, dice), mixed)
    mixed = overdriven(mixed, dice, strength)
    mixed = coded(mixed, dice, strength)
    gain = 10.0 ** (dice.uniform(count, 1, low=-35.0, high=12.0) / 20.0)
    mixed = mixed * torch.where(dice.chance(count, 0.6)[:, None], gain, torch.ones_like(gain))
    offset = dice.uniform(count, 1, low=-0.05, high=0.05) * dice.chance(count, 0.1)[:, None]
    mixed = torch.round((mixed + offset).clamp(-1, 1) * 32767.0) / 32767.0
    # Pure digital silence stays what it is now and then.
    return torch.where(quiet & dice.chance(count, 0.2)[:, None], clean, mixed)


def rms(x: torch.Tensor) -> torch.Tensor:
    """B x L -> B x 1, level of the parts that sound."""
    power = x.square()
    return (power.sum(1) / (power > 1e-8).sum(1).clamp_min(1600)).sqrt()[:, None]


def in_room(speech: torch.Tensor, dice: Dice) -> torch.Tensor:
    """Early reflections and an exponential tail, RT60 .1-.9 s; the direct sound stays put."""
    count, length = speech.shape
    taps = RATE
    time = torch.arange(taps, device=speech.device) / RATE
    rt60 = dice.uniform(count, 1, low=0.1, high=0.9)
    tail = dice.normal(count, taps) * torch.exp(-6.9 * time / rt60)
    tail[:, : int(0.004 * RATE)] = 0.0
    # Walls swallow the highs: a moving average of 1 to 4 samples.
    soft = 0.5 * (tail + torch.roll(tail, 1, dims=1))
    tail = torch.where(dice.chance(count, 0.5)[:, None], soft, tail)
    early = torch.zeros(count, taps, device=speech.device)
    for _ in range(10):
        delay = (dice.uniform(count, low=0.001, high=0.06) * RATE).long()
        strength = dice.uniform(count, low=-1.0, high=1.0) * torch.exp(-delay / (0.02 * RATE))
        early.scatter_add_(1, delay[:, None], strength[:, None])
    room = early + tail / tail.square().sum(1, keepdim=True).sqrt() * dice.uniform(
        count, 1, low=0.5, high=2.0
    )
    ratio = 10.0 ** (-dice.uniform(count, 1, low=-4.0, high=16.0) / 20.0)
    room = room / room.square().sum(1, keepdim=True).sqrt() * ratio
    room[:, 0] += 1.0
    return convolved(speech, room)[:, :length]


def convolved(x: torch.Tensor, taps: torch.Tensor) -> torch.Tensor:
    """B x L with B x K, by FFT."""
    return torch.fft.irfft(torch.fft.rfft(x, FFT) * torch.fft.rfft(taps, FFT), FFT)


def noise_for(
    speech: torch.Tensor, quiet: torch.Tensor, dice: Dice, strength: float
) -> torch.Tensor:
    """One kind of noise an item, at a ratio that suits the kind; beeps on top here and there."""
    count, length = speech.shape
    kind = dice.uniform(count)
    hiss = unit(hiss_like(count, length, dice))
    talk = unit(babble_of(speech, dice))
    music = unit(music_like(count, length, dice))
    picked = torch.where((kind < BABBLE_SHARE)[:, None], talk, hiss)
    picked = torch.where((kind > 1.0 - MUSIC_SHARE)[:, None], music, picked)
    both = dice.chance(count, 0.15)[:, None]
    picked = unit(torch.where(both, picked + 0.5 * hiss, picked))
    snr = torch.where(
        kind < BABBLE_SHARE,
        dice.uniform(count, low=3.0, high=20.0),
        dice.uniform(count, low=0.0, high=32.0),
    )
    # A third of the recordings is clean but for a faint floor.
    faint = dice.chance(count, 1.0 - 0.65 * strength) & ~(quiet & dice.chance(count, 0.7))
    snr = torch.where(faint, dice.uniform(count, low=35.0, high=70.0), snr)
    picked = torch.where(faint[:, None], hiss, picked)
    noise = picked * 0.1 * 10.0 ** (-snr[:, None] / 20.0)
    tones = dice.chance(count, 0.06 * strength) | (quiet & dice.chance(count, 0.4))
    beeps = beeps_like(count, length, dice) * tones[:, None]
    return noise + beeps


def unit(x: torch.Tensor) -> torch.Tensor:
    return x / x.square().mean(1, keepdim=True).sqrt().clamp_min(1e-6)


def hiss_like(count: int, length: int, dice: Dice) -> torch.Tensor:
    """Noise of any colour, with humps, steady or swelling."""
    bins = length // 2 + 1
    octave = torch.log2(torch.linspace(0, 8000, bins, device=dice.device).clamp_min(40.0) / 1000.0)
    shape = octave * dice.uniform(count, 1, low=-9.0, high=3.0)
    for _ in range(3):
        centre, width = (
            dice.uniform(count, 1, low=-4, high=3),
            dice.uniform(count, 1, low=0.2, high=1.5),
        )
        shape = shape + dice.uniform(count, 1, low=-6, high=15) * torch.exp(
            -(((octave - centre) / width) ** 2)
        )
    spectrum = torch.complex(dice.normal(count, bins), dice.normal(count, bins))
    noise = torch.fft.irfft(spectrum * 10.0 ** (shape / 20.0), length)
    return noise * swelling(count, length, dice)


def swelling(count: int, length: int, dice: Dice) -> torch.Tensor:
    """B x L gain: steady, coming and going at random, or beating several times a second."""
    knots = 24
    curve = torch.exp(dice.normal(count, 1, knots) * 0.9)
    curve = torch.nn.functional.interpolate(curve, length, mode="linear")[:, 0]
    time = torch.arange(length, device=dice.device) / RATE
    turns = dice.uniform(count, 1, low=0.5, high=12.0) * time + dice.uniform(count, 1)
    depth = dice.uniform(count, 1, low=0.3, high=1.0)
    beating = 1.0 + depth * torch.sin(2 * math.pi * turns)
    kind = dice.uniform(count)[:, None]
    gain = torch.where(kind < 0.3, curve, torch.ones_like(curve))
    return torch.where(kind > 0.7, beating, gain)


def babble_of(speech: torch.Tensor, dice: Dice) -> torch.Tensor:
    """Other items of the batch talking at once, 2 to 8 voices."""
    total = torch.zeros_like(speech)
    count, length = speech.shape
    for k in range(8):
        order = torch.randperm(count, device=speech.device, generator=dice.generator)
        joins = dice.chance(count, 1.0 if k < 2 else 0.6)[:, None]
        shift = int(dice.whole(1, length))
        gain = 10.0 ** (dice.uniform(count, 1, low=-10.0, high=3.0) / 20.0)
        total = total + torch.roll(speech[order], shift, dims=1) * gain * joins
    return total


def music_like(count: int, length: int, dice: Dice) -> torch.Tensor:
    """Chords of decaying harmonic notes over a beat, a quarter of a second to a second apart."""
    time = torch.arange(length, device=dice.device) / RATE
    total = torch.zeros(count, length, device=dice.device)
    beat = dice.uniform(count, 1, low=0.2, high=1.0)
    root = 55.0 * 2.0 ** dice.uniform(count, 1, low=0.0, high=3.5)
    which = torch.floor(time / beat).long()
    since = time - which * beat
    # Each voice steps through its own random scale degrees; 16 are enough for four seconds.
    for voice in range(4):
        steps = dice.whole(count * 24, 13).view(count, 24)
        degree = torch.gather(steps, 1, which.clamp_max(23))
        pitch = root * 2.0 ** (degree / 12.0 + voice % 3)
        phase = torch.cumsum(pitch / RATE, dim=1) * (2 * math.pi)
        envelope = torch.exp(-since / dice.uniform(count, 1, low=0.08, high=1.5))
        fall = dice.uniform(count, 1, low=0.3, high=0.9)
        for harmonic in range(1, 6):
            total = total + fall**harmonic * torch.sin(harmonic * phase) * envelope
    drums = dice.normal(count, length) * torch.exp(-since / 0.03) * dice.chance(count, 0.5)[:, None]
    return total + drums * dice.uniform(count, 1, low=0.3, high=2.5)


def beeps_like(count: int, length: int, dice: Dice) -> torch.Tensor:
    """Two tones, pure or buzzing, that start and stop hard; some last the whole time."""
    time = torch.arange(length, device=dice.device) / RATE
    total = torch.zeros(count, length, device=dice.device)
    for _ in range(2):
        pitch = 40.0 * 2.0 ** dice.uniform(count, 1, low=0.0, high=6.3)
        start = dice.uniform(count, 1, low=-2.0, high=length / RATE)
        lasting = 0.05 * 2.0 ** dice.uniform(count, 1, low=0.0, high=7.0)
        on = (time >= start) & (time < start + lasting)
        drift = (
            1.0
            + dice.uniform(count, 1, low=-0.03, high=0.03) * dice.chance(count, 0.3)[:, None] * time
        )
        phase = 2 * math.pi * pitch * drift * time
        buzz = torch.sin(phase) + 0.5 * torch.sin(2 * phase) + 0.35 * torch.sin(3 * phase)
        tone = torch.where(dice.chance(count, 0.4)[:, None], buzz, torch.sin(phase))
        total = total + tone * on * dice.uniform(count, 1, low=0.01, high=0.3)
    return total


def coloured(x: torch.Tensor, dice: Dice) -> torch.Tensor:
    """Microphone and line: tilt, humps, and for some a telephone's or an old file's band."""
    count, length = x.shape
    bins = FFT // 2 + 1
    hz = torch.linspace(0, 8000, bins, device=x.device)
    octave = torch.log2(hz.clamp_min(40.0) / 1000.0)
    gain = octave * dice.uniform(count, 1, low=-4.0, high=4.0)
    for _ in range(3):
        centre, width = (
            dice.uniform(count, 1, low=-4, high=3),
            dice.uniform(count, 1, low=0.3, high=1.5),
        )
        gain = gain + dice.uniform(count, 1, low=-10, high=8) * torch.exp(
            -(((octave - centre) / width) ** 2)
        )
    low = torch.where(
        dice.chance(count, 0.35)[:, None], dice.uniform(count, 1, low=60, high=400), 20.0
    )
    high = torch.where(
        dice.chance(count, 0.35)[:, None], dice.uniform(count, 1, low=2800, high=7000), 9000.0
    )
    band = torch.sigmoid((hz - low) / 25.0) * torch.sigmoid((high - hz) / 60.0)
    shaped = torch.fft.rfft(x, FFT) * (10.0 ** (gain / 20.0) * band)
    return torch.fft.irfft(shaped, FFT)[:, :length]


def overdriven(x: torch.Tensor, dice: Dice, strength: float) -> torch.Tensor:
    """Clipping and soft saturation."""
    count = len(x)
    peak = x.abs().amax(1, keepdim=True).clamp_min(1e-6)
    limit = peak * dice.uniform(count, 1, low=0.12, high=0.8)
    clipped = torch.clamp(x, -limit, limit)
    soft = torch.tanh(x / limit) * limit
    how = dice.uniform(count)[:, None] / max(strength, 1e-6)
    return torch.where(how < 0.10, clipped, torch.where(how < 0.16, soft, x))


def coded(x: torch.Tensor, dice: Dice, strength: float) -> torch.Tensor:
    """8-bit companding, or the holes a low bit rate leaves in the spectrum."""
    count, length = x.shape
    how = dice.uniform(count)[:, None] / max(strength, 1e-6)
    peak = x.abs().amax(1, keepdim=True).clamp_min(1e-6)
    scaled = x / peak
    mu = 255.0
    pressed = torch.sign(scaled) * torch.log1p(mu * scaled.abs()) / math.log1p(mu)
    pressed = torch.round(pressed * 127.0) / 127.0
    companded = torch.sign(pressed) * (torch.expm1(pressed.abs() * math.log1p(mu)) / mu) * peak
    window = torch.hann_window(512, device=x.device)
    frames = torch.stft(x, 512, 256, window=window, return_complex=True)
    power = frames.abs()
    smooth = torch.nn.functional.avg_pool2d(power[:, None], (15, 1), 1, (7, 0))[:, 0]
    bar = smooth * dice.uniform(count, 1, 1, low=0.3, high=1.1)
    holed = torch.istft(frames * (power > bar), 512, 256, window=window, length=length)
    return torch.where(how < 0.08, companded, torch.where(how < 0.22, holed, x))
