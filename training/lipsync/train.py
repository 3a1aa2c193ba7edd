"""Train the listening net; a GPU needs minutes, a plain CPU hours.

`python -m training.lipsync.train CORPUS OUT.pt --steps 8000 --valid HELD_OUT`

Waveforms lie on the device as 16-bit numbers; crops, speed changes, rooms, noise, channels and
features are made there, so every step hears the corpus anew. What is kept is the running mean of
the weights.
"""

import argparse
import json
import math
import os
import time
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from engine.lipsync.curves import VISEMES
from engine.lipsync.from_timings import targets_from_timings
from engine.lipsync.visemes import split_symbols
from training.lipsync.augment import Dice, damaged
from training.lipsync.corpus import SAMPLE_RATE_HZ, Timed, Utterance, read_shard, shards_in
from training.lipsync.mel import STRETCHES, MelFrontEnd
from training.lipsync.metrics import Heard, closure_of, scores, truth_of
from training.lipsync.net import SYMBOLS, LipNet, NetShape, load, save

LABEL_RATE_HZ = 100
SYMBOL_INDEX = {symbol: k for k, symbol in enumerate(SYMBOLS)}
# How often a source is drawn, against the share its length would give it.
SOURCE_WEIGHT = {
    "espeak": 0.5, "hibari": 1.2, "kokoro": 4.0, "festival": 1.0, "flite": 1.2, "recording": 3.0,
    "english": 6.0, "game": 2.5,
}  # fmt: skip
VALUE_WEIGHT = (2.0, 1.0, 1.0, 3.0, 1.5)
CLASS_WEIGHT = {"PP": 1.6, "FF": 1.5, "TH": 1.2, "CH": 1.1}


@dataclass(frozen=True)
class Labels:
    """Truth of one batch: B x T classes, symbols, B x T x 5 values."""

    viseme: torch.Tensor
    symbol: torch.Tensor
    values: torch.Tensor


@dataclass(frozen=True)
class Prepared:
    """One shard as arrays: sound, labels at 100 Hz, and a row (samples, labels) an utterance."""

    samples: np.ndarray
    visemes: np.ndarray
    symbols: np.ndarray
    values: np.ndarray
    rows: np.ndarray
    sources: list[str]


def prepare(path: Path) -> Prepared:
    """Read a shard and work out its truth."""
    samples, visemes, symbols, values, rows, sources = [], [], [], [], [], []
    for item in read_shard(path):
        if item.duration_s <= 0.5:
            continue
        timed = [Timed(*phoneme) for phoneme in item.phonemes]
        truth = targets_from_timings(timed, item.duration_s, LABEL_RATE_HZ)  # type: ignore[arg-type]
        samples.append(item.samples)
        visemes.append(truth.viseme.astype(np.uint8))
        symbols.append(symbols_of(timed, len(truth.viseme)))
        parts = (truth.jaw, truth.wide, truth.pucker, truth.close, truth.fv)
        values.append(np.round(np.stack(parts, 1) * 127).astype(np.int8))
        rows.append((len(item.samples), len(truth.viseme)))
        sources.append(item.source)
    joined = [np.concatenate(part) for part in (samples, visemes, symbols, values)]
    return Prepared(*joined, np.array(rows), sources)


class Corpus:
    """All utterances on one device, and crops of them."""

    def __init__(
        self, paths: list[Path], device: torch.device, without: frozenset[str] = frozenset()
    ) -> None:
        with get_context("spawn").Pool(min(len(paths), os.cpu_count() or 1, 16)) as pool:
            shards = pool.map(prepare, paths, chunksize=1)
        self.device = device
        self.samples = torch.from_numpy(np.concatenate([s.samples for s in shards])).to(device)
        self.visemes = torch.from_numpy(np.concatenate([s.visemes for s in shards])).to(device)
        self.symbols = torch.from_numpy(np.concatenate([s.symbols for s in shards])).to(device)
        self.values = torch.from_numpy(np.concatenate([s.values for s in shards])).to(device)
        length = np.concatenate([s.rows for s in shards])
        begin = np.cumsum(length, axis=0) - length
        rows = np.stack([begin[:, 0], length[:, 0], begin[:, 1], length[:, 1]], axis=1)
        self.rows = torch.from_numpy(rows).to(device)
        sources = [name for s in shards for name in s.sources]
        self.hours: dict[str, float] = {}
        for name, count in zip(sources, length[:, 0], strict=True):
            self.hours[name] = self.hours.get(name, 0.0) + float(count) / SAMPLE_RATE_HZ / 3600
        share = {name: 0.0 if name in without else SOURCE_WEIGHT[name] for name in self.hours}
        weight = np.array([share[name] for name in sources]) * length[:, 0]
        # The draw takes at most 2^24 categories and single precision: keep the numbers small.
        self.weight = torch.from_numpy(weight / weight.sum()).float().to(device)

    def crops(self, count: int, seconds: float, dice: Dice) -> tuple[torch.Tensor, Labels]:
        """Speech at changed speeds with gaps, and its truth at 50 Hz.

        One utterance follows another after a pause, so that beginnings, ends and changes of voice
        are heard too; 6 % of the crops hold no speech at all.
        """
        first, second = (
            torch.multinomial(self.weight, count, replacement=True, generator=dice.generator)
            for _ in range(2)
        )
        speed = torch.exp(dice.uniform(count, low=-0.2, high=0.2))
        speed = torch.where(dice.chance(count, 0.2), torch.ones_like(speed), speed)
        long_s = self.rows[first, 1] / SAMPLE_RATE_HZ
        start_s = dice.uniform(count) * (long_s + 0.2).clamp_min(1.0) - 0.8
        gap_s = dice.uniform(count, low=0.0, high=1.0).square() * 1.5
        mute = dice.chance(count, 0.06)
        grid = torch.arange(int(seconds * SAMPLE_RATE_HZ), device=self.device) / SAMPLE_RATE_HZ
        place = start_s[:, None] + grid * speed[:, None]
        later = place - (long_s + gap_s)[:, None]
        sound = self._sound(first, place) + self._sound(second, later)
        sound = sound * (~mute)[:, None]
        ticks = torch.arange(int(seconds * 50), device=self.device) / 50.0
        place = start_s[:, None] + ticks * speed[:, None]
        later = place - (long_s + gap_s)[:, None]
        here, there = self._labels(first, place, mute), self._labels(second, later, mute)
        # Without a gap both may claim one tick; classes must not add up there.
        free = place > long_s[:, None]
        return sound, Labels(
            torch.where(free, there.viseme, here.viseme),
            torch.where(free, there.symbol, here.symbol),
            torch.where(free[..., None], there.values, here.values),
        )

    def _sound(self, which: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        """Linear interpolation at `place` seconds, silence outside."""
        position = place * SAMPLE_RATE_HZ
        whole = torch.floor(position)
        share = position - whole
        begin, length = self.rows[which, 0][:, None], self.rows[which, 1][:, None]
        index = whole.long()
        inside = (index >= 0) & (index < length - 1)
        index = begin + index.clamp(min=0).minimum(length - 2)
        left, right = self.samples[index].float(), self.samples[index + 1].float()
        return (left + (right - left) * share) / 32768.0 * inside

    def _labels(self, which: torch.Tensor, place: torch.Tensor, mute: torch.Tensor) -> Labels:
        """Nearest truth at `place` seconds, silence (all zero) outside."""
        begin, length = self.rows[which, 2][:, None], self.rows[which, 3][:, None]
        index = torch.round(place * LABEL_RATE_HZ).long()
        inside = (index >= 0) & (index < length) & ~mute[:, None]
        index = begin + index.clamp(min=0).minimum(length - 1)
        return Labels(
            self.visemes[index].long() * inside,
            self.symbols[index].long() * inside,
            self.values[index].float() / 127.0 * inside[..., None],
        )


def symbols_of(timed: list[Timed], count: int) -> np.ndarray:
    """Class of the helper head at 100 Hz: which letter of IPA is spoken."""
    row = np.zeros(count, np.uint8)
    for phoneme in timed:
        letters = split_symbols(phoneme.ipa)
        if not letters:
            continue
        edges = np.linspace(phoneme.start_s, phoneme.end_s, len(letters) + 1) * LABEL_RATE_HZ
        for k, letter in enumerate(letters):
            row[round(edges[k]) : round(edges[k + 1])] = SYMBOL_INDEX.get(letter, 0)
    return row


def hidden_in_part(features: torch.Tensor, dice: Dice) -> torch.Tensor:
    """Blank a few bands or a few frames, so that no single cue is trusted."""
    count, frames, bands = features.shape
    for axis, width, chance in ((bands, 9, 0.3), (frames, 9, 0.3), (frames, 5, 0.3)):
        start = dice.whole(count, axis)[:, None]
        size = dice.whole(count, width)[:, None] * dice.chance(count, chance)[:, None]
        index = torch.arange(axis, device=features.device)
        hit = (index >= start) & (index < start + size)
        features = features * ~(hit[:, None, :] if axis == bands else hit[:, :, None])
    return features


def loss_of(
    outputs: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    labels: Labels,
    weight: torch.Tensor,
    taught: tuple[torch.Tensor, torch.Tensor] | None = None,
    share: float = 0.0,
    jaw_share: float = 0.0,
) -> torch.Tensor:
    """Distance from the truth and, for `share` of it, from what a teacher heard.

    Args:
        outputs: logits B x T x 15, values B x T x 5, symbols.
        labels: the truth.
        weight: of each class.
        taught: posteriors and values of the teacher.
        share: of the teacher, 0..1.
        jaw_share: weight of the jaw's correlation with the truth.
    """
    logits, values, helper = outputs
    classes = functional.cross_entropy(
        logits.flatten(0, 1).float(), labels.viseme.flatten(), weight, label_smoothing=0.05
    )
    wanted = labels.values
    if taught is not None:
        told = -(taught[0] * torch.log_softmax(logits.float(), 2) * weight).sum(2).mean()
        classes = (1.0 - share) * classes + share * told
        wanted = torch.lerp(wanted, taught[1], share)
    symbols = functional.cross_entropy(helper.flatten(0, 1).float(), labels.symbol.flatten())
    apart = functional.smooth_l1_loss(values.float(), wanted, reduction="none", beta=0.1)
    scale = torch.tensor(VALUE_WEIGHT, device=apart.device)
    loss = classes + 3.0 * (apart * scale).mean() + 0.3 * symbols
    return loss + jaw_share * jaw_unlike(values, labels.values) if jaw_share else loss


def jaw_unlike(values: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """1 - correlation of the jaw with the wanted one within a crop, mean over crops that speak."""
    said, meant = (
        x[..., 0].float() - x[..., 0].float().mean(1, keepdim=True) for x in (values, wanted)
    )
    spread = meant.square().sum(1)
    alike = (said * meant).sum(1) / (said.square().sum(1) * spread + 1e-4).sqrt()
    speaks = spread > 1.0
    return ((1.0 - alike) * speaks).sum() / speaks.sum().clamp_min(1)


def heard_clean(teacher: LipNet, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Posteriors and values of a teacher."""
    logits, values = teacher(features)
    return torch.softmax(logits, 2), values


class Average:
    """Running mean of weights and statistics."""

    def __init__(self, net: LipNet, decay: float) -> None:
        self.decay = decay
        self.kept = {name: value.detach().clone() for name, value in net.state_dict().items()}
        self.seen = 0

    def update(self, net: LipNet) -> None:
        self.seen += 1
        decay = min(self.decay, self.seen / (self.seen + 10.0))
        for name, value in net.state_dict().items():
            if value.is_floating_point():
                self.kept[name].lerp_(value, 1.0 - decay)
            else:
                self.kept[name].copy_(value)


@torch.no_grad()
def listen(net: LipNet, mel: MelFrontEnd, item: Utterance, device: torch.device) -> Heard:
    """Run a net over one clip."""
    truth, lips = truth_of(item.phonemes, item.duration_s)
    count = len(truth.viseme)
    sound = torch.from_numpy(item.samples.astype(np.float32) / 32768.0).to(device)
    logits, values = net(mel(sound[None], 2 * count))
    posteriors = torch.softmax(logits[0].float(), 1).cpu().numpy()[:count]
    return Heard(
        posteriors, values[0, :count, 0].float().cpu().numpy(), closure_of(posteriors), truth, lips
    )


def validate(
    net: LipNet, sets: dict[str, list[Utterance]], device: torch.device
) -> dict[str, dict[str, float]]:
    """Figures by set, and over all sets together."""
    net.eval()
    mel = MelFrontEnd(device)
    heard = {
        name: [listen(net, mel, item, device) for item in items] for name, items in sets.items()
    }
    found = {name: scores(clips) for name, clips in heard.items()}
    found["all"] = scores([clip for clips in heard.values() for clip in clips])
    net.train()
    return found


def show(found: dict[str, dict[str, float]]) -> str:
    return "\n".join(
        f"  {name:12s} " + " ".join(f"{key} {value:.3f}" for key, value in row.items())
        for name, row in found.items()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--valid", type=Path, help="folder of held-out shards, one set a shard")
    parser.add_argument("--steps", type=int, default=8000)
    parser.add_argument(
        "--minutes", type=float, default=1e9, help="stop, annealed, after this long"
    )
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--channels", type=int, default=192)
    parser.add_argument("--dilations", type=int, nargs="+", default=[1, 2, 4, 8, 1, 2, 4])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=Path, help="go on from this net")
    parser.add_argument("--teacher", type=Path, help="a net that hears the undamaged sound")
    parser.add_argument("--teacher-share", type=float, default=0.6)
    parser.add_argument("--jaw-share", type=float, default=0.0, help="weight of the jaw's r")
    parser.add_argument("--without", nargs="*", default=[], help="sources to leave out")
    parser.add_argument("--report", type=int, default=500)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    torch.manual_seed(arguments.seed)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    began = time.monotonic()
    paths = [path for folder in arguments.corpus for path in shards_in(folder)]
    corpus = Corpus(paths, device, frozenset(arguments.without))
    lengths = corpus.hours
    print(f"hours: {lengths}; read in {time.monotonic() - began:.0f} s", flush=True)
    sets = (
        {path.stem: list(read_shard(path)) for path in shards_in(arguments.valid)}
        if arguments.valid
        else {}
    )
    net = LipNet(NetShape(arguments.channels, tuple(arguments.dilations))).to(device)
    if arguments.start:
        net.load_state_dict(load(str(arguments.start)).state_dict())
    teacher = load(str(arguments.teacher)).to(device) if arguments.teacher else None
    average = Average(net, 0.9993)
    optimiser = torch.optim.AdamW(net.parameters(), arguments.rate, weight_decay=0.01)
    weight = torch.tensor([CLASS_WEIGHT.get(name, 1.0) for name in VISEMES], device=device)
    dice = Dice(device, arguments.seed)
    mel = MelFrontEnd(device)
    frames = int(arguments.seconds * 100)
    started = time.monotonic()
    running = 0.0
    step = 0
    while step < arguments.steps:
        spent = (time.monotonic() - started) / 60.0
        done = max(step / arguments.steps, spent / arguments.minutes)
        if done >= 1.0:
            break
        warm = min(1.0, (step + 1) / 300)
        for group in optimiser.param_groups:
            group["lr"] = arguments.rate * warm * max(0.5 * (1 + math.cos(math.pi * done)), 0.002)
        with torch.no_grad():
            sound, labels = corpus.crops(arguments.batch, arguments.seconds, dice)
            features = mel(damaged(sound, dice), frames, dice.whole(len(sound), len(STRETCHES)))
            features = hidden_in_part(features, dice)
            taught = heard_clean(teacher, mel(sound, frames)) if teacher else None
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            outputs = net.with_helper(features)
        loss = loss_of(
            outputs, labels, weight, taught, arguments.teacher_share, arguments.jaw_share
        )
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 2.0)
        optimiser.step()
        average.update(net)
        step += 1
        if step % 50 == 0:
            running = float(loss.detach())
        if step % arguments.report == 0:
            print(f"step {step} loss {running:.3f} {time.monotonic() - started:.0f} s", flush=True)
    kept = LipNet(net.shape).to(device)
    kept.load_state_dict(average.kept)
    save(kept.cpu().eval(), str(arguments.out))
    print(f"{step} steps in {time.monotonic() - started:.0f} s, loss {running:.3f}", flush=True)
    if sets:
        found = validate(kept.to(device), sets, device)
        print(show(found), flush=True)
        arguments.out.with_suffix(".json").write_text(
            json.dumps({"steps": step, "hours": lengths, "figures": found})
        )


if __name__ == "__main__":
    main()
