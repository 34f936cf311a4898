"""Files that an agent is given for one attempt: a prompt that is no argument, a schema."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from siding.files.durable import create_bytes, make_dirs


@contextmanager
def asked_files(directory: Path, files: Mapping[str, str]) -> Iterator[None]:
    """Have the files in the directory, which goes afterwards; none at all without files."""
    if not files:
        yield
        return
    make_dirs(directory)
    try:
        for name, content in files.items():
            create_bytes(directory / name, content.encode("utf-8", "surrogateescape"))
        yield
    finally:
        shutil.rmtree(directory, ignore_errors=True)
