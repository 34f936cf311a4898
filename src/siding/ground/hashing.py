"""SHA-256, and the hashes that git names objects by, without what `hashlib` costs at start-up.

`import hashlib` loads OpenSSL. That was measured (Python 3.11, Linux): 3 to 5 ms, a third of a bare
interpreter's start and as long as git takes to look at a thousand files. CPython's own code gives
the same digests and loads in 0.1 ms, but does 200 MB/s where OpenSSL does 1,800. So small data is
hashed with the former and `hashlib` is loaded for what is larger than 512 kB, where it is the
sooner one to be done in spite of its load.
"""

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class Digest(Protocol):
        """A digest as `hashlib` has it."""

        def update(self, data: bytes | bytearray | memoryview, /) -> None: ...
        def digest(self) -> bytes: ...
        def hexdigest(self) -> str: ...


_SMALL = 1 << 19  # bytes
# CPython's own modules; which one has SHA-256 depends on the version (3.12 and newer; 3.11).
_OWN = {"sha1": ("_sha1",), "sha256": ("_sha2", "_sha256")}
_found: "dict[str, Callable[[], Digest]]" = {}


class Sha256:
    """A SHA-256 as `hashlib` has it; `hashlib` is loaded when the data turns out to be large."""

    def __init__(self) -> None:
        self._small: list[bytes] = []
        self._size = 0
        self._large: Any = None

    def update(self, data: bytes | bytearray | memoryview) -> None:
        if self._large is None:
            self._size += len(data)
            if self._size <= _SMALL:
                self._small.append(bytes(data))
                return
            self._large = new_digest("sha256", self._size)
            self._large.update(b"".join(self._small))
            self._small.clear()
        self._large.update(data)

    def hexdigest(self) -> str:
        if self._large is None:
            return sha256_hex(b"".join(self._small))
        return str(self._large.hexdigest())


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of the bytes, as hex."""
    digest = new_digest("sha256", len(data))
    digest.update(data)
    return digest.hexdigest()


def sha256_of_file(fd: int) -> str:
    """Return the SHA-256 of all that an open file holds, as hex; its position changes."""
    digest = Sha256()
    os.lseek(fd, 0, os.SEEK_SET)
    while block := os.read(fd, 1 << 20):
        digest.update(block)
    return digest.hexdigest()


def new_digest(algorithm: str, size: int | None) -> "Digest":
    """Return an empty digest ("sha1", "sha256") for data of this size, None when it is not known.

    The algorithms have the names of git's object formats: SHA-1 is here because git names objects
    by it, and protects nothing else.
    """
    if size is not None and size <= _SMALL:
        if algorithm not in _found:  # once: an import that fails searches all of sys.path
            _found[algorithm] = _own(algorithm)
        return _found[algorithm]()
    return _of_openssl(algorithm)


def _own(algorithm: str) -> "Callable[[], Digest]":
    for name in _OWN.get(algorithm, ()):
        try:
            own: Callable[[], Digest] = getattr(__import__(name), algorithm)
        except ImportError:  # another Python, or another version
            continue
        return own
    return lambda: _of_openssl(algorithm)


def _of_openssl(algorithm: str) -> "Digest":
    import hashlib

    return hashlib.new(algorithm, usedforsecurity=False)
