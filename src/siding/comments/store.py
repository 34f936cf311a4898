"""The comments of a task on the disk: FORMAT.md.

Each text that a comment was found in last is kept beside them, once, by its digest: where its lines
are is found by a comparison with it.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from siding.comments.comment import Comment
from siding.ground.files.durable import replace_bytes
from siding.ground.files.regular import read_small
from siding.ground.hashing import sha256_hex
from siding.ground.storage.directory_lock import locked
from siding.ground.storage.documents import DamagedFile, read_document_or_none, write_document
from siding.ground.storage.fields import mapping, mappings, whole
from siding.ground.storage.layout import TaskLayout

VERSION = 1
LARGEST = 4 << 20  # bytes of a text that can be commented
_WAIT_S = 10.0


class Comments:
    """The comments of one task. Change them within `changing`."""

    def __init__(self, layout: TaskLayout) -> None:
        self._root = layout.comments_dir
        self._path = self._root / "comments.json"
        self.all: list[Comment] = []
        self._number = 0
        self._texts: dict[str, bytes] = {}

    @classmethod
    def read(cls, layout: TaskLayout) -> "Comments":
        """Return what there is. Raises DamagedFile, NewerVersion."""
        found = cls(layout)
        data = mapping(read_document_or_none(found._path, what="comments", version=VERSION))
        try:
            found.all = [Comment.from_record(each) for each in mappings(data.get("comments"))]
        except ValueError as error:
            raise DamagedFile(found._path, str(error), what="comments") from error
        found._number = whole(data.get("number"))
        return found

    @classmethod
    @contextmanager
    def changing(cls, layout: TaskLayout) -> "Iterator[Comments]":
        """Yield them under their lock, and write them after the block. Raises LockBusy."""
        with locked(layout.comments_dir, _WAIT_S):
            found = cls.read(layout)
            yield found
            found._write()

    def new_id(self) -> str:
        self._number += 1
        return f"c{self._number}"

    def text(self, digest: str) -> bytes | None:
        """Return a text that was kept; None if it is lost."""
        found = self._texts.get(digest)
        return found if found is not None else read_small(self._root / digest, LARGEST)

    def keep_text(self, raw: bytes) -> str:
        """Keep a text with the next write; return its digest."""
        digest = sha256_hex(raw)
        self._texts[digest] = raw
        return digest

    def put(self, changed: Iterable[Comment]) -> None:
        by_id = {comment.id: comment for comment in changed}
        self.all = [by_id.pop(comment.id, comment) for comment in self.all] + [*by_id.values()]

    def take_away(self, ids: Iterable[str]) -> None:
        gone = set(ids)
        self.all = [comment for comment in self.all if comment.id not in gone]

    def _write(self) -> None:
        wanted = {comment.text_sha256 for comment in self.all}
        for digest in wanted & self._texts.keys():
            if not (self._root / digest).exists():
                replace_bytes(self._root / digest, self._texts[digest])
        records = [comment.as_record() for comment in self.all]
        write_document(
            self._path, {"version": VERSION, "number": self._number, "comments": records}
        )
        for path in _texts_in(self._root):
            if path.name not in wanted:
                path.unlink(missing_ok=True)


def _texts_in(root: Path) -> Iterator[Path]:
    for path in root.iterdir():
        if len(path.name) == 64 and set(path.name) <= set("0123456789abcdef"):
            yield path
