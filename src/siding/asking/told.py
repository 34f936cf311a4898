"""What a person was told of, so that nobody tells it twice, and it can be taken off the desktop.

A file in ``told/`` of the home for each thing that waits, named by a digest of its id. Whoever
makes the file tells it. The file goes when the thing no longer waits; one that nobody took away is
dropped after a month.
"""

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from siding.ground.errors import SidingError
from siding.ground.hashing import sha256_hex
from siding.ground.process.capture import run_captured
from siding.ground.storage.documents import read_document_or_none
from siding.ground.storage.layout import Home
from siding.ground.storage.writes import encode_document

_VERSION = 1
_KEPT_S = 30 * 86400.0
_PATIENCE_S = 5.0
_CLOSE = (
    "gdbus",
    "call",
    "--session",
    "--dest=org.freedesktop.Notifications",
    "--object-path=/org/freedesktop/Notifications",
    "--method=org.freedesktop.Notifications.CloseNotification",
)


class Told:
    """What a person was told of, in all projects of a home."""

    def __init__(self, home: Home, env: Mapping[str, str]) -> None:
        self._directory = home.told_dir
        self._env = env

    def is_first(self, waits: str) -> bool:
        """Take it on to tell a person of what waits; False if somebody has done so.

        Where nothing can be written, it is told: twice is better than never.
        """
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._drop_old()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
            fd = os.open(self._path(waits), flags, 0o600)
        except FileExistsError:
            return False
        except OSError:
            return True
        with suppress(OSError):
            os.write(fd, encode_document({"version": _VERSION, "waits": waits}))
        os.close(fd)
        return True

    def on_desktop(self, waits: str, number: int) -> None:
        """Remember the number that the desktop gave to the notification."""
        with suppress(OSError):
            self._path(waits).write_bytes(
                encode_document({"version": _VERSION, "waits": waits, "desktop": number})
            )

    def forget(self, waits: str) -> None:
        """Say that nobody was told after all."""
        with suppress(OSError):
            self._path(waits).unlink()

    def is_known(self, waits: str) -> bool:
        """Tell whether a person was told of what waits."""
        return self._path(waits).exists()

    def clear(self, waits: str) -> None:
        """Forget what no longer waits, and take its notification off the desktop."""
        if self.is_known(waits):  # nearly nothing was ever told
            self._drop(self._path(waits))

    def _drop_old(self) -> None:
        for path in self._all():
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _KEPT_S:
                    path.unlink()

    def _all(self) -> list[Path]:
        try:
            return [self._directory / name for name in os.listdir(self._directory)]
        except OSError:
            return []

    def _path(self, waits: str) -> Path:
        return self._directory / f"{sha256_hex(waits.encode())[:32]}.json"

    def _drop(self, path: Path) -> None:
        number = self._document(path).get("desktop")
        with suppress(OSError):
            path.unlink()
        if isinstance(number, int):
            with suppress(SidingError):
                run_captured((*_CLOSE, str(number)), env=self._env, timeout_s=_PATIENCE_S)

    def _document(self, path: Path) -> Mapping[str, Any]:
        with suppress(SidingError, OSError):
            return read_document_or_none(path, what="what was told", version=_VERSION) or {}
        return {}
