"""The files of a run's output: their names, how to join, recover and read them.

`output` writes these files and explains their form.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from siding.ground.files.durable import flush_dir
from siding.ground.hashing import Sha256

STDOUT_HEADER = b"=== STDOUT ===\n"
STDERR_HEADER = b"\n=== STDERR ===\n"
FOOTER = b"\n"
PTY_HEADER = b"=== PTY ===\n"
WRITE_BACK_BYTES = 32 << 20  # start writing to the disk this often, so that fsync ends soon
_CHUNK = 1 << 20
_LEAST_CHUNK = 1 << 12


def stderr_path(path: Path) -> Path:
    """Return the file for stderr while the run of the artifact ``path`` goes on."""
    return path.with_name(path.stem + ".stderr")


def marker_path(path: Path, stdout_bytes: int) -> Path:
    """Return the name that stderr's file gets when joining begins."""
    return path.with_name(f"{path.stem}.stderr@{stdout_bytes}")


def mark_boundary(path: Path, stdout_bytes: int) -> Path:
    """Rename stderr's file to the marker that records where stdout ends; return the marker.

    This is the first act of joining. The new name is durable when this returns.
    """
    marker = marker_path(path, stdout_bytes)
    stderr_path(path).rename(marker)
    flush_dir(path.parent)
    return marker


def finish_join(output: int, stderr: int, *, stdout_bytes: int, digest: Sha256) -> OSError | None:
    """Write everything that follows stdout into the artifact; calling it again starts over.

    ``digest`` gets all the bytes, also when writing fails. A failure is returned and not raised.
    copy_file_range(2) was measured and gains nothing, because the digest has to read the bytes
    anyway.
    """
    position = started = len(STDOUT_HEADER) + stdout_bytes
    failure: OSError | None = None

    def put(data: bytes | memoryview) -> None:
        nonlocal position, failure
        digest.update(data)
        view = memoryview(data)
        while view and failure is None:
            try:
                done = os.pwrite(output, view, position)
            except OSError as error:
                failure = error
                return
            view = view[done:]
            position += done

    put(STDERR_HEADER)
    for data in file_chunks(stderr, 0):
        put(data)
        if position - started >= WRITE_BACK_BYTES:
            start_write_back(output, started, position - started)
            started = position
    put(FOOTER)
    return failure


def settle_output(path: Path, stdout_bytes: int) -> bool:
    """Remove the marker that records where stdout ends. Call it when the ledger has the counts.

    Returns False and removes nothing while the marker still holds stderr, because there was no
    room to join. Calling it again is harmless.
    """
    marker = marker_path(path, stdout_bytes)
    try:
        if marker.stat().st_size:
            return False
    except FileNotFoundError:
        return True
    marker.unlink(missing_ok=True)
    return True


def rename_output(path: Path, to: Path, stdout_bytes: int | None) -> bool:
    """Give a finished artifact another name in its folder; return whether there is one.

    Not durable before the folder is flushed. Cut off anywhere, the same call does the rest: the
    marker goes first, because an artifact with its old name is what says that there is more to do.
    """
    if stdout_bytes is not None:
        with suppress(FileNotFoundError):
            marker_path(path, stdout_bytes).rename(marker_path(to, stdout_bytes))
    with suppress(FileNotFoundError):
        path.rename(to)
    return to.exists()


def start_write_back(fd: int, offset: int, size: int) -> None:
    """Make the kernel start writing a range to the disk, without waiting for it."""
    if hasattr(os, "posix_fadvise"):  # Linux writes dirty pages back before it drops them
        os.posix_fadvise(fd, offset, size, os.POSIX_FADV_DONTNEED)


def file_chunks(fd: int, offset: int) -> Iterator[memoryview]:
    """Yield a file's bytes from ``offset`` on; each view is valid until the next one is yielded."""
    # No larger than the file, which is small most of the time; it may grow while it is read.
    buffer = bytearray(min(_CHUNK, max(_LEAST_CHUNK, os.fstat(fd).st_size - offset)))
    view = memoryview(buffer)
    while size := os.preadv(fd, [buffer], offset):
        yield view[:size]
        offset += size
