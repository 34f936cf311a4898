"""SHA-256 without what `hashlib` costs at start-up.

`hashlib` loads OpenSSL: 3-5 ms, half of a bare interpreter's start, and as long as git takes to
look at a thousand files. CPython's own implementation gives the same digests and loads in 0.1 ms;
it lives in a module whose name depends on the version, and `hashlib` is there where neither does.
For megabytes `hashlib` is four times as fast.
"""

from typing import Any

_SMALL = 1 << 18


class Sha256:
    """A SHA-256 as `hashlib` has it, which loads `hashlib` only for more than 256 kB."""

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
            from hashlib import sha256

            self._large = sha256(b"".join(self._small))
            self._small.clear()
        self._large.update(data)

    def hexdigest(self) -> str:
        if self._large is None:
            return sha256_hex(b"".join(self._small))
        return str(self._large.hexdigest())


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of a few kilobytes, as hex."""
    return str(_light(data).hexdigest())


def _implementation() -> Any:
    for name in ("_sha2", "_sha256"):  # CPython 3.12 and newer; 3.11
        try:
            return __import__(name).sha256
        except ImportError:
            continue
    from hashlib import sha256

    return sha256


_light = _implementation()  # once: a failed import searches all of sys.path each time
