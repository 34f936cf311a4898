"""Memory of this process in pages of 2 MiB, so that a fork of it costs less.

A fork copies a table with an entry for each page, and an exit takes each of them apart: for the
80 MiB of everything that is loaded, that took more than most commands do. A page that a fork
writes to becomes small pages again, in that fork alone.
"""

import ctypes
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_SIZE = 2 << 20  # bytes, of such a page where the processor is an x86 or usually an ARM
_MADV_COLLAPSE = 25  # since Linux 6.1; a kernel that cannot do it says so, and nothing is changed


def use() -> None:
    """Gather what this process has written until now, as far as the kernel can."""
    with suppress(OSError):
        advise = ctypes.CDLL(None).madvise
        advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        for first, end in _written():
            start = -(-first // _SIZE) * _SIZE
            size = (end - start) // _SIZE * _SIZE
            if size > 0:
                advise(start, size, _MADV_COLLAPSE)


def _written() -> Iterator[tuple[int, int]]:
    """Yield where the memory is that belongs to no file and may be written."""
    for line in Path("/proc/self/maps").read_text("utf-8", errors="replace").splitlines():
        bounds, rights, _, _, inode, *name = line.split(maxsplit=5)
        if rights == "rw-p" and inode == "0" and name in ([], ["[heap]"]):
            first, _, end = bounds.partition("-")
            yield int(first, 16), int(end, 16)
