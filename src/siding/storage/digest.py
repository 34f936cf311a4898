"""SHA-256 without what `hashlib` costs at start-up.

`hashlib` loads OpenSSL: 4-5 ms, half of a bare interpreter's start, on commands that hash one
path. CPython's own implementation gives the same digests and loads in 0.1 ms; it lives in a module
whose name depends on the version, and `hashlib` is there where neither does. For megabytes use
`hashlib`: it is four times as fast.
"""

from typing import Any


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of a few kilobytes, as hex."""
    return str(_sha256(data).hexdigest())


def _implementation() -> Any:
    for name in ("_sha2", "_sha256"):  # CPython 3.12 and newer; 3.11
        try:
            return __import__(name).sha256
        except ImportError:
            continue
    from hashlib import sha256

    return sha256


_sha256 = _implementation()  # once: a failed import searches all of sys.path each time
