"""What is written: JSON objects as bytes that can be read back, and lines at the end of journals.

UTF-8, never NaN or Infinity. A lone surrogate has no UTF-8 form; Python makes one of each byte of a
file name that is not UTF-8. It is written as its ``\\udcXX`` escape, so that every text can be
stored.

Commands that only read do not load this.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from siding.ground.files.durable import flush, flush_dir, write_all
from siding.ground.files.regular import open_with_stat
from siding.ground.storage.errors import NotStorable
from siding.ground.storage.lines import MAX_LINE_BYTES, lines_backwards
from siding.ground.storage.locks import FileLock

MAX_DEPTH = 200  # far below the parser's recursion limit, however deep the caller's stack is
_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_DOCUMENT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=2)


def encode_line(record: Mapping[str, Any]) -> bytes:
    """Return the object on one line, without the newline; raises `NotStorable`."""
    return _encode(_LINE, record)


def encode_document(data: Mapping[str, Any]) -> bytes:
    """Return the object indented by two, with a final newline; raises `NotStorable`."""
    return _encode(_DOCUMENT, data) + b"\n"


def append(path: Path, record: Mapping[str, Any], lock_timeout_s: float | None) -> None:
    """Append a record to a journal: see `Journal.append`."""
    line = _encoded_line(record)
    with _open_locked(path, lock_timeout_s) as (fd, size):
        _write_line(fd, size, line)


def append_built(
    path: Path, build: Callable[[bytes | None], Mapping[str, Any]], lock_timeout_s: float | None
) -> tuple[dict[str, Any], bytes]:
    """Append the record that `build` returns for the previous line: see `Journal.append_built`."""
    with _open_locked(path, lock_timeout_s) as (fd, size):
        previous = next(lines_backwards(fd, size), None)
        record = dict(build(previous.raw if previous else None))
        line = _encoded_line(record)
        _write_line(fd, size, line)
    return record, line


def close_last_line(path: Path, lock_timeout_s: float | None) -> None:
    """Close the last line of a journal with a newline, durably, if it lacks one."""
    with _open_locked(path, lock_timeout_s) as (fd, size):
        if newline := _missing_newline(fd, size):
            write_all(fd, newline)
            flush(fd)


@contextmanager
def _open_locked(path: Path, lock_timeout_s: float | None) -> Iterator[tuple[int, int]]:
    """Yield the descriptor and size of a journal, under its lock."""
    lock = FileLock(path.with_name(path.name + ".lock"))
    with lock.acquire(timeout_s=lock_timeout_s):
        fd, status = open_with_stat(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            if status.st_size == 0:
                # Flush the name before the first line. So a journal with content has a durable
                # name, even if the process that created the file was killed.
                flush_dir(path.parent)
            yield fd, status.st_size
        finally:
            os.close(fd)


def _encoded_line(record: Mapping[str, Any]) -> bytes:
    line = encode_line(record)
    if len(line) > MAX_LINE_BYTES:
        raise NotStorable(f"a record of {len(line)} bytes is over the limit of {MAX_LINE_BYTES}")
    return line


def _write_line(fd: int, size: int, line: bytes) -> None:
    try:
        write_all(fd, b"%b%b\n" % (_missing_newline(fd, size), line))
        flush(fd)
    except BaseException:
        # The caller gets an error, so no reader may find the record. It is not flushed again: after
        # a failed fsync Linux marks the pages clean, and the next fsync succeeds without writing.
        with suppress(OSError):
            os.ftruncate(fd, size)
        raise


def _missing_newline(fd: int, size: int) -> bytes:
    """Return the newline that the last line lacks; b"" when the file ends with one or is empty."""
    return b"\n" if size and os.pread(fd, 1, size - 1) != b"\n" else b""


def _encode(encoder: json.JSONEncoder, data: Mapping[str, Any]) -> bytes:
    try:
        # Only lone surrogates inside strings cannot be encoded. backslashreplace writes them as
        # \udcXX, which is also JSON's escape.
        raw = encoder.encode(dict(data)).encode("utf-8", "backslashreplace")
    except RecursionError:
        raise NotStorable("a record is nested too deeply to be stored") from None
    except ValueError as error:  # NaN, a circular reference, an int of more than 4300 digits
        raise NotStorable(f"a record has no JSON form: {error}") from None
    # The number of brackets is an upper bound of the depth, and counting them is fast.
    if raw.count(b"{") + raw.count(b"[") > MAX_DEPTH and _depth(data) > MAX_DEPTH:
        raise NotStorable(f"a record is nested more than {MAX_DEPTH} deep")
    return raw


def _depth(value: object) -> int:
    depth = 0
    level = [value]
    while level:
        depth += 1
        level = [child for parent in level for child in _containers_in(parent)]
    return depth


def _containers_in(value: object) -> list[object]:
    children: Iterable[object] = value.values() if isinstance(value, dict) else _items(value)
    return [child for child in children if isinstance(child, dict | list | tuple)]


def _items(value: object) -> Iterable[object]:
    return value if isinstance(value, list | tuple) else ()
