"""What a run left running when it ended: ``runs/<id>.left``.

The host of the run writes it while the run still lives, and nobody ever changes it. Whoever holds
the task's lock removes it when none of the processes is there any more. It is not flushed: after a
power cut none of them is there.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from shlex import join
from typing import Any

from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import NewerVersion, read_document_or_none
from siding.ground.storage.fields import mappings, said, text, words
from siding.ground.storage.layout import TaskLayout
from siding.ground.storage.writes import encode_document
from siding.record.runs.file_names import LEFT
from siding.record.runs.run import ProcessMark, run_number
from siding.record.runs.small_files import remove_small, replace_small

LEFT_VERSION = 1
_SHORT = 200  # signs of a command line that are kept


class LeftMark(NamedTuple):
    """A process as it was when the run ended; `argv` is without secrets, and shortened."""

    mark: ProcessMark
    argv: tuple[str, ...] = ()

    def as_record(self) -> dict[str, Any]:
        return {**self.mark._asdict(), "argv": list(self.argv)}


class LeftRunning(NamedTuple):
    """A run that has ended, and the processes that it left. They count only in the same `boot`."""

    number: int
    started_at: str  # ISO 8601
    ended_at: str
    cmd: tuple[str, ...]  # without secrets
    name: str
    token: str
    boot: str
    processes: tuple[LeftMark, ...]

    @property
    def id(self) -> str:
        return f"r{self.number}"

    @property
    def title(self) -> str:
        """The command, quoted so that it can be typed into a shell."""
        return join(self.cmd)

    @classmethod
    def from_record(cls, number: int, record: Mapping[str, Any]) -> "LeftRunning":
        """Return what a document says; a field of an unexpected type counts as missing."""
        return cls(
            number=number,
            started_at=text(record.get("started_at")),
            ended_at=text(record.get("ended_at")),
            cmd=words(record.get("cmd")),
            name=text(record.get("name")),
            token=text(record.get("token")),
            boot=text(record.get("boot")),
            processes=tuple(
                LeftMark(ProcessMark.from_record(each), words(each.get("argv")))
                for each in mappings(record.get("processes"))
            ),
        )

    def as_record(self) -> dict[str, Any]:
        return {
            "version": LEFT_VERSION,
            "run": self.id,
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "cmd": list(self.cmd),
            **said(name=self.name),
            "token": self.token,
            "boot": self.boot,
            "processes": [each.as_record() for each in self.processes],
        }


class LeftFiles:
    """The documents of one task."""

    def __init__(self, layout: TaskLayout) -> None:
        self._directory = layout.runs_dir

    def write(self, left: LeftRunning) -> None:
        """Write a document. A full disk is no reason to end anything: then nobody lists it."""
        with suppress(OSError):
            replace_small(self._path(left.number), encode_document(left.as_record()))

    def numbers(self) -> list[int]:
        """Return the numbers of the runs that have a document, in order."""
        try:
            names = os.listdir(self._directory)
        except OSError:
            return []
        found = []
        for name in names:
            if name.endswith(LEFT):
                with suppress(ValueError):
                    found.append(run_number(name.removesuffix(LEFT)))
        return sorted(found)

    def read(self, number: int) -> LeftRunning | None:
        """Return a document; None if it is gone, or a later version of Siding wrote it.

        One that is damaged names no process.
        """
        try:
            document = read_document_or_none(
                self._path(number), what="left processes", version=LEFT_VERSION
            )
        except NewerVersion:
            return None
        except (SidingError, OSError):
            document = {}
        return None if document is None else LeftRunning.from_record(number, document)

    def remove(self, number: int) -> None:
        """Remove a document. If the disk fails, the next command in the task does it."""
        with suppress(OSError):
            remove_small(self._path(number))

    def _path(self, number: int) -> Path:
        return self._directory / f"r{number}{LEFT}"


def shortened(argv: list[str]) -> tuple[str, ...]:
    """Return the first words of a command line, about as many as fit into a line."""
    kept: list[str] = []
    room = _SHORT
    for word in argv:
        if room <= 0:
            return (*kept, "...")
        kept.append(word if len(word) <= room else word[:room] + "...")
        room -= len(word) + 1
    return tuple(kept)
