"""What spares memory changes no number: streamed weights, kept weights; and what is let go."""

import gc
import weakref

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

from benchmarks.sonic_plain import predict_plainly  # noqa: E402
from engine.animators.sonic import shelf as shelves  # noqa: E402
from engine.animators.sonic.attention import AudioContext, mask_levels  # noqa: E402
from engine.animators.sonic.memory import GroupSizes  # noqa: E402
from engine.animators.sonic.models import SonicModels  # noqa: E402
from engine.animators.sonic.shelf import WeightShelf  # noqa: E402
from engine.animators.sonic.smoothing import calm  # noqa: E402
from engine.animators.sonic.weight_files import SonicFolder  # noqa: E402
from tests.parity.tiny_networks import write_weights_folder  # noqa: E402

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def folder(fixtures, tmp_path_factory):
    return SonicFolder(write_weights_folder(fixtures, tmp_path_factory.mktemp("weights")))


@pytest.fixture
def models(folder):
    return SonicModels(folder, CPU, torch.float32)


def call(frames=3, rows=2):
    generator = torch.Generator().manual_seed(3)
    mask = torch.zeros(1, 1, 64, 64)
    mask[..., 8:40, 16:48] = 1
    noise = torch.randn((rows, frames, 8, 8, 8), generator=generator)
    picture = torch.randn((1, frames, 32), generator=generator).expand(rows, -1, -1)
    audio = torch.randn((rows, frames, 4, 32), generator=generator)
    context = AudioContext(picture, audio, mask_levels(mask, 4, CPU, torch.float32), 0.7)
    return noise, 0.4, torch.tensor([[12.5, 30.0, 20.0]]).expand(rows, -1), context


def test_streamed_weights_give_the_numbers_of_the_stock_network(models):
    given = call()
    plain = predict_plainly(models.unet(), *given)
    streamed = models.unet(is_streamed=True)

    first = streamed.predict(*given)
    streamed.sizes = GroupSizes(2, 20, 4096)
    second = streamed.predict(*given)

    assert (first - plain).abs().max().item() <= 2e-5
    assert (second - plain).abs().max().item() <= 2e-5


def test_a_stopped_call_leaves_the_stream_in_order(models):
    class Stopped(Exception):
        pass

    def stop_in_the_middle():
        calls.append(None)
        if len(calls) == 25:
            raise Stopped

    given, calls = call(), []
    streamed = models.unet(is_streamed=True)
    whole = streamed.predict(*given)

    with pytest.raises(Stopped):
        streamed.predict(*given, stop_in_the_middle)

    assert torch.equal(streamed.predict(*given), whole)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_network_is_gone_as_soon_as_nobody_holds_it(models, is_streamed):
    gc.collect()
    gc.disable()
    try:
        unet = models.unet(is_streamed=is_streamed)
        unet.predict(*call())
        seen = weakref.ref(unet.network)
        del unet
        assert seen() is None
    finally:
        gc.enable()


class TestShelf:
    def tensors(self):
        return {"weight": torch.ones(4, 4), "count": torch.tensor(3)}

    def ask(self, shelf, path, reads):
        def read():
            reads.append(path)
            return self.tensors()

        return shelf.tensors(path, torch.float16, read)

    def test_from_the_second_time_on_nothing_is_read(self, tmp_path):
        path, reads, shelf = tmp_path / "a.pth", [], WeightShelf()
        path.touch()

        asked = [self.ask(shelf, path, reads) for _ in range(4)]

        assert len(reads) == 2
        assert asked[3]["weight"].dtype is torch.float16
        assert asked[3]["count"].dtype is torch.int64
        assert shelf.kept_bytes == 4 * 4 * 2 + 8

    def test_an_exchanged_file_is_read_again(self, tmp_path):
        path, reads, shelf = tmp_path / "a.pth", [], WeightShelf()
        path.touch()
        for _ in range(3):
            self.ask(shelf, path, reads)
        import os  # noqa: PLC0415

        os.utime(path, ns=(1, 1))

        self.ask(shelf, path, reads)

        assert len(reads) == 3

    def test_scarce_memory_is_given_back(self, tmp_path, monkeypatch):
        path, reads, shelf = tmp_path / "a.pth", [], WeightShelf()
        path.touch()
        for _ in range(2):
            self.ask(shelf, path, reads)
        monkeypatch.setattr(shelves, "SPARE_BYTES", 2**60)

        shelf.make_room()

        assert shelf.kept_bytes == 0


def test_calming_leaves_the_face_alone_and_can_be_off():
    latents = torch.randn(5, 4, 8, 8)
    mask = torch.zeros(1, 1, 64, 64)
    mask[..., 16:48, 16:48] = 1

    calmed = calm(latents, mask, 1.0)

    assert torch.equal(calm(latents, mask, 0.0), latents)
    assert torch.equal(calmed[..., 2:6, 2:6], latents[..., 2:6, 2:6])
    before = (latents[1:] - latents[:-1])[..., :2, :].abs().mean()
    after = (calmed[1:] - calmed[:-1])[..., :2, :].abs().mean()
    assert after < 0.85 * before


def test_calming_goes_on_from_the_keyframes_before():
    latents = torch.randn(6, 4, 8, 8)
    mask = torch.zeros(1, 1, 64, 64)
    whole = calm(latents, mask, 1.0)

    part = calm(latents[3:], mask, 1.0, latents[:3])

    assert torch.allclose(part, whole[3:])
