"""What is known of a file of weights, and of files that are fetched and used together."""

from dataclasses import dataclass

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class WeightFile:
    """One file of a set.

    Attributes:
        path: below the folder of the set, with "/".
        repo: `owner/name` on the hub.
        repo_path: inside the repository.
        max_bytes: its size, or the most it can be where the publisher's size is not known
            here: number of parameters times four.
        licence: in words, with what it forbids.
        revision: branch or commit of the repository; what a branch stood for at the download
            is kept beside the files.
        sha256: of the content, where known beforehand.
        also_named: other places below the folder where the same content is accepted.
    """

    path: str
    repo: str
    repo_path: str
    max_bytes: int
    licence: str
    revision: str = "main"
    sha256: str | None = None
    also_named: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The bare file name."""
        return self.path.rsplit("/", 1)[-1]

    @property
    def size_words(self) -> str:
        """Its size for people, such as `up to 195 MB`."""
        if self.max_bytes < MEGABYTE:
            return "a few KB"
        if self.max_bytes < 1000 * MEGABYTE:
            return f"up to {self.max_bytes / MEGABYTE:.0f} MB"
        return f"up to {self.max_bytes / MEGABYTE / 1000:.1f} GB"


@dataclass(frozen=True)
class WeightSet:
    """Files that are fetched and used together.

    Attributes:
        name: what people type.
        title: what lists show.
        notice: what a person must know before they use it: licences in plain words.
        files: in the order they are fetched, small ones first.
    """

    name: str
    title: str
    notice: str
    files: tuple[WeightFile, ...]

    @property
    def command(self) -> str:
        """The command that fetches it."""
        return f"python3 bootstrap.py weights get {self.name}"

    def file(self, path: str) -> WeightFile:
        """The file that belongs at `path`."""
        return next(file for file in self.files if file.path == path)
