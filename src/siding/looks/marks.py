"""Viewed marks on hunks: what they are worth in the present patch. Pure.

A mark is on a text. It holds as long as that text is in the patch, wherever it went, and again when
it comes back. Where it is not certain that a hunk is the one that was marked, it does not hold: a
hunk that nobody has read is never called viewed.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from siding.ground.namedtuples import NamedTuple
from siding.looks.hunks import File, Hunk, Patch


class State(StrEnum):
    """What a person knows of a hunk or a file."""

    VIEWED = "viewed"  # it was marked, and its text is as it was
    CHANGED = "changed"  # what was there was marked, and changed since
    NEW = "new"  # never marked


class Mark(NamedTuple):
    """The marks on the hunks of one digest in one file.

    `viewed` are those that were marked, by `nth`, of the `of` that there were in the file then;
    `of_patch` there were in the whole patch. `old` is where one was in the text before the change,
    which had the snapshot `base`; None for what is in no line.
    """

    digest: str
    viewed: tuple[int, ...]
    of: int
    of_patch: int
    old: tuple[int, int] | None
    base: str

    def holds(self, hunk: Hunk) -> bool:
        """Tell whether this hunk was marked. It has the mark's digest."""
        if hunk.of == self.of:
            return hunk.nth in self.viewed
        # Which of several equal ones came or went is not known. All that are left were read if
        # all were.
        return hunk.of < self.of == len(self.viewed)


Marks = Mapping[File, Mapping[str, Mark]]


class Seen(NamedTuple):
    """A hunk, and what a person knows of it."""

    hunk: Hunk
    state: State


class FileSeen(NamedTuple):
    """A file, with all its hunks."""

    path: str
    hunks: tuple[Seen, ...]

    @property
    def viewed(self) -> int:
        return sum(each.state is State.VIEWED for each in self.hunks)

    @property
    def state(self) -> State:
        states = {each.state for each in self.hunks}
        if states == {State.VIEWED}:
            return State.VIEWED
        return State.CHANGED if State.CHANGED in states else State.NEW


class Progress(NamedTuple):
    """How many files, and hunks, are viewed."""

    files: int
    of_files: int
    hunks: int
    of_hunks: int

    def __str__(self) -> str:
        return f"{self.files}/{self.of_files} viewed"


def seen_in(patch: Patch, marks: Marks) -> list[FileSeen]:
    """Return what a person knows of each file of a patch, in its order."""
    files = patch.by_file()
    renamed = _renamed(files, marks)
    found = []
    for file, hunks in files.items():
        own = marks.get(renamed.get(file, file), {})
        digests = {hunk.digest for hunk in hunks}
        gone = [mark for digest, mark in own.items() if digest not in digests]
        seen = tuple(Seen(hunk, _state(hunk, own, gone, patch.base)) for hunk in hunks)
        found.append(FileSeen(hunks[0].path, seen))
    return found


def _state(hunk: Hunk, own: Mapping[str, Mark], gone: Sequence[Mark], base: str) -> State:
    mark = own.get(hunk.digest)
    if mark is not None and mark.holds(hunk):
        return State.VIEWED
    return State.CHANGED if any(_was_there(each, hunk, base) for each in gone) else State.NEW


def _was_there(mark: Mark, hunk: Hunk, base: str) -> bool:
    """Tell whether a hunk is where a marked one was, whose text is gone.

    What is in no line is one thing. If the base was moved, lines of it are not compared.
    """
    if mark.old is None or not hunk.number:
        return mark.old is None and not hunk.number
    if mark.base != base:
        return True
    (first, count), (start, size) = mark.old, hunk.old
    return first <= start + size and start <= first + count


def _renamed(files: Mapping[File, Sequence[Hunk]], marks: Marks) -> dict[File, File]:
    """Return for each new file without marks the one that it was when it was marked.

    A file that was there before the change is known by its old name. A new one is not: it is the
    one that is gone if it has the same text, and no other new file has.
    """
    gone = [file for file in marks if file.is_new and file not in files]
    if not gone:
        return {}
    new = [file for file in files if file.is_new and file not in marks]
    found: dict[File, File] = {}
    for before in gone:
        own = marks[before]
        same = [file for file in new if all(_is_marked(own, hunk) for hunk in files[file])]
        if len(same) == 1:
            found[same[0]] = before
    return found


def _is_marked(own: Mapping[str, Mark], hunk: Hunk) -> bool:
    mark = own.get(hunk.digest)
    return mark is not None and mark.holds(hunk) and mark.of_patch == hunk.of_patch


def progress_of(files: Sequence[FileSeen]) -> Progress:
    return Progress(
        files=sum(each.state is State.VIEWED for each in files),
        of_files=len(files),
        hunks=sum(each.viewed for each in files),
        of_hunks=sum(len(each.hunks) for each in files),
    )


def marked(marks: Marks, patch: Patch, chosen: Iterable[Hunk]) -> dict[File, dict[str, Mark]]:
    """Return the marks with these hunks of a patch marked as well."""
    found, renamed = _own(marks, patch)
    for hunk in chosen:
        own = found.setdefault(renamed.get(hunk.file, hunk.file), {})
        before = own.pop(hunk.digest, None)  # the newest is the last one
        own[hunk.digest] = Mark(
            digest=hunk.digest,
            viewed=tuple(sorted({*_viewed(before, hunk), hunk.nth})),
            of=hunk.of,
            of_patch=hunk.of_patch,
            old=hunk.old if hunk.number else None,
            base=patch.base,
        )
    return found


def unmarked(marks: Marks, patch: Patch, chosen: Iterable[Hunk]) -> dict[File, dict[str, Mark]]:
    """Return the marks without those on these hunks of a patch."""
    found, renamed = _own(marks, patch)
    for hunk in chosen:
        own = found.get(renamed.get(hunk.file, hunk.file), {})
        before = own.pop(hunk.digest, None)
        left = tuple(nth for nth in _viewed(before, hunk) if nth != hunk.nth)
        if before is not None and left:
            own[hunk.digest] = before._replace(viewed=left, of=hunk.of, of_patch=hunk.of_patch)
    return {file: own for file, own in found.items() if own}


def _own(marks: Marks, patch: Patch) -> tuple[dict[File, dict[str, Mark]], dict[File, File]]:
    """Return marks that may be changed, and which file of the patch has those of which other."""
    renamed = _renamed(patch.by_file(), marks)
    return {file: dict(own) for file, own in marks.items()}, renamed


def _viewed(mark: Mark | None, hunk: Hunk) -> tuple[int, ...]:
    """Return which of the hunks that are equal to this one were marked."""
    if mark is None:
        return ()
    return tuple(nth for nth in range(1, hunk.of + 1) if mark.holds(hunk._replace(nth=nth)))
