"""Telling a whole weights file from what people really have instead."""

import json
import pickle
import zipfile

import pytest

from engine.errors import ErrorCode, InputError
from engine.messages import describe
from engine.weights.catalog import CATALOG, SONIC, find_set
from engine.weights.file_check import find_fault
from engine.weights.store import (
    FetchedFile,
    examine,
    hash_file,
    locate,
    require_whole,
    verify,
    write_lock,
)


def safetensors_bytes(size=16):
    header = json.dumps({"a": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}})
    return len(header).to_bytes(8, "little") + header.encode() + bytes(size)


def fill(folder):
    """Something whole at every place of the set."""
    for file in SONIC.files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".json":
            path.write_text("{}")
        elif path.suffix == ".safetensors":
            path.write_bytes(safetensors_bytes())
        else:
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("data.pkl", pickle.dumps({}))
    return folder


@pytest.fixture
def folder(tmp_path):
    return fill(tmp_path / "weights")


class TestFaults:
    def check(self, tmp_path, name, content):
        path = tmp_path / name
        path.write_bytes(content)
        return find_fault(path)

    def test_whole_files_have_none(self, folder):
        assert not [file.path for file in SONIC.files if find_fault(folder / file.path)]

    @pytest.mark.parametrize("name", ["a.pth", "a.pkl", "a.safetensors", "a.json"])
    @pytest.mark.parametrize(
        ("content", "word"),
        [
            (b"", "empty"),
            (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "LFS pointer"),
            (b"\n<!DOCTYPE html><html>Sign in</html>", "web page"),
        ],
    )
    def test_what_people_have_instead_is_named(self, tmp_path, name, content, word):
        assert word in self.check(tmp_path, name, content)

    def test_a_safetensors_file_cut_short_anywhere_is_noticed(self, tmp_path):
        whole = safetensors_bytes()
        for length in range(1, len(whole)):
            assert self.check(tmp_path, "a.safetensors", whole[:length]), length

    def test_an_archive_cut_short_anywhere_is_noticed(self, folder):
        path = folder / "Sonic/unet.pth"
        whole = path.read_bytes()
        for length in range(2, len(whole), 7):
            path.write_bytes(whole[:length])
            assert find_fault(path), length

    def test_noise_is_no_weights_file(self, tmp_path):
        assert self.check(tmp_path, "a.pth", b"\x00\x01\x02" * 100)
        assert self.check(tmp_path, "a.safetensors", b"\xff" * 100)
        assert self.check(tmp_path, "a.json", b"{not json")
        assert self.check(tmp_path, "a.json", b"[1, 2]")

    def test_an_older_pickle_is_accepted(self, tmp_path):
        assert self.check(tmp_path, "a.pkl", pickle.dumps({"a": 1}, protocol=2)) is None


class TestFolder:
    def refusal(self, folder):
        with pytest.raises(InputError) as caught:
            require_whole("sonic", folder)
        return caught.value, describe(caught.value.code, caught.value.values).sentence

    def test_a_whole_folder_is_taken(self, folder):
        require_whole("sonic", folder)

        assert {status.state for status in examine(SONIC, folder)} == {"unverified"}

    def test_a_missing_file_is_named_with_place_size_and_command(self, folder):
        (folder / "Sonic/unet.pth").unlink()

        error, sentence = self.refusal(folder)

        assert error.code is ErrorCode.WEIGHTS_MISSING
        for part in ("unet.pth", str(folder / "Sonic"), "up to 6.4 GB", SONIC.command):
            assert part in sentence
        assert "?" not in sentence

    def test_no_folder_at_all_is_the_same_refusal(self, tmp_path):
        error, _ = self.refusal(tmp_path / "nowhere")

        assert error.code is ErrorCode.WEIGHTS_MISSING

    def test_a_file_in_the_wrong_folder_is_found(self, folder):
        (folder / "Sonic/unet.pth").rename(folder / "unet.pth")

        error, sentence = self.refusal(folder)

        assert error.code is ErrorCode.WEIGHTS_MISPLACED
        assert f"lies in {folder};" in sentence

    def test_a_damaged_file_says_what_is_wrong_with_it(self, folder):
        path = folder / "whisper-tiny/model.safetensors"
        path.write_bytes(path.read_bytes()[:-1])

        error, sentence = self.refusal(folder)

        assert error.code is ErrorCode.WEIGHTS_DAMAGED
        assert "cut short" in sentence

    def test_names_that_are_accepted_too(self, folder):
        path = folder / "Sonic/unet.pth"
        path.unlink()
        converted = path.with_suffix(".safetensors")
        converted.write_bytes(safetensors_bytes())

        assert locate(SONIC, SONIC.file("Sonic/unet.pth"), folder) == converted

    def test_changed_content_is_only_noticed_by_reading_it(self, folder):
        path = folder / "whisper-tiny/model.safetensors"
        size = path.stat().st_size
        write_lock(
            folder,
            {"whisper-tiny/model.safetensors": FetchedFile("a/b", "c", size, hash_file(path))},
        )
        assert self.state(verify(SONIC, folder)) == "ok"
        path.write_bytes(path.read_bytes()[:-1] + b"x")

        assert self.state(examine(SONIC, folder)) == "ok"
        assert self.state(verify(SONIC, folder)) == "damaged"

    def test_a_damaged_lock_is_no_lock(self, folder):
        (folder / "weights.lock.json").write_text("{broken")

        assert {status.state for status in examine(SONIC, folder)} == {"unverified"}

    def state(self, statuses):
        return next(s.state for s in statuses if s.file.path == "whisper-tiny/model.safetensors")


class TestCatalog:
    def test_paths_are_unique_and_stay_inside(self):
        for weight_set in CATALOG:
            paths = [file.path for file in weight_set.files]
            assert len(set(paths)) == len(paths)
            assert not [path for path in paths if path.startswith("/") or ".." in path]

    def test_every_file_has_a_licence_and_a_size(self):
        for weight_set in CATALOG:
            assert weight_set.notice
            assert all(file.licence and file.max_bytes > 0 for file in weight_set.files)

    def test_an_unknown_name_lists_the_known_ones(self):
        with pytest.raises(InputError) as caught:
            find_set("sonik")

        message = describe(caught.value.code, caught.value.values)
        assert "sonik" in message.sentence
        assert "sonic" in message.hint
