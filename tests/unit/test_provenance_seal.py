"""Seals of finished videos: read back, broken by every change, made whole or not at all."""

import subprocess
from itertools import pairwise

import av
import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from engine.errors import EngineError, ErrorCode, InputError
from engine.media.video import probe_video, read_frames
from engine.provenance.boxes import NotAnMp4, read_tags, write_tags
from engine.provenance.certificate import known_anchor, load_identity
from engine.provenance.facts import content_id_of
from engine.provenance.manifest import read_manifest
from engine.provenance.seal import seal
from engine.provenance.verify import check_labels
from engine.settings import EngineSettings
from tests.labelled_video import FACTS, write_labelled


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    return EngineSettings(data_dir=tmp_path_factory.mktemp("installation"))


@pytest.fixture(scope="module")
def plain(settings, tmp_path_factory):
    """A labelled video before its seal."""
    path = tmp_path_factory.mktemp("plain") / "video.mp4"
    write_labelled(path, settings)
    return path


@pytest.fixture(scope="module")
def sealed(plain, settings, tmp_path_factory):
    path = tmp_path_factory.mktemp("sealed") / "video.mp4"
    path.write_bytes(plain.read_bytes())
    seal(path, FACTS.model_copy(update={"visible_label": "en"}), settings)
    return path


def checked(path, settings):
    return check_labels(path, known_anchor(settings))


def ffmpeg(*arguments):
    command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", *map(str, arguments)]
    subprocess.run(command, check=True)


def samples_of(path):
    with av.open(str(path)) as container:
        return np.concatenate([f.to_ndarray() for f in container.decode(audio=0)], axis=1)


def test_every_label_of_a_sealed_video_is_found(sealed, settings):
    found = checked(sealed, settings)

    assert found.ok
    assert found.problems == ()
    assert (found.visible_label, found.manifest) == ("en", "valid")
    assert found.signed_here
    assert found.says_ai
    assert found.xmp_says_ai
    assert found.aigc["Label"] == "1"
    assert found.aigc["ProduceID"] == FACTS.content_id
    assert found.facts["models"] == ["sonic-studio/lite", "hibari:heart"]
    assert found.facts["consent"] is True
    assert found.sync == {"mouth_audio_correlation": 0.9}


def test_seal_changes_neither_picture_nor_sound_nor_how_it_plays(plain, sealed):
    before, after = probe_video(plain), probe_video(sealed)

    assert after.has_faststart
    assert (after.duration_s, after.num_frames) == (before.duration_s, before.num_frames)
    assert after.sound == before.sound
    pairs = zip(read_frames(plain, 10), read_frames(sealed, 10), strict=True)
    assert all(np.array_equal(a[1], b[1]) for a, b in pairs)
    assert np.array_equal(samples_of(plain), samples_of(sealed))


def test_tags_can_be_read_by_other_programs(sealed):
    with av.open(str(sealed)) as container:
        assert '"Label":"1"' in container.metadata["AIGC"]
    assert b"trainedAlgorithmicMedia" in sealed.read_bytes()


def test_seal_tells_nothing_about_people(sealed, settings):
    tags, xmp = read_tags(sealed)
    said = f"{tags} {xmp!r} {read_manifest(sealed).facts}"

    assert "0" * 32 not in said
    assert str(settings.data_dir) not in said


def test_second_seal_of_the_same_video_leaves_the_file_as_it_is(sealed, settings):
    before = sealed.read_bytes()

    seal(sealed, FACTS.model_copy(update={"visible_label": "en"}), settings)

    assert sealed.read_bytes() == before


def test_new_facts_replace_the_seal_instead_of_adding_one(sealed, settings, tmp_path):
    video = tmp_path / "video.mp4"
    video.write_bytes(sealed.read_bytes())

    seal(video, FACTS.model_copy(update={"content_id": "f" * 32}), settings)

    found = checked(video, settings)
    assert found.ok
    assert found.facts["content_id"] == "f" * 32
    assert video.read_bytes().count(b"<x:xmpmeta") == 1
    assert abs(video.stat().st_size - sealed.stat().st_size) < 1000


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
def test_one_changed_byte_of_the_media_is_noticed(sealed, settings, tmp_path, share):
    content = bytearray(sealed.read_bytes())
    content[int(len(content) * share)] ^= 1
    video = tmp_path / "video.mp4"
    video.write_bytes(content)

    found = checked(video, settings)

    assert not found.ok
    assert "manifest_broken" in found.problems
    assert found.facts == {}


def test_changed_claim_is_noticed(sealed, settings, tmp_path):
    video = tmp_path / "video.mp4"
    content = sealed.read_bytes()
    assert content.count(b"hibari:heart") >= 1
    video.write_bytes(content.replace(b"hibari:heart", b"hibari:hearX"))

    assert "manifest_broken" in checked(video, settings).problems


def test_changed_tag_is_noticed_by_the_manifest(sealed, settings, tmp_path):
    video = tmp_path / "video.mp4"
    video.write_bytes(sealed.read_bytes().replace(b'"Label":"1"', b'"Label":"3"', 1))

    found = checked(video, settings)

    assert found.aigc["Label"] == "3"
    assert "manifest_broken" in found.problems


def test_copy_by_another_program_loses_the_seal_and_that_is_said(sealed, settings, tmp_path):
    copy = tmp_path / "copy.mp4"
    ffmpeg("-i", sealed, "-c", "copy", copy)

    found = checked(copy, settings)

    assert found.problems == ("aigc_missing", "xmp_missing", "manifest_missing")
    assert found.visible_label == "en"


def test_encoding_anew_loses_the_seal_but_not_the_words(sealed, settings, tmp_path):
    copy = tmp_path / "copy.mp4"
    ffmpeg("-i", sealed, "-vf", "scale=384:384", "-c:v", "libx264", "-crf", "32", copy)

    found = checked(copy, settings)

    assert "manifest_missing" in found.problems
    assert found.visible_label == "en"


def test_cropped_or_painted_label_is_missed(sealed, settings, tmp_path):
    cropped, painted = tmp_path / "cropped.mp4", tmp_path / "painted.mp4"
    ffmpeg("-i", sealed, "-vf", "crop=256:200:0:0", "-c:v", "libx264", cropped)
    late = "drawbox=x=100:y=200:w=156:h=56:t=fill:enable='gte(t,3)'"
    ffmpeg("-i", sealed, "-vf", late, "-c:v", "libx264", painted)

    for video in (cropped, painted):
        found = checked(video, settings)
        assert "visible_label_missing" in found.problems
        assert found.visible_label is None


def test_video_without_any_label_is_called_so(settings, tmp_path):
    video = tmp_path / "video.mp4"
    write_labelled(video, settings, labelled=False)

    assert checked(video, settings).problems == (
        "visible_label_missing", "aigc_missing", "xmp_missing", "manifest_missing",
    )  # fmt: skip


def test_seal_without_words_in_the_picture_does_not_hide_that(settings, tmp_path):
    video = tmp_path / "video.mp4"
    seal(video, write_labelled(video, settings, labelled=False), settings)

    assert checked(video, settings).problems == ("visible_label_missing",)


def test_picture_in_another_codec_is_not_decoded_and_said(sealed, settings, tmp_path):
    copy = tmp_path / "copy.mp4"
    ffmpeg("-i", sealed, "-c:v", "mpeg4", copy)

    assert "picture_unreadable" in checked(copy, settings).problems


def test_another_installation_sees_a_valid_seal_of_another_signer(sealed, tmp_path):
    other = EngineSettings(data_dir=tmp_path)
    load_identity(other)

    found = checked(sealed, other)

    assert found.manifest == "valid"
    assert not found.signed_here


def test_key_is_made_once_and_only_its_owner_may_read_it(tmp_path):
    settings = EngineSettings(data_dir=tmp_path)

    first, second = load_identity(settings), load_identity(settings)

    (key,) = (tmp_path / "keys").iterdir()
    assert first == second
    assert key.stat().st_mode & 0o777 == 0o600
    assert b"BEGIN" in first.key_pem
    assert first.is_self_made
    leaf, root = x509.load_pem_x509_certificates(first.chain_pem)
    assert leaf.issuer == root.subject
    assert "trust list" in root.subject.rfc4514_string()


def test_damaged_key_file_is_replaced(tmp_path):
    settings = EngineSettings(data_dir=tmp_path)
    first = load_identity(settings)
    (tmp_path / "keys" / "provenance.pem").write_bytes(b"-----BEGIN nothing")

    assert load_identity(settings).chain_pem != first.chain_pem


def given_certificate(tmp_path, curve=ec.SECP384R1):
    """A chain as an authority would hand it out, of another kind than ours."""
    own = load_identity(EngineSettings(data_dir=tmp_path / "authority"))
    leaf, root = x509.load_pem_x509_certificates(own.chain_pem)
    key, root_key = ec.generate_private_key(curve()), ec.generate_private_key(curve())

    def issued(like, public_key):
        builder = x509.CertificateBuilder(
            root.subject, like.subject, public_key, x509.random_serial_number(),
            like.not_valid_before_utc, like.not_valid_after_utc,
        )  # fmt: skip
        for extension in like.extensions:
            if "KeyIdentifier" not in type(extension.value).__name__:
                builder = builder.add_extension(extension.value, extension.critical)
        known = x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key())
        return builder.add_extension(known, False).sign(root_key, hashes.SHA384())

    pem = serialization.Encoding.PEM
    chain, secret = tmp_path / "chain.pem", tmp_path / "key.pem"
    chain.write_bytes(
        issued(leaf, key.public_key()).public_bytes(pem)
        + issued(root, root_key.public_key()).public_bytes(pem)
    )
    secret.write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return chain, secret


def test_given_certificate_signs_in_place_of_the_own_one(plain, tmp_path):
    chain, secret = given_certificate(tmp_path)
    settings = EngineSettings(
        data_dir=tmp_path / "data", provenance_certificate=chain, provenance_key=secret
    )
    video = tmp_path / "video.mp4"
    video.write_bytes(plain.read_bytes())

    seal(video, FACTS, settings)

    assert read_manifest(video).state == "valid"
    assert load_identity(settings).algorithm == "es384"
    assert not (tmp_path / "data" / "keys").exists()


@pytest.mark.parametrize("content", [b"", b"no certificate", None])
def test_given_certificate_that_cannot_be_used_is_named(plain, tmp_path, content):
    chain, secret = given_certificate(tmp_path)
    if content is None:
        secret.unlink()
    else:
        chain.write_bytes(content)
    settings = EngineSettings(
        data_dir=tmp_path, provenance_certificate=chain, provenance_key=secret
    )
    video = tmp_path / "video.mp4"
    video.write_bytes(plain.read_bytes())

    with pytest.raises(EngineError) as caught:
        seal(video, FACTS, settings)

    assert caught.value.code is ErrorCode.CERTIFICATE_UNUSABLE
    assert video.read_bytes() == plain.read_bytes()


def test_certificate_that_does_not_belong_to_the_key_is_named(plain, tmp_path):
    chain, _ = given_certificate(tmp_path)
    _, other_key = given_certificate(tmp_path / "authority")
    settings = EngineSettings(
        data_dir=tmp_path, provenance_certificate=chain, provenance_key=other_key
    )
    video = tmp_path / "video.mp4"
    video.write_bytes(plain.read_bytes())

    with pytest.raises(EngineError) as caught:
        seal(video, FACTS, settings)

    assert caught.value.code is ErrorCode.CERTIFICATE_UNUSABLE
    assert sorted(p.name for p in tmp_path.glob("video*")) == ["video.mp4"]


def test_tags_move_a_late_index_too(plain, tmp_path):
    late, tagged = tmp_path / "late.mp4", tmp_path / "tagged.mp4"
    ffmpeg("-i", plain, "-c", "copy", late)  # the index comes last without faststart

    write_tags(late, tagged, {"AIGC": "x", "ünï": "ÿ"}, b"<xmp/>")

    assert not probe_video(late).has_faststart
    assert read_tags(tagged) == ({"AIGC": "x", "ünï": "ÿ"}, b"<xmp/>")
    assert np.array_equal(samples_of(late), samples_of(tagged))


def test_no_prefix_of_a_video_makes_the_readers_stumble(sealed, tmp_path):
    """Cut anywhere, a file is refused or called broken; nothing else is ever raised."""
    whole = sealed.read_bytes()
    cut = tmp_path / "cut.mp4"
    for length in (1, 7, 8, 31, 40, 3000, 4600, 5000, len(whole) - 9, len(whole) - 1):
        cut.write_bytes(whole[:length])
        try:
            assert not check_labels(cut).ok
        except InputError:
            continue


@pytest.mark.parametrize("boxes", [b"", b"\0\0\0\4moov", b"\xff\xff\xff\xffmoov", b"\0" * 64])
def test_boxes_that_lie_are_refused(tmp_path, boxes):
    source = tmp_path / "lying.mp4"
    source.write_bytes(boxes)

    with pytest.raises(NotAnMp4):
        write_tags(source, tmp_path / "out.mp4", {"a": "b"}, b"")


def test_content_ids_tell_jobs_apart_and_nothing_else():
    ids = [content_id_of(f"{number:032x}") for number in range(50)]

    assert all(a != b for a, b in pairwise(sorted(ids)))
