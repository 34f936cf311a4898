"""Undo the compression of a body, for those who read a copy of it as it passes."""

import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any

Decode = Callable[[bytes], bytes]


class NotDecodable(Exception):
    """A body is encoded in a way that nobody here can undo; the message names the encoding."""


def decoder_of(encoding: str) -> Decode:
    """Return what decodes the pieces of a body one after the other. Raises NotDecodable.

    What it returns raises ValueError for bytes that are not so encoded.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return bytes
    if name in ("gzip", "x-gzip", "deflate"):
        return _guarded(zlib.decompressobj(wbits=zlib.MAX_WBITS | 32).decompress)
    if name == "br":
        return _guarded(_library("brotli", name).Decompressor().process)
    if name == "zstd":
        return _guarded(_library("zstandard", name).ZstdDecompressor().decompressobj().decompress)
    raise NotDecodable(name[:40])


def _library(module: str, encoding: str) -> Any:
    """Return a library that is not installed everywhere (``pip install 'siding[meter]'``)."""
    try:
        return import_module(module)
    except ImportError:
        raise NotDecodable(encoding) from None


def _guarded(decode: Decode) -> Decode:
    def decoded(data: bytes) -> bytes:
        try:
            return decode(data)
        except Exception as error:
            raise ValueError(f"it is not encoded as it says: {error}") from error

    return decoded
