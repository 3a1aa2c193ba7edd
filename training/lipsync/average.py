"""Mean of two nets that were trained one from the other: as good as each at what it does best.

`python -m training.lipsync.average A.pt B.pt OUT.pt`
"""

import argparse
from pathlib import Path

from training.lipsync.net import LipNet, load, save


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    first, second = load(str(arguments.first)), load(str(arguments.second))
    other = second.state_dict()
    mean = {
        name: (value + other[name]) / 2 if value.is_floating_point() else value
        for name, value in first.state_dict().items()
    }
    net = LipNet(first.shape)
    net.load_state_dict(mean)
    save(net.eval(), str(arguments.out))


if __name__ == "__main__":
    main()
