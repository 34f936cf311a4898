"""Pictures that go along with a prompt: known by their bytes, whatever their files are called."""

from collections.abc import Callable, Mapping
from pathlib import Path

from siding.agents.talking.port import Picture as Part
from siding.ground.errors import SidingError, UsageError
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple

LARGEST = 32 << 20  # bytes
_KINDS = "PNG, JPEG, GIF or WebP"


class Picture(NamedTuple):
    """A picture: the ending of its file's name, and its bytes."""

    suffix: str
    data: bytes


def picture_at(named: str, cwd: Path = Path()) -> Picture:
    """Return the picture in a file; its name starts at `cwd`. Raises UsageError."""
    try:
        data = read_bytes(cwd / Path(named).expanduser(), limit=LARGEST)
    except (OSError, SidingError) as error:
        raise UsageError(f"the picture {named!r} cannot be read: {error}") from None
    return picture_in(data, repr(named))


def part_of(path: Path) -> Part:
    """Return a picture that was kept, as a part of a prompt. Raises OSError."""
    kind = "image/" + path.suffix.removeprefix(".").replace("jpg", "jpeg")
    return Part(kind, read_bytes(path, limit=LARGEST), str(path))


def picture_in(data: bytes, what: str) -> Picture:
    """Return the picture that these bytes are; `what` says where they are from."""
    if len(data) > LARGEST:
        raise UsageError(f"{what} is larger than {LARGEST >> 20} MiB")
    for suffix, is_it in _STARTS.items():
        if is_it(data):
            return Picture(suffix, data)
    raise UsageError(f"{what} is no picture that agents take", hint=f"{_KINDS}")


_STARTS: Mapping[str, Callable[[bytes], bool]] = {
    ".png": lambda data: data.startswith(b"\x89PNG\r\n\x1a\n"),
    ".jpg": lambda data: data.startswith(b"\xff\xd8\xff"),
    ".gif": lambda data: data.startswith((b"GIF87a", b"GIF89a")),
    ".webp": lambda data: data[:4] == b"RIFF" and data[8:12] == b"WEBP",
}
