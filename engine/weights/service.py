"""What `weights list`, `weights get` and `weights verify` do, for the command line and `doctor`."""

from pathlib import Path

from engine.settings import EngineSettings
from engine.weights.catalog import CATALOG, EVERYTHING, find_set
from engine.weights.download import OnProgress, download_set
from engine.weights.store import FileStatus, OnBytes, examine, verify
from engine.weights.weight_files import WeightSet


def folder_of(weight_set: WeightSet, settings: EngineSettings) -> Path:
    """Where the files of a set lie or would lie."""
    if weight_set.name == "sonic":
        return settings.sonic_dir
    return settings.weights_dir / weight_set.name


def list_weights(settings: EngineSettings) -> dict[str, list[FileStatus]]:
    """Every file of the animators, and of what else was fetched, told from names, sizes, headers.

    Takes milliseconds.
    """
    shown = (known for known in EVERYTHING if known in CATALOG or is_begun(known, settings))
    return {known.name: examine(known, folder_of(known, settings)) for known in shown}


def is_begun(weight_set: WeightSet, settings: EngineSettings) -> bool:
    """Whether anything of a set is here."""
    folder = folder_of(weight_set, settings)
    return any(status.state != "missing" for status in examine(weight_set, folder))


def get_weights(
    name: str, settings: EngineSettings, on_progress: OnProgress = lambda _progress: None
) -> list[FileStatus]:
    """Fetch what is missing of a set; the caller shows `WeightSet.notice` first.

    Args:
        name: of the set.
        settings: where to and where from.
        on_progress: told about every megabyte; may raise to stop, what came is kept.

    Returns:
        Every file of the set as it is now.

    Raises:
        InputError: WEIGHTS_UNKNOWN, WEIGHTS_REFUSED, WEIGHTS_DAMAGED or WEIGHTS_NOT_WRITABLE.
        EngineError: WEIGHTS_UNREACHABLE or WEIGHTS_DISK.
    """
    weight_set = find_set(name)
    folder = folder_of(weight_set, settings)
    token = settings.hub_token.get_secret_value() if settings.hub_token else None
    from engine.weights.hub import Hub  # noqa: PLC0415 - httpx, which most commands never need

    with Hub(settings.hub_endpoint, token) as hub:
        download_set(weight_set, folder, hub, on_progress)
    return examine(weight_set, folder)


def verify_weights(
    settings: EngineSettings, on_bytes: OnBytes = lambda _count: None
) -> dict[str, list[FileStatus]]:
    """Read every byte of every set that is here and compare it with the known hashes.

    Args:
        settings: where the sets lie.
        on_bytes: told how many more bytes were read; may raise to stop.

    Returns:
        The files of each set of which at least one file is here.
    """
    here = (known for known in EVERYTHING if is_begun(known, settings))
    return {known.name: verify(known, folder_of(known, settings), on_bytes) for known in here}
