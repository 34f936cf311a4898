"""Read the output of runs, and recover that of a run that was cut off.

`recording` writes these files and explains their form.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from siding.ground.files.durable import flush, flush_dir
from siding.ground.hashing import Sha256
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import StreamPlan
from siding.ground.process.output.files import (
    FOOTER,
    PTY_HEADER,
    STDERR_HEADER,
    STDOUT_HEADER,
    file_chunks,
    finish_join,
    mark_boundary,
    marker_path,
    stderr_path,
)


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


def has_output(path: Path) -> bool:
    """Return whether a run left anything of the artifact ``path``, joined or not."""
    return path.exists() or stderr_path(path).exists() or _find_marker(path) is not None


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
    for data in file_chunks(fd, offset):
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
    for data in file_chunks(fd, 0):
        part = data if left is None else data[:left]
        digest.update(part)
        if left is not None:
            left -= len(part)
            if left == 0:
                break
    return digest


def _open_regular(path: Path, flags: int) -> int:
    """Open a regular file; raise OSError for anything else.

    A fifo or a device that somebody put in its place must not block us.
    """
    fd = os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(None, "not a regular file", str(path))
    return fd
