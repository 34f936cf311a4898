"""The artifact on disk: joining, recovery after a cut at any point, and reading in windows."""

import hashlib
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from siding.ground.process.command import StreamPlan
from siding.ground.process.output.files import PTY_HEADER, marker_path, settle_output, stderr_path
from siding.ground.process.output.reading import (
    Output,
    RecoveredOutput,
    read_output,
    recover_output,
)
from siding.ground.process.output.recording import BUFFER_SIZE, FIRST_SIZE, OutputFiles, Recorded

STREAMS = st.one_of(
    st.binary(max_size=200),
    # Content that looks like the form around it.
    st.lists(
        st.sampled_from([b"=== STDOUT ===\n", b"\n=== STDERR ===\n", b"\n", b"=", b"x"]), max_size=6
    ).map(b"".join),
)


def whole(stdout: bytes, stderr: bytes) -> bytes:
    return b"=== STDOUT ===\n" + stdout + b"\n=== STDERR ===\n" + stderr + b"\n"


def record(
    path: Path, stdout: bytes, stderr: bytes, *, streams: StreamPlan = StreamPlan.PIPED
) -> Recorded:
    files = OutputFiles(path, streams=streams)
    files.open()
    write(files, stdout, stderr)
    return files.finish()


def write(files: OutputFiles, stdout: bytes, stderr: bytes) -> None:
    for start in range(0, len(stdout), 1 << 20):
        piece = stdout[start : start + (1 << 20)]
        buffer = files.buffer()
        buffer[: len(piece)] = piece
        files.write_stdout(buffer, len(piece))
    files.write_stderr(memoryview(stderr))


def content(output: Output) -> tuple[bytes, bytes]:
    return b"".join(output.stdout.chunks(7)), b"".join(output.stderr.chunks(7))


@given(stdout=STREAMS, stderr=STREAMS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_what_is_written_can_be_read(tmp_path: Path, stdout: bytes, stderr: bytes) -> None:
    folder = fresh(tmp_path)
    path = folder / "0001.output"
    recorded = record(path, stdout, stderr)
    assert path.read_bytes() == whole(stdout, stderr)
    assert recorded.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert content(read_output(path, len(stdout), len(stderr))) == (stdout, stderr)
    settle_output(path, len(stdout))
    settle_output(path, len(stdout))
    assert list(folder.iterdir()) == [path]
    assert content(read_output(path, len(stdout), len(stderr))) == (stdout, stderr)


def fresh(tmp_path: Path) -> Path:
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    return tmp_path


@given(stdout=STREAMS, stderr=STREAMS, data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
def test_a_run_cut_off_anywhere_is_recovered_exactly(
    tmp_path: Path, stdout: bytes, stderr: bytes, data: st.DataObject
) -> None:
    """Every state a kill can leave, and a kill of the recovery itself at any of them."""
    path = fresh(tmp_path) / "0001.output"
    full = whole(stdout, stderr)
    boundary = len(b"=== STDOUT ===\n") + len(stdout)
    state = data.draw(st.sampled_from(["running", "marked", "joining", "joined", "emptied"]))
    if state == "running":
        path.write_bytes(full[:boundary])
        stderr_path(path).write_bytes(stderr)
    else:
        cut = {
            "marked": boundary,
            "joining": data.draw(st.integers(boundary, len(full))),
            "joined": len(full),
            "emptied": len(full),
        }[state]
        path.write_bytes(full[:cut])
        marker_path(path, len(stdout)).write_bytes(b"" if state == "emptied" else stderr)
    expected = RecoveredOutput(
        streams=StreamPlan.PIPED,
        stdout_bytes=len(stdout),
        stderr_bytes=len(stderr),
        sha256=hashlib.sha256(full).hexdigest(),
    )
    # A reader that comes before the recovery sees the same.
    assert content(read_output(path)) == (stdout, stderr)
    for _ in range(2):
        assert recover_output(path) == expected
        assert path.read_bytes() == full
        assert content(read_output(path)) == (stdout, stderr)
    assert content(read_output(path, len(stdout), len(stderr))) == (stdout, stderr)
    settle_output(path, len(stdout))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("length", range(len("=== STDOUT ===\n")))
def test_a_header_that_was_cut_off_is_completed(tmp_path: Path, length: int) -> None:
    path = tmp_path / "0001.output"
    path.write_bytes(b"=== STDOUT ===\n"[:length])
    stderr_path(path).write_bytes(b"err")
    recovered = recover_output(path)
    assert recovered is not None
    assert (recovered.stdout_bytes, recovered.stderr_bytes) == (0, 3)
    assert path.read_bytes() == whole(b"", b"err")


@pytest.mark.parametrize("length", range(len(PTY_HEADER) + 1))
def test_a_terminals_header_that_was_cut_off_is_completed(tmp_path: Path, length: int) -> None:
    path = tmp_path / "0001.output"
    path.write_bytes(PTY_HEADER[:length])
    recovered = recover_output(path)
    digest = hashlib.sha256(PTY_HEADER).hexdigest()
    assert recovered == RecoveredOutput(StreamPlan.PTY, 0, 0, digest)
    assert path.read_bytes() == PTY_HEADER


def test_a_terminals_output_is_recovered_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "0001.output"
    path.write_bytes(PTY_HEADER + b"one stream\r\n")
    recovered = recover_output(path)
    assert recovered is not None
    assert recovered.stdout_bytes == 12
    assert recovered.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert content(read_output(path)) == (b"one stream\r\n", b"")


def test_stderr_alone_is_recovered(tmp_path: Path) -> None:
    """The recorder was killed between making its two files."""
    path = tmp_path / "0001.output"
    stderr_path(path).touch()
    recovered = recover_output(path)
    assert recovered is not None
    assert path.read_bytes() == whole(b"", b"")


@pytest.mark.parametrize("arrived", [0, 2])
def test_a_boundary_without_the_bytes_before_it(tmp_path: Path, arrived: int) -> None:
    """The power failed: the name that says where stdout ends is on the disk, its bytes are not."""
    path = tmp_path / "0001.output"
    path.write_bytes(b"=== STDOUT ===\n" + b"out\n"[:arrived])
    marker_path(path, 4).write_bytes(b"err\n")
    found = recover_output(path)
    assert found is not None
    assert (found.stdout_bytes, found.stderr_bytes) == (arrived, 4)
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert b"\0" not in path.read_bytes()
    assert recover_output(path) == found


def test_nothing_is_recovered_from_nothing(tmp_path: Path) -> None:
    assert recover_output(tmp_path / "0001.output") is None
    assert recover_output(tmp_path / "gone" / "0001.output") is None
    assert list(tmp_path.iterdir()) == []


def test_neighbours_are_left_alone(tmp_path: Path) -> None:
    for name in ("0002.stderr", "0002.stderr@5", "10001.stderr", "0001.stderr@x", "0001.stderr@"):
        (tmp_path / name).write_bytes(b"other")
    path = tmp_path / "0001.output"
    record(path, b"out", b"err")
    assert recover_output(path) is not None
    assert path.read_bytes() == whole(b"out", b"err")
    others = [file for file in tmp_path.iterdir() if file.read_bytes() == b"other"]
    assert len(others) == 5


class Unchanged:
    """A filter that lets everything pass."""

    unread = 0

    def feed(self, piece: bytes | memoryview) -> bytes:
        return bytes(piece)

    def close(self) -> bytes:
        return b""


@pytest.mark.parametrize("filtered", [None, Unchanged], ids=["as it comes", "filtered"])
def test_a_large_buffer_comes_after_a_small_one_was_filled(
    tmp_path: Path, filtered: type[Unchanged] | None
) -> None:
    """Zeros for megabytes are most of what a command costs that prints a line."""
    files = OutputFiles(tmp_path / "0001.output", streams=StreamPlan.PIPED, filtered=filtered)
    files.open()
    lines = [b"a line\n", b"x" * FIRST_SIZE, b"y" * BUFFER_SIZE]
    for line, wanted in zip(lines, (FIRST_SIZE, FIRST_SIZE, BUFFER_SIZE), strict=True):
        buffer = files.buffer()
        assert len(buffer) == wanted
        buffer[: len(line)] = line
        files.write_stdout(buffer, len(line))
    recorded = files.finish()
    full = whole(b"".join(lines), b"")
    assert files.path is not None
    assert files.path.read_bytes() == full
    assert recorded.sha256 == hashlib.sha256(full).hexdigest()


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (9 << 20) + 5])
def test_large_streams_are_recovered(tmp_path: Path, size: int) -> None:
    """Over the sizes of buffers, and where digesting moves to a thread."""
    stdout, stderr = os.urandom(size), os.urandom(size // 2 + 3)
    path = tmp_path / "0001.output"
    recorded = record(path, stdout, stderr)
    full = whole(stdout, stderr)
    assert path.read_bytes() == full
    assert recorded.sha256 == hashlib.sha256(full).hexdigest()
    marker_path(path, size).write_bytes(stderr)
    os.truncate(path, len(full) - len(stderr) // 2)
    recovered = recover_output(path)
    assert recovered == RecoveredOutput(StreamPlan.PIPED, size, len(stderr), recorded.sha256)
    assert path.read_bytes() == full


def test_a_window_of_a_stream_is_read_without_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "0001.output"
    record(path, b"0123456789", b"abc")
    output = read_output(path, 10, 3)
    assert output.stdout.read(3, 4) == b"3456"
    assert output.stdout.read(8, 100) == b"89"
    assert output.stdout.read(10, 1) == output.stdout.read(99, 1) == b""
    assert output.stdout.tail(3) == b"789"
    assert output.stdout.tail(99) == b"0123456789"
    assert output.stderr.tail(2) == b"bc"


def test_a_bar_artifact_without_counts_is_split_at_the_first_header(tmp_path: Path) -> None:
    path = tmp_path / "0001.output"
    long = b"x" * ((1 << 20) - 20)  # the header lies across two windows of the search
    for stdout in (b"out", long, b""):
        path.write_bytes(whole(stdout, b"err"))
        assert content(read_output(path)) == (stdout, b"err")


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"=",
        b"=== STDOUT ===\n",
        b"=== STDOUT ===\nout",
        b"no header at all",
        whole(b"", b"")[:-1],
    ],
)
def test_damaged_artifacts_are_read_as_far_as_they_go(tmp_path: Path, damaged: bytes) -> None:
    path = tmp_path / "0001.output"
    path.write_bytes(damaged)
    for counts in ((None, None), (5, 5), (1 << 60, 1 << 60)):
        output = read_output(path, *counts)
        for span in (output.stdout, output.stderr):
            assert span.size <= len(damaged)
            assert b"".join(span.chunks()) == span.read(0, span.size)


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "0001.output"
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        read_output(path)
    with pytest.raises(OSError, match=r"not a regular file|No such device"):
        recover_output(path)
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(OSError, match="symbolic"):
        read_output(path)
