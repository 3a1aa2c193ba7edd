"""What the animator says about weights that are not what they should be."""

import pickle

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

from safetensors.torch import load_file, save_file  # noqa: E402

from engine.animators.sonic.models import SonicModels  # noqa: E402
from engine.animators.sonic.weight_files import SonicFolder, read_tensors  # noqa: E402
from engine.errors import ErrorCode, InputError  # noqa: E402
from engine.messages import describe  # noqa: E402
from engine.weights.catalog import SONIC  # noqa: E402
from engine.weights.convert import convert_set  # noqa: E402
from engine.weights.store import require_whole  # noqa: E402
from tests.parity.tiny_networks import SVD, write_weights_folder  # noqa: E402


@pytest.fixture(scope="module")
def whole(fixtures, tmp_path_factory):
    return write_weights_folder(fixtures, tmp_path_factory.mktemp("whole"))


@pytest.fixture
def folder(whole, tmp_path):
    """A copy whose files may be replaced one by one (links, so that it costs nothing)."""
    root = tmp_path / "weights"
    for path in whole.rglob("*"):
        copy = root / path.relative_to(whole)
        if path.is_dir():
            copy.mkdir(parents=True)
        else:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.symlink_to(path)
    return root


def replaced(folder, name, write):
    path = folder / name
    path.unlink()
    write(path)
    return path


def refusal(folder, build):
    models = SonicModels(SonicFolder(folder), torch.device("cpu"), torch.float32)
    with pytest.raises(InputError) as caught:
        getattr(models, build)()
    sentence = describe(caught.value.code, caught.value.values).sentence
    assert "?" not in sentence
    return caught.value.code, sentence


def test_every_network_loads_from_the_public_layout(folder):
    models = SonicModels(SonicFolder(folder), torch.device("cpu"), torch.float32)

    built = [models.unet().network, models.autoencoder(), models.image_encoder()]
    built += [models.token_head(), models.bucket_head(), models.flow_net()]

    for network in built:
        assert not [name for name, weight in network.named_parameters() if weight.is_meta]
        assert not [name for name, buffer in network.named_buffers() if buffer.is_meta]
        assert not network.training
    assert models.ears().states(torch.zeros(16000).numpy()).shape[0] == 50


def test_halves_become_the_type_that_was_asked_for(folder):
    tensors = torch.load(folder / "Sonic/unet.pth", weights_only=True)
    halves = {key: tensor.half() for key, tensor in tensors.items()}
    replaced(folder, "Sonic/unet.pth", lambda path: torch.save(halves, path))

    unet = SonicModels(SonicFolder(folder), torch.device("cpu"), torch.bfloat16).unet()

    assert {weight.dtype for weight in unet.network.parameters()} == {torch.bfloat16}


def test_a_network_without_its_speech_layers_is_another_network(folder):
    tensors = torch.load(folder / "Sonic/unet.pth", weights_only=True)
    plain = {key: tensor for key, tensor in tensors.items() if "_ip." not in key}
    replaced(folder, "Sonic/unet.pth", lambda path: torch.save(plain, path))

    code, sentence = refusal(folder, "unet")

    assert code is ErrorCode.WEIGHTS_WRONG
    assert f"{len(tensors) - len(plain)} of {len(tensors)} tensors are not in it" in sentence


def test_a_file_of_another_size_is_named(folder):
    tensors = torch.load(folder / "Sonic/audio2token.pth", weights_only=True)
    tensors["proj2.bias"] = torch.zeros(3)
    replaced(folder, "Sonic/audio2token.pth", lambda path: torch.save(tensors, path))

    code, sentence = refusal(folder, "token_head")

    assert code is ErrorCode.WEIGHTS_WRONG
    assert "proj2.bias is 3 instead of" in sentence


def test_two_files_exchanged_are_noticed(folder, whole):
    replaced(
        folder,
        "Sonic/audio2bucket.pth",
        lambda path: path.symlink_to(whole / "Sonic/audio2token.pth"),
    )
    replaced(
        folder,
        "Sonic/audio2token.pth",
        lambda path: path.symlink_to(whole / "Sonic/audio2bucket.pth"),
    )

    assert refusal(folder, "token_head")[0] is ErrorCode.WEIGHTS_WRONG
    assert refusal(folder, "bucket_head")[0] is ErrorCode.WEIGHTS_WRONG


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("Sonic/unet.pth", "unet"),
        ("RIFE/flownet.pkl", "flow_net"),
        (f"{SVD}/vae/diffusion_pytorch_model.fp16.safetensors", "autoencoder"),
        (f"{SVD}/image_encoder/config.json", "image_encoder"),
        ("whisper-tiny/model.safetensors", "ears"),
    ],
)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_file_cut_short_is_damaged(folder, whole, name, build, share):
    content = (whole / name).read_bytes()
    replaced(folder, name, lambda path: path.write_bytes(content[: int(len(content) * share)]))

    code, sentence = refusal(folder, build)

    assert code is ErrorCode.WEIGHTS_DAMAGED
    assert name.rsplit("/", 1)[-1] in sentence


def test_a_file_with_a_spoiled_middle_is_damaged(folder, whole):
    content = bytearray((whole / "Sonic/audio2token.pth").read_bytes())
    start = content.index(b"data.pkl") + 200
    content[start : start + 400] = bytes(400)
    replaced(folder, "Sonic/audio2token.pth", lambda path: path.write_bytes(content))

    assert refusal(folder, "token_head")[0] is ErrorCode.WEIGHTS_DAMAGED


class Trap:
    """What a hostile pickle does when it is opened."""

    def __init__(self, mark):
        self.mark = str(mark)

    def __reduce__(self):
        return open, (self.mark, "w")


@pytest.mark.parametrize("archive", [True, False], ids=["archive", "pickle"])
def test_code_inside_a_weights_file_is_never_run(folder, tmp_path, archive):
    mark = tmp_path / "mark"
    content = {"proj1.weight": Trap(mark)}
    if archive:
        replaced(folder, "Sonic/audio2token.pth", lambda path: torch.save(content, path))
    else:
        replaced(
            folder, "Sonic/audio2token.pth", lambda path: path.write_bytes(pickle.dumps(content, 2))
        )

    code, _ = refusal(folder, "token_head")

    assert code is ErrorCode.WEIGHTS_DAMAGED
    assert not mark.exists()


def test_older_pickles_and_converted_files_are_accepted(folder, whole):
    tensors = torch.load(whole / "RIFE/flownet.pkl", weights_only=True)
    replaced(
        folder,
        "RIFE/flownet.pkl",
        lambda path: torch.save(tensors, path, _use_new_zipfile_serialization=False),
    )
    heads = torch.load(whole / "Sonic/audio2token.pth", weights_only=True)
    (folder / "Sonic/audio2token.pth").unlink()
    save_file(heads, folder / "Sonic/audio2token.safetensors")
    models = SonicModels(SonicFolder(folder), torch.device("cpu"), torch.float32)

    flow, head = models.flow_net().state_dict(), models.token_head().state_dict()

    assert all(torch.equal(flow[key.removeprefix("module.")], tensors[key]) for key in tensors)
    assert all(torch.equal(head[key], heads[key]) for key in heads)


def test_weights_do_not_hang_on_the_file(folder):
    """A mapped file that is replaced later must not change a loaded network."""
    path = folder / "whisper-tiny/model.safetensors"
    tensors = load_file(path)
    replaced(folder, "whisper-tiny/model.safetensors", lambda new: save_file(tensors, new))
    models = SonicModels(SonicFolder(folder), torch.device("cpu"), torch.float32)
    ears = models.ears()
    sound = torch.sin(torch.arange(16000.0) / 20).numpy()
    before = ears.states(sound)
    with path.open("r+b") as stream:
        stream.seek(path.stat().st_size // 2)
        stream.write(bytes(path.stat().st_size // 2))

    assert torch.equal(ears.states(sound), before)


def test_reading_gives_plain_tensors(folder):
    tensors = read_tensors((folder / "Sonic/audio2bucket.pth").resolve())

    assert {type(tensor) for tensor in tensors.values()} == {torch.Tensor}


def test_pickles_become_safetensors_once_and_load_the_same(folder, whole):
    before = SonicFolder(whole).tensors("Sonic/audio2token.pth")

    done = convert_set(SONIC, folder)
    again = convert_set(SONIC, folder)

    assert [item.source.name for item in done] == [
        "flownet.pkl",
        "audio2bucket.pth",
        "audio2token.pth",
        "unet.pth",
    ]
    assert again == []
    assert not any(folder.rglob("*.p[tk][hl]"))
    require_whole("sonic", folder)
    after = SonicFolder(folder).tensors("Sonic/audio2token.pth")
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())
    SonicModels(SonicFolder(folder), torch.device("cpu"), torch.float32).flow_net()


def test_pickles_can_be_kept_beside_what_was_made_of_them(folder):
    done = convert_set(SONIC, folder, is_source_kept=True)

    assert all(item.source.is_file() and item.target.is_file() for item in done)


def test_a_pickle_with_code_is_not_converted_and_not_removed(folder):
    path = replaced(
        folder, "Sonic/unet.pth", lambda place: place.write_bytes(pickle.dumps(Exception))
    )

    with pytest.raises(InputError) as caught:
        convert_set(SONIC, folder)

    assert caught.value.code is ErrorCode.WEIGHTS_DAMAGED
    assert path.is_file()
    assert not path.with_suffix(".safetensors").exists()
    assert not list(folder.rglob("*.part"))
