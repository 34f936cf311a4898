"""The files of a run's output: their names, how to join, recover and read them.

`output` writes these files and explains their form.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from siding.ground.files.durable import flush, flush_dir
from siding.ground.hashing import Sha256
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import StreamPlan

STDOUT_HEADER = b"=== STDOUT ===\n"
STDERR_HEADER = b"\n=== STDERR ===\n"
FOOTER = b"\n"
PTY_HEADER = b"=== PTY ===\n"
WRITE_BACK_BYTES = 32 << 20  # start writing to the disk this often, so that fsync ends soon
_CHUNK = 1 << 20
_LEAST_CHUNK = 1 << 12


class RecoveredOutput(NamedTuple):
    """The sizes and digest of a cut-off run's artifact, which is in its final form and on disk."""

    streams: StreamPlan
    stdout_bytes: int
    stderr_bytes: int
    sha256: str


class Span(NamedTuple):
    """One stream inside a file. It is read in windows, so it need not fit into memory."""

    path: Path
    offset: int
    size: int

    def read(self, start: int, size: int) -> bytes:
        """Return up to ``size`` bytes from ``start`` on; fewer at the end of the span.

        Raises OSError.
        """
        start = max(0, start)
        wanted = max(0, min(size, self.size - start))
        if wanted == 0:
            return b""
        fd = _open_regular(self.path, os.O_RDONLY)
        try:
            return os.pread(fd, wanted, self.offset + start)
        finally:
            os.close(fd)

    def tail(self, size: int) -> bytes:
        """Return the last ``size`` bytes."""
        return self.read(self.size - size, size)

    def chunks(self, size: int = 1 << 16) -> Iterator[bytes]:
        """Yield the span from its start, ``size`` bytes at a time."""
        fd = _open_regular(self.path, os.O_RDONLY)
        try:
            done = 0
            while data := os.pread(fd, min(size, self.size - done), self.offset + done):
                yield data
                done += len(data)
        finally:
            os.close(fd)


class Output(NamedTuple):
    """The streams of one artifact. A PTY run has everything in ``stdout``."""

    streams: StreamPlan
    stdout: Span
    stderr: Span


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
    for data in _file_chunks(stderr, 0):
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


def has_output(path: Path) -> bool:
    """Return whether a run left anything of the artifact ``path``, joined or not."""
    return path.exists() or stderr_path(path).exists() or _find_marker(path) is not None


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


def recover_output(path: Path) -> RecoveredOutput | None:
    """Bring the artifact of a cut-off run into its final form; None when the run left no file.

    The run's recorder must be dead. This may be killed at any point: the next call goes on from
    there and returns the same answer. The marker stays, as after a normal end; `settle_output`
    removes it. Raises OSError, also when there is no room to join; nothing is lost then.
    """
    marker = _find_marker(path)
    raw_stderr = stderr_path(path)
    if marker is None and not raw_stderr.exists() and not path.exists():
        return None
    fd = _open_regular(path, os.O_RDWR | os.O_CREAT)
    try:
        streams = _mend_header(fd, piped=marker is not None or raw_stderr.exists())
        if streams is StreamPlan.PTY:
            recovered = _digest_pty(fd)
        elif marker is None and not raw_stderr.exists():
            recovered = _digest_joined(path, fd)
        else:
            if marker is None:
                stdout_bytes = os.fstat(fd).st_size - len(STDOUT_HEADER)
                marker = mark_boundary(path, stdout_bytes)
            marker = _reached(path, fd, marker)
            recovered = _join_marked(fd, marker)
        flush(fd)
        if marker is not None:
            os.truncate(marker, 0)
        flush_dir(path.parent)
        return recovered
    finally:
        os.close(fd)


def read_output(
    path: Path, stdout_bytes: int | None = None, stderr_bytes: int | None = None
) -> Output:
    """Return the streams of an artifact.

    The counts are those of the step. Steps of old homes have none; then stdout ends at the first
    stderr header. An artifact that was never joined is read from its two files. Raises OSError;
    FileNotFoundError when there is no artifact.
    """
    fd = _open_regular(path, os.O_RDONLY)
    try:
        size = os.fstat(fd).st_size
        if os.pread(fd, len(PTY_HEADER), 0) == PTY_HEADER:
            start = len(PTY_HEADER)
            whole = Span(path=path, offset=start, size=size - start)
            return Output(StreamPlan.PTY, whole, Span(path=path, offset=size, size=0))
        return _read_piped(path, fd, size, stdout_bytes, stderr_bytes)
    finally:
        os.close(fd)


def start_write_back(fd: int, offset: int, size: int) -> None:
    """Make the kernel start writing a range to the disk, without waiting for it."""
    if hasattr(os, "posix_fadvise"):  # Linux writes dirty pages back before it drops them
        os.posix_fadvise(fd, offset, size, os.POSIX_FADV_DONTNEED)


def _read_piped(
    path: Path, fd: int, size: int, stdout_bytes: int | None, stderr_bytes: int | None
) -> Output:
    start = len(STDOUT_HEADER)
    apart = stderr_path(path)
    marker = None if apart.exists() else _find_marker(path, stdout_bytes)
    if apart.exists():
        stdout_bytes, stderr_bytes = max(0, size - start), apart.stat().st_size
    elif marker is not None:
        stdout_bytes = _marked_bytes(marker)
        if _is_joined(size, stdout_bytes, marker.stat().st_size):
            stderr_bytes = None
        else:
            apart, stderr_bytes = marker, marker.stat().st_size
    if stdout_bytes is None:
        stdout_bytes = _search_boundary(fd, size)
    behind = start + stdout_bytes + len(STDERR_HEADER)
    stdout = Span(path=path, offset=start, size=min(stdout_bytes, max(0, size - start)))
    if stderr_bytes is not None and apart.exists():
        return Output(StreamPlan.PIPED, stdout, Span(path=apart, offset=0, size=stderr_bytes))
    if stderr_bytes is None:
        stderr_bytes = size - behind - len(FOOTER)
    stderr_bytes = max(0, min(stderr_bytes, size - behind))
    return Output(StreamPlan.PIPED, stdout, Span(path=path, offset=behind, size=stderr_bytes))


def _mend_header(fd: int, *, piped: bool) -> StreamPlan:
    """Complete a header that was cut off, and return which kind of artifact this is."""
    head = os.pread(fd, len(STDOUT_HEADER), 0)
    if not piped and not head.startswith(STDOUT_HEADER):
        if len(head) < len(PTY_HEADER):
            os.pwrite(fd, PTY_HEADER, 0)
        return StreamPlan.PTY
    if len(head) < len(STDOUT_HEADER):
        os.pwrite(fd, STDOUT_HEADER, 0)
    return StreamPlan.PIPED


def _reached(path: Path, fd: int, marker: Path) -> Path:
    """Return a marker whose count is at most the bytes of stdout on disk; rename it if necessary.

    After a power cut the marker's name may be on disk without the last bytes of stdout. Joining
    behind the missing bytes would leave a hole in the file that the digest does not show.
    """
    there = max(0, os.fstat(fd).st_size - len(STDOUT_HEADER))
    if there >= _marked_bytes(marker):
        return marker
    nearer = marker_path(path, there)
    os.rename(marker, nearer)
    return nearer


def _join_marked(fd: int, marker: Path) -> RecoveredOutput:
    stdout_bytes = _marked_bytes(marker)
    size = os.fstat(fd).st_size
    if _is_joined(size, stdout_bytes, marker.stat().st_size):
        return _digest_split(fd, size, stdout_bytes)
    digest = _digest_file(fd, limit=len(STDOUT_HEADER) + stdout_bytes)
    stderr = _open_regular(marker, os.O_RDONLY)
    try:
        failure = finish_join(fd, stderr, stdout_bytes=stdout_bytes, digest=digest)
        stderr_bytes = os.fstat(stderr).st_size
    finally:
        os.close(stderr)
    if failure is not None:
        raise failure
    return RecoveredOutput(StreamPlan.PIPED, stdout_bytes, stderr_bytes, digest.hexdigest())


def _digest_pty(fd: int) -> RecoveredOutput:
    size = os.fstat(fd).st_size - len(PTY_HEADER)
    return RecoveredOutput(StreamPlan.PTY, size, 0, _digest_file(fd).hexdigest())


def _digest_joined(path: Path, fd: int) -> RecoveredOutput:
    """Return the counts of a piped artifact without a marker: a settled one, or an old home's."""
    size = os.fstat(fd).st_size
    output = _read_piped(path, fd, size, None, None)
    return _digest_split(fd, size, output.stdout.size)


def _digest_split(fd: int, size: int, stdout_bytes: int) -> RecoveredOutput:
    rest = len(STDOUT_HEADER) + len(STDERR_HEADER) + len(FOOTER)
    stderr_bytes = max(0, size - rest - stdout_bytes)
    return RecoveredOutput(
        StreamPlan.PIPED, stdout_bytes, stderr_bytes, _digest_file(fd).hexdigest()
    )


def _is_joined(size: int, stdout_bytes: int, stderr_bytes: int) -> bool:
    """Return whether an artifact of ``size`` bytes is joined completely.

    Joining writes from front to back, so an unfinished one is always shorter than the whole.
    """
    around = len(STDOUT_HEADER) + len(STDERR_HEADER) + len(FOOTER)
    return size >= around + stdout_bytes + stderr_bytes


def _find_marker(path: Path, stdout_bytes: int | None = None) -> Path | None:
    if stdout_bytes is not None:  # this avoids listing a folder with many artifacts
        marker = marker_path(path, stdout_bytes)
        return marker if marker.exists() else None
    prefix = f"{path.stem}.stderr@"
    try:
        names = os.listdir(path.parent)
    except FileNotFoundError:
        return None
    for name in names:
        if name.startswith(prefix) and name.removeprefix(prefix).isdecimal():
            return path.with_name(name)
    return None


def _marked_bytes(marker: Path) -> int:
    return int(marker.name.rpartition("@")[2])


def _search_boundary(fd: int, size: int) -> int:
    """Return the number of bytes of stdout: up to the first stderr header, or all there are."""
    offset = len(STDOUT_HEADER)
    carry = b""
    for data in _file_chunks(fd, offset):
        window = carry + bytes(data)
        found = window.find(STDERR_HEADER)
        if found >= 0:
            return offset + found - len(STDOUT_HEADER)
        carry = window[-len(STDERR_HEADER) + 1 :]
        offset += len(window) - len(carry)
    return max(0, size - len(STDOUT_HEADER))


def _digest_file(fd: int, *, limit: int | None = None) -> Sha256:
    digest = Sha256()
    left = limit
    for data in _file_chunks(fd, 0):
        part = data if left is None else data[:left]
        digest.update(part)
        if left is not None:
            left -= len(part)
            if left == 0:
                break
    return digest


def _file_chunks(fd: int, offset: int) -> Iterator[memoryview]:
    """Yield a file's bytes from ``offset`` on; each view is valid until the next one is yielded."""
    # No larger than the file, which is small most of the time; it may grow while it is read.
    buffer = bytearray(min(_CHUNK, max(_LEAST_CHUNK, os.fstat(fd).st_size - offset)))
    view = memoryview(buffer)
    while size := os.preadv(fd, [buffer], offset):
        yield view[:size]
        offset += size


def _open_regular(path: Path, flags: int) -> int:
    """Open a regular file; raise OSError for anything else.

    A fifo or a device that somebody put in its place must not block us.
    """
    fd = os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(None, "not a regular file", str(path))
    return fd
