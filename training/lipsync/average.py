"""Weighted mean of nets that were trained one from the other: as good as each at what it does best.

`python -m training.lipsync.average A.pt=1 B.pt=2 OUT.pt`; a weight of 1 may be left out.
"""

import argparse
from pathlib import Path

from training.lipsync.net import LipNet, load, save


def mean_of(nets: list[tuple[LipNet, float]]) -> LipNet:
    """A net whose every number is the weighted mean of theirs."""
    total = sum(share for _, share in nets)
    net = LipNet(nets[0][0].shape)
    parts = [(other.state_dict(), share / total) for other, share in nets]
    net.load_state_dict(
        {
            name: sum(kept[name] * share for kept, share in parts)
            if value.is_floating_point()
            else value
            for name, value in parts[0][0].items()
        }
    )
    return net.eval()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nets", nargs="+")
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    named = [entry.partition("=") for entry in arguments.nets]
    nets = [(load(path), float(share or 1)) for path, _, share in named]
    save(mean_of(nets), str(arguments.out))


if __name__ == "__main__":
    main()
