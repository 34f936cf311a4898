"""Write a run's output into its artifact while the run goes on.

Form of a piped run, `NNNN.output`:

    === STDOUT ===\\n <stdout> \\n=== STDERR ===\\n <stderr> \\n

and of a run in a terminal: `=== PTY ===\\n` and the one stream.

Rules:
- While a piped run goes on, stdout is appended to `NNNN.output` and stderr to `NNNN.stderr` as
  they come. Nothing is buffered, so a `kill -9` of the recorder loses nothing it had read.
- Joining first renames `NNNN.stderr` to `NNNN.stderr@<N>`, where N is the number of bytes of
  stdout. This name records where stdout ends, so that everything behind that point can be written
  again any number of times. Once the joined file is on disk the renamed file is emptied. It stays
  as a marker until the step's ledger line carries the counts; then `settle_output` removes it.
- After a failed write (full disk) nothing more of that stream is recorded, so that it has no holes.
- With a filter, only the filter's output reaches the disk; counts and SHA-256 are of that output.
  A `kill -9` loses the bytes that the filter holds back and, of a stream of more than 8 MB, up to
  four pieces of 256 kB that wait for the disk.
- The SHA-256 is always the one of the joined form, also before the files are joined. It is made in
  step with the stream. A digest costs about as much as writing the bytes. After the first megabytes
  it therefore moves to a thread (hashlib lets go of the interpreter lock), and the buffers it has
  not finished with are what bounds the memory. A short run never starts the thread.

`output.reading` reads artifacts and recovers those of a run that was cut off.
"""

import errno
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from siding.ground.files.durable import flush, flush_dir
from siding.ground.hashing import Sha256
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import StreamPlan
from siding.ground.process.output.files import (
    PTY_HEADER,
    STDOUT_HEADER,
    WRITE_BACK_BYTES,
    finish_join,
    mark_boundary,
    start_write_back,
    stderr_path,
)

if TYPE_CHECKING:
    from siding.ground.process.output.behind import Behind, DigestWorker

BUFFER_SIZE = 1 << 20
FIRST_SIZE = 1 << 16  # of the first buffer: most commands print little, and a large one costs zeros
_INLINE_BYTES = 8 << 20
_PIECE = 1 << 18  # bytes that are filtered at once
_PRIMED = 8 << 20
_MUCH = 8 << 20  # bytes of a stream after which a second thread writes


def grown(buffer: bytearray, size: int) -> bytearray:
    """Return the buffer after one with ``size`` bytes in it: a large one if that was full."""
    return bytearray(BUFFER_SIZE) if size == len(buffer) < BUFFER_SIZE else buffer


class StreamDigest:
    """Digests buffers in the order they are given back.

    The caller borrows a buffer with `lend`, fills it and gives it back with `take`. It may read
    it until it borrows the next one. Or it has bytes of its own and only uses `feed`.
    """

    def __init__(self) -> None:
        self._hash = Sha256()
        self._inline = 0
        self._buffer = bytearray(FIRST_SIZE)
        self._worker: DigestWorker | None = None

    def add(self, data: bytes) -> None:
        """Digest a few bytes at once; only before the first `take`."""
        self._hash.update(data)

    def lend(self) -> bytearray:
        """Return a buffer to be filled; waits while all are being digested."""
        return self._buffer if self._worker is None else self._worker.free.get()

    def take(self, buffer: bytearray, size: int) -> None:
        """Take a buffer back whose first ``size`` bytes belong to the stream."""
        if self._worker is not None:
            self._worker.filled.put((buffer, size, buffer))
            return
        self._buffer = grown(buffer, size)
        self._at_once(memoryview(buffer)[:size], self._buffer)

    def feed(self, data: bytes) -> None:
        """Digest bytes that are in none of our buffers; waits while there are too many of them."""
        if self._worker is not None:
            self._worker.filled.put((data, len(data), self._worker.free.get()))
            return
        self._at_once(memoryview(data), self._buffer)

    def _at_once(self, data: memoryview, buffer: bytearray) -> None:
        self._hash.update(data)
        self._inline += len(data)
        if self._inline >= _INLINE_BYTES:
            from siding.ground.process.output.behind import DigestWorker

            self._worker = DigestWorker(self._hash, buffer, BUFFER_SIZE)

    def result(self) -> Sha256:
        """Wait for the thread and return the digest, to which more may be added."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None
        return self._hash


class Recorded(NamedTuple):
    """The result of recording: the sizes of the streams and the digest of the artifact.

    ``joined`` is False when the disk had no room to join the streams. Both are on disk in files of
    their own then, and `recover_output` joins them later. ``notes`` are sentences for a person;
    ``complete`` is False if one of them says that something was not kept.
    """

    stdout_bytes: int
    stderr_bytes: int
    sha256: str
    joined: bool
    notes: tuple[str, ...]
    complete: bool = True


class Filter(Protocol):
    """Changes one stream on its way to the disk."""

    def feed(self, piece: bytes | memoryview) -> bytes:
        """Take the next bytes; return what can be written."""

    def close(self) -> bytes:
        """Return the bytes that were held back; `feed` is not called again."""

    @property
    def unread(self) -> int:
        """How many bytes were masked without a look at each secret in them."""


def _says_unread(size: int) -> str:
    return (
        f"{size:,} bytes of the output are masked as [redacted:too-much]: they hold too much that "
        "could be a secret to look at each (docs/redaction.md)"
    )


class OutputFiles:
    """Writes one run's output. Call `open`, then `write_stdout` and `write_stderr`, then `finish`.

    With ``path`` None bytes are counted and not kept. ``max_bytes`` limits the bytes kept of both
    streams together; the command goes on beyond it. ``filtered`` makes a filter for each stream.
    Writing never raises OSError: recording of that stream stops and `notes` says why.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        streams: StreamPlan,
        max_bytes: int | None = None,
        filtered: Callable[[], Filter] | None = None,
    ) -> None:
        self.path = path
        self.streams = streams
        self.notes: list[str] = []
        self._header = STDOUT_HEADER if streams is StreamPlan.PIPED else PTY_HEADER
        self._max_bytes = max_bytes
        self._digest = StreamDigest()
        self._stdout: _Appender | None = None
        self._stderr: _Appender | None = None
        self._uncounted = [0, 0]
        self._filters: tuple[Filter, Filter] | None = None
        self._behind: Behind | None = None
        if filtered is not None and path is not None:
            self._filters = (filtered(), filtered())
            self._buffer = bytearray(FIRST_SIZE)
            # glibc's malloc maps blocks of 256 kB with mmap, and unmaps them on every free. Freeing
            # a larger mapped block raises its dynamic threshold (mallopt(3), M_MMAP_THRESHOLD), so
            # that later blocks are reused. The zeroed pages of this block are never touched.
            bytes(_PRIMED)

    def open(self) -> None:
        """Create the files. Raises OSError: a run that cannot be recorded must not start."""
        if self.path is None:
            return
        try:
            if self.streams is StreamPlan.PIPED:
                # This file comes first: a stdout header without it means a joined artifact.
                self._stderr = _Appender(stderr_path(self.path), "stderr", lasting=False)
            self._stdout = _Appender(self.path, "stdout")
            self._stdout.append(memoryview(self._header))
            if self._stdout.failure is not None:
                raise self._stdout.failure
            self._stdout.header = len(self._header)
        except OSError:
            self._abandon()
            raise
        self._digest.add(self._header)

    def buffer(self) -> bytearray:
        """Lend a buffer for `write_stdout`; wait while all buffers are still being digested."""
        return self._digest.lend() if self._filters is None else self._buffer

    def write_stdout(self, buffer: bytearray, size: int) -> None:
        """Record the first ``size`` bytes of a buffer that `buffer` lent, and take it back."""
        if self._stdout is None:
            self._uncounted[0] += size
            self._digest.take(buffer, 0)
        elif self._filters is not None:
            feed = self._filters[0].feed
            for start in range(0, size, _PIECE):
                piece = memoryview(buffer)[start : min(size, start + _PIECE)]
                self._keep_filtered(self._stdout, feed(piece))
            self._buffer = grown(buffer, size)
        else:
            self._digest.take(buffer, self._keep(self._stdout, memoryview(buffer)[:size]))

    def write_stderr(self, data: memoryview) -> None:
        """Record ``data``; the caller may reuse its memory afterwards."""
        if self._stderr is None:
            self._uncounted[1] += len(data)
        elif self._filters is not None:
            self._keep(self._stderr, memoryview(self._filters[1].feed(data)))
        else:
            self._keep(self._stderr, data)

    def finish(self) -> Recorded:
        """Bring the artifact into its final form, fsync it and its folder, and return the result.

        A write that fails is a sentence in the result's notes.
        """
        unread = self._close_filters()
        digest = self._digest.result()
        if self.path is None or self._stdout is None:
            stdout_bytes, stderr_bytes = self._uncounted
            return Recorded(
                stdout_bytes=stdout_bytes,
                stderr_bytes=stderr_bytes,
                sha256="",
                joined=True,
                notes=(),
            )
        stdout_bytes = self._stdout.kept
        stderr_bytes = 0 if self._stderr is None else self._stderr.kept
        problem: OSError | None = None
        try:
            if self._stderr is None:
                flush_dir(self.path.parent)
            else:
                marker = mark_boundary(self.path, stdout_bytes)
                problem = finish_join(
                    self._stdout.fd, self._stderr.fd, stdout_bytes=stdout_bytes, digest=digest
                )
            flush(self._stdout.fd)
            if self._stderr is not None and problem is None:
                os.truncate(marker, 0)
        except OSError as error:
            problem = error
        finally:
            self._close()
        if problem is not None:
            self.notes.append(f"the output is not in its final form: {problem.strerror}")
        return Recorded(
            stdout_bytes=stdout_bytes,
            stderr_bytes=stderr_bytes,
            sha256=digest.hexdigest(),
            joined=problem is None,
            notes=(*self.notes, _says_unread(unread)) if unread else tuple(self.notes),
            complete=not self.notes,
        )

    def _keep_filtered(self, file: "_Appender", data: bytes) -> None:
        """Record what the filter returned; after `_MUCH` bytes a second thread writes it.

        The filter then works on the next piece meanwhile.
        """
        if self._behind is not None:
            self._behind.put(data)
            return
        self._keep_and_digest(file, data)
        if file.size >= _MUCH:
            from siding.ground.process.output.behind import Behind

            self._behind = Behind(partial(self._keep_and_digest, file))

    def _keep_and_digest(self, file: "_Appender", data: bytes) -> None:
        kept = self._keep(file, memoryview(data)) if data else 0
        if kept:
            self._digest.feed(data if kept == len(data) else data[:kept])

    def _close_filters(self) -> int:
        """Write what the filters held back; return how many bytes they masked unread."""
        if self._filters is None or self._stdout is None:
            return 0
        if self._behind is not None:
            self._behind.end()
            self._behind = None
        self._keep_and_digest(self._stdout, self._filters[0].close())
        if self._stderr is not None:
            self._keep(self._stderr, memoryview(self._filters[1].close()))
        unread = sum(each.unread for each in self._filters)
        self._filters = None
        return unread

    def _keep(self, file: "_Appender", data: memoryview) -> int:
        """Append ``data`` as far as the limit and the disk allow; return how many bytes."""
        if file.stopped:
            return 0
        wanted = data[: self._room(len(data))]
        kept = file.append(wanted)
        if kept == len(wanted) < len(data):
            file.failure = OSError(errno.EFBIG, f"the limit is {self._max_bytes} bytes")
        if file.failure is not None:
            self.notes.append(
                f"recording of {file.name} stopped after {file.kept} bytes: {file.failure.strerror}"
            )
        return kept

    def _room(self, wanted: int) -> int:
        if self._max_bytes is None or self._stdout is None:
            return wanted
        held = self._stdout.kept + (0 if self._stderr is None else self._stderr.kept)
        return min(wanted, max(0, self._max_bytes - held))

    def _abandon(self) -> None:
        for file in (self._stdout, self._stderr):
            if file is not None:
                file.path.unlink(missing_ok=True)
        self._close()

    def _close(self) -> None:
        for file in (self._stdout, self._stderr):
            if file is not None:
                os.close(file.fd)
        self._stdout = self._stderr = None


class _Appender:
    """A new file that is appended to; after the first failed write it is left alone."""

    def __init__(self, path: Path, name: str, *, lasting: bool = True) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self.fd = os.open(path, flags, 0o600)
        self.path = path
        self.name = name
        self.size = 0
        self.header = 0  # bytes before the stream
        self.failure: OSError | None = None
        self._lasting = lasting
        self._started = 0  # the kernel was told to write the file to the disk up to here

    @property
    def kept(self) -> int:
        """The number of bytes of the stream in the file, without the header."""
        return self.size - self.header

    @property
    def stopped(self) -> bool:
        return self.failure is not None

    def append(self, data: memoryview) -> int:
        """Write ``data`` and return how many bytes were written. A failure is kept, not raised."""
        done = 0
        try:
            while done < len(data):
                done += os.write(self.fd, data[done:])
        except OSError as error:
            self.failure = error
        self.size += done
        # Not for stderr's file: joining reads it again, and this would drop it from the page cache.
        if self._lasting and self.size - self._started >= WRITE_BACK_BYTES:
            start_write_back(self.fd, self._started, self.size - self._started)
            self._started = self.size
        return done
