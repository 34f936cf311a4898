"""Viewed marks and last looks of a task on the disk: FORMAT.md."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.directory_lock import locked
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.fields import mapping, mappings, text, whole
from siding.ground.storage.layout import TaskLayout
from siding.looks.hunks import File
from siding.looks.marks import Mark
from siding.record.snapshots.store import remove_tree

VERSION = 1
MOST = 20_000  # marks that are kept: the newest
_WAIT_S = 10.0


class Look(NamedTuple):
    """The state that a person saw last: its commit, where its objects are, and when that was."""

    snapshot: str
    objects: str  # a directory beside the document; "" if the store of snapshots has them
    at: str


class Looks:
    """The marks and looks of one task. Change them within `changing`."""

    def __init__(self, layout: TaskLayout) -> None:
        self.root = layout.looks_dir
        self._path = self.root / "looks.json"
        self.marks: dict[File, dict[str, Mark]] = {}
        self.last: dict[str, Look] = {}  # of each device

    @classmethod
    def read(cls, layout: TaskLayout) -> "Looks":
        """Return what there is. Raises DamagedFile, NewerVersion."""
        found = cls(layout)
        data = mapping(read_document_or_none(found._path, what="looks", version=VERSION))
        for each in mappings(data.get("files")):
            marks = [_mark(mark) for mark in mappings(each.get("marks"))]
            file = File(is_new=each.get("side") == "new", name=text(each.get("path")))
            found.marks[file] = {mark.digest: mark for mark in marks}
        for device, each in mapping(data.get("devices")).items():
            look = mapping(each)
            found.last[device] = Look(
                text(look.get("snapshot")), text(look.get("objects")), text(look.get("at"))
            )
        return found

    @classmethod
    @contextmanager
    def changing(cls, layout: TaskLayout) -> "Iterator[Looks]":
        """Yield them under their lock, and write them after the block. Raises LockBusy."""
        with locked(layout.looks_dir, _WAIT_S):
            found = cls.read(layout)
            yield found
            found._write()

    def objects_of(self, look: Look) -> Path | None:
        return self.root / look.objects if look.objects else None

    def _write(self) -> None:
        document = {
            "version": VERSION,
            "files": [
                {
                    "path": file.name,
                    "side": "new" if file.is_new else "old",
                    "marks": [_record(mark) for mark in own.values()],
                }
                for file, own in _newest(self.marks).items()
            ],
            "devices": {device: look._asdict() for device, look in self.last.items()},
        }
        write_document(self._path, document)
        named = {look.objects for look in self.last.values()}
        for entry in os.scandir(self.root):
            if entry.is_dir(follow_symlinks=False) and entry.name not in named:
                remove_tree(Path(entry.path))


def _newest(marks: Mapping[File, Mapping[str, Mark]]) -> Mapping[File, Mapping[str, Mark]]:
    """Return the marks without the oldest ones of each file, if there are too many."""
    count = sum(map(len, marks.values()))
    if count <= MOST:
        return marks
    share = MOST / count
    return {
        file: dict(list(own.items())[-max(1, int(len(own) * share)) :])
        for file, own in marks.items()
    }


def _mark(record: Mapping[str, Any]) -> Mark:
    old, viewed = record.get("old"), record.get("viewed")
    return Mark(
        digest=text(record.get("digest")),
        viewed=tuple(whole(each) for each in (viewed if isinstance(viewed, list) else [])),
        of=whole(record.get("of")),
        of_patch=whole(record.get("of_patch")),
        old=(whole(old[0]), whole(old[1])) if isinstance(old, list) and len(old) == 2 else None,
        base=text(record.get("base")),
    )


def _record(mark: Mark) -> dict[str, Any]:
    fields = mark._asdict()
    return {**fields, "viewed": [*mark.viewed], "old": mark.old and [*mark.old]}
