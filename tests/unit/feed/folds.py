"""A fold for tests of what is around it: a row for each file of a directory, named by its text."""

from collections.abc import Collection
from pathlib import Path

from siding.asking.views import InboxEntry, Waits
from siding.feed.model import Ask, AskKind, Feed, Row, RowKind, State

ASKS = "ask "  # how a text begins that is an ask, too


def row(key: str, *, name: str = "", run: str = "", mark: str = "") -> Row:
    return Row(
        key=key,
        kind=RowKind.TASK,
        state=State.RUNS if run else State.RESTS,
        project="p-0000",
        project_name="p",
        id=key,
        name=name,
        what="",
        since="",
        address=f"siding://p-0000/{key}",
        run=run,
        mark=mark,
    )


def feed(*rows: Row, epoch: int = 0, seq: int = 0) -> Feed:
    asks = tuple(ask(each.name) for each in rows if each.name.startswith(ASKS))
    return Feed(epoch, seq, rows, asks, (), 1)


def ask(name: str) -> Ask:
    words = {**dict.fromkeys(InboxEntry._fields, ""), "kind": Waits.FAILED.value}
    return Ask(id=name, kind=AskKind.FAILURE, entry=InboxEntry(**words), row="", address="")


class FilesFold:
    """Reads the files of directories below `root` again only where a hint says so."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.touches: list[frozenset[Path]] = []
        self.looks = 0
        self.pids: set[int] = set()
        self._known: dict[Path, str] = {}
        self._dirty: set[Path] | None = None  # None: everything

    def look(self) -> Feed:
        self.looks += 1
        for path in [*self._known] if self._dirty is None else self._dirty:
            self._known.pop(path, None)
        for path in self._listed() if self._dirty is None else self._dirty:
            if path.is_file():
                self._known[path] = path.read_text()
            elif path.is_dir():
                self._known.update(
                    (each, each.read_text()) for each in path.iterdir() if each.is_file()
                )
        self._dirty = set()
        return feed(*(row(str(path), name=text) for path, text in sorted(self._known.items())))

    def touched(self, paths: Collection[Path]) -> None:
        self.touches.append(frozenset(paths))
        if not paths:
            self._dirty = None
        elif self._dirty is not None:
            self._dirty |= set(paths)

    def directories(self) -> set[Path]:
        return {self.root, *(each for each in self.root.iterdir() if each.is_dir())}

    def living(self) -> set[int]:
        return self.pids

    def _listed(self) -> list[Path]:
        return [each for each in self.root.rglob("*") if each.is_file()]
