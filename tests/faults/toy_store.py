"""A toy store with switchable bugs: what the gates of this folder are tried on.

    toy_store.py BUG add NAME...     append each name and promise it
    toy_store.py BUG recover         mend what a kill left
    toy_store.py BUG list            print the names

`log` holds one name a line, `count` how many there are; `lock` serialises the writers. With the bug
"none" it keeps every rule; each other bug breaks one.
"""

import fcntl
import os
import sys
from pathlib import Path

BUGS = (
    "none",
    "no fsync",
    "no directory fsync",
    "in-place rewrite",
    "promise first",
    "swallowed errors",
    "retried fsync",
    "lock file",
    "short write ignored",
    "torn line left open",
    "no lock",
    "recovery in place",
    "traceback",
)


class Store:
    def __init__(self, root: Path, bug: str) -> None:
        assert bug in BUGS
        self.root, self.bug = root, bug
        self.log, self.count = root / "log", root / "count"

    def add(self, name: str) -> None:
        """The name is stored when this returns."""
        try:
            lock = self._lock()
            try:
                self._append(name.encode())
                self._write_count(self.counted() + 1)
            finally:
                self._unlock(lock)
        except OSError:
            if self.bug != "swallowed errors":
                raise

    def names(self) -> list[str]:
        """All whole lines; a last one without its end was promised to nobody."""
        try:
            lines = self.log.read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return []
        return [line.decode("utf-8", "replace") for line in lines if line]

    def counted(self) -> int:
        try:
            return int(self.count.read_bytes())
        except FileNotFoundError:
            return 0

    def recover(self) -> None:
        lock = self._lock()
        if self.bug == "recovery in place" and self.log.exists():
            whole = b"".join(name.encode() + b"\n" for name in self.names())
            self._put(self.log, whole, os.O_TRUNC)
        self._write_count(len(self.names()))
        self._unlock(lock)

    def _lock(self) -> int:
        if self.bug == "no lock":
            return os.open(os.devnull, os.O_RDONLY)
        if self.bug == "lock file":
            return os.open(self.root / "locked", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        fd = os.open(self.root / "lock", os.O_CREAT | os.O_RDWR)
        fcntl.flock(fd, fcntl.LOCK_EX)
        return fd

    def _unlock(self, fd: int) -> None:
        os.close(fd)
        if self.bug == "lock file":
            os.unlink(self.root / "locked")

    def _append(self, line: bytes) -> None:
        old = self.log.read_bytes() if self.log.exists() else b""
        closing = b"\n" if old and not old.endswith(b"\n") else b""
        if self.bug == "torn line left open":
            closing = b""
        self._put(self.log, closing + line + b"\n", os.O_APPEND, undo_to=len(old))
        self._flush_names()

    def _write_count(self, count: int) -> None:
        if self.bug == "in-place rewrite":
            self._put(self.count, b"%d\n" % count, os.O_TRUNC)
            return
        temporary = self.root / f"count.{os.getpid()}"
        try:
            self._put(temporary, b"%d\n" % count, os.O_EXCL)
            temporary.rename(self.count)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        self._flush_names()

    def _put(self, path: Path, data: bytes, how: int, *, undo_to: int | None = None) -> None:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o600)
        try:
            written = os.write(fd, data)
            while written < len(data) and self.bug != "short write ignored":
                written += os.write(fd, data[written:])
            self._flush(fd)
        except OSError:
            if undo_to is not None:
                os.ftruncate(fd, undo_to)
            raise
        finally:
            os.close(fd)

    def _flush(self, fd: int) -> None:
        if self.bug == "no fsync":
            return
        try:
            os.fsync(fd)
        except OSError:
            if self.bug != "retried fsync":
                raise
            os.fsync(fd)

    def _flush_names(self) -> None:
        if self.bug in ("no fsync", "no directory fsync"):
            return
        fd = os.open(self.root, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def main(bug: str, verb: str, names: list[str]) -> int:
    store = Store(Path.cwd(), bug)
    try:
        if verb == "add":
            for name in names:
                if bug == "promise first":
                    print(name, flush=True)
                store.add(name)
                if bug != "promise first":
                    print(name, flush=True)
        elif verb == "recover":
            store.recover()
        else:
            print("\n".join(store.names()))
    except OSError as error:
        if bug == "traceback":
            raise
        print(f"toy: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
