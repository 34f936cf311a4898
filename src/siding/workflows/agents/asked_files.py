"""Files that an agent is given for one attempt: a prompt that is no argument, a schema."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from siding.ground.files.durable import create_bytes
from siding.record.snapshots.scratch import scratch


@contextmanager
def asked_files(directory: Path, files: Mapping[str, str]) -> Iterator[None]:
    """Have the files in the directory, which goes afterwards; none at all without files.

    If this process is killed first, `siding gc` finds that nobody holds the directory any more.
    """
    if not files:
        yield
        return
    with scratch(directory):
        for name, content in files.items():
            create_bytes(directory / name, content.encode("utf-8", "surrogateescape"))
        yield
