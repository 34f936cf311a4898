"""The recorded patches of steps: whole, file by file, or any rows of a file, as they can be large.

They are shown where snapshots do not exist. The index of a patch is made in one pass with bounded
memory. It stores a mark every `MARK_EVERY` rows, so that rows are read from the nearest mark and
not from the start.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from siding.ground.errors import UsageError
from siding.ground.files.durable import make_dirs, write_all
from siding.ground.git.paths import unquote_path
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.output.reading import Span
from siding.record.ledger.figures import DiffFigures
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.place.task_workspace import workspace_of
from siding.record.recording.freed import freed_at
from siding.record.recording.line_base import line_base
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.snapshots.mode_changes import ModeChange
from siding.record.snapshots.patches import DiffStat, FileStat
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task

MARK_EVERY = 400  # rows
LONGEST_ROW = 2000  # the most bytes shown of one row
WHOLE_PATCHES_KEPT = 16  # the newest patches in the cache
_BLOCK = 1 << 18
_INDEX = re.compile(r"index ([0-9a-f]{40,64})\.\.([0-9a-f]{40,64})( |$)")


class RecordedPatch(NamedTuple):
    """The recorded patch of one step, used if its snapshots do not exist."""

    task: Task
    before: str | None
    after: str | None
    title: str
    span: Span

    def paths(self, names: Sequence[str]) -> tuple[bytes, ...]:
        """Return no paths; raise UsageError if PATHs are named: the patch cannot be split."""
        _refuse_paths(tuple(map(os.fsencode, names)))
        return ()

    def mode_changes(self, paths: tuple[bytes, ...] = ()) -> list[ModeChange]:
        """Return nothing: a patch contains no permissions except the executable bit."""
        _refuse_paths(paths)
        return []

    def links(self, paths: tuple[bytes, ...] = ()) -> list[str]:
        """Return nothing: a patch contains no hard links."""
        _refuse_paths(paths)
        return []

    def stat(self, paths: tuple[bytes, ...] = ()) -> DiffStat:
        """Return the figures of the patch, file by file."""
        _refuse_paths(paths)
        files = tuple(
            FileStat(
                status=part.status,
                path=os.fsencode(part.name),
                additions=None if part.is_binary else part.additions,
                deletions=None if part.is_binary else part.deletions,
            )
            for part in parts_of(self.span)
        )
        return DiffStat(
            files=len(files),
            additions=sum(each.additions or 0 for each in files),
            deletions=sum(each.deletions or 0 for each in files),
            per_file=files,
        )

    def stat_record(self, paths: tuple[bytes, ...] = ()) -> dict[str, Any]:
        """Return the figures in the form of a ledger line."""
        return DiffFigures.of(self.stat(paths)).as_record()

    def write_patch(self, fd: int, paths: tuple[bytes, ...] = ()) -> None:
        """Write the patch to the file descriptor `fd`, byte for byte."""
        _refuse_paths(paths)
        block = b""
        for block in self.span.chunks(1 << 18):
            write_all(fd, block)
        if block and not block.endswith(b"\n"):
            write_all(fd, b"\n")  # another tool cuts it off, and `git apply` refuses the patch then

    def patch_lines(self, paths: tuple[bytes, ...] = ()) -> Iterator[str]:
        """Yield the lines of the patch as text; bytes that are not UTF-8 become ``\\xNN``."""
        _refuse_paths(paths)
        with open(self.span.path, "rb") as patch:
            for line in patch:
                yield line.decode("utf-8", "backslashreplace")


def _refuse_paths(paths: tuple[bytes, ...]) -> None:
    if paths:
        raise UsageError(
            "the snapshots of this step do not exist, and its recorded patch cannot be limited to "
            "paths",
            hint="leave the paths out",
        )


def recorded_patch(
    project: Project, task: Task, workspace: Workspace, one: Step
) -> RecordedPatch | None:
    """Return the step's patch if its snapshots never existed, were lost or freed, else None."""
    if has_snapshots(project, workspace, one):
        return None
    span = patch_span(project, task, one)
    if span is None:
        return None
    return RecordedPatch(task, one.parent, one.snapshot, f"step {one.id}", span)


def has_snapshots(project: Project, workspace: Workspace, one: Step) -> bool:
    """Tell whether the states before and after the step are there to be compared."""
    is_there = one.parent is not None and one.snapshot is not None and project.has_repository
    is_there = is_there and freed_at(project, one.parent, one.snapshot) is None
    is_there = is_there and one.number > workspace.lost_until
    return is_there and project.snapshots.objects.is_dir()


class Mark(NamedTuple):
    """A row at which reading can start: its byte offset, and the old and new line numbers there."""

    row: int
    offset: int
    old: int
    new: int


class FilePart(NamedTuple):
    """One file of a patch. Names with special characters are quoted as git quotes them.

    `rows` counts hunk headers and lines. `status` is A, D, M, R, C or T. `old_blob` and `new_blob`
    are the git object ids of the contents; "" if there is none or the patch does not name it.
    """

    old_name: str
    name: str
    status: str
    is_binary: bool
    additions: int
    deletions: int
    rows: int
    notes: tuple[str, ...]  # other header lines, such as a change of mode
    marks: tuple[Mark, ...]
    old_blob: str = ""
    new_blob: str = ""

    @property
    def path(self) -> str:
        """Its name without quotes; bytes that are no UTF-8 are surrogates."""
        return _unquoted(self.name)

    @property
    def old_path(self) -> str:
        """Its name before the change, like `path`."""
        return _unquoted(self.old_name)


class Row(NamedTuple):
    """One row of a file in a patch.

    `kind` is hunk, same, add, delete or note. `old` and `new` are line numbers; None if the row is
    not on this side. `more` is the number of bytes that are not shown.
    """

    kind: str
    old: int | None
    new: int | None
    text: str
    more: int = 0


def patch_span(project: Project, task: Task, found: Step) -> Span | None:
    """Return the location of a step's patch; None if there is none."""
    path = project.task_layout(task.id).artifact(found.number, "patch")
    try:
        size = path.lstat().st_size
    except FileNotFoundError:
        return None
    return Span(path=path, offset=0, size=size) if size else None


def only_patch(project: Project, task: Task, found: Step) -> Span | None:
    """Return the patch of a step without snapshots: nothing else says what it changed.

    Other tools record patches only. None if the step has snapshots, or no patch.
    """
    return None if found.snapshot or found.act else patch_span(project, task, found)


def whole_patch(project: Project, task: Task) -> Span | None:
    """Return the patch from a task's base to its last step; None if there is none."""
    workspace = workspace_of(project, task)
    last = project.ledger(task.id).last()
    if workspace is None or last is None or not workspace.base_snapshot or not last.snapshot:
        return None
    before, snapshots = line_base(project, workspace).snapshot, TaskSnapshots(project, workspace)
    return kept_patch(project, snapshots, before, last.snapshot)


def kept_patch(project: Project, snapshots: TaskSnapshots, before: str, after: str) -> Span | None:
    """Return the patch between two snapshots, or trees; None if they do not differ.

    They never change, so the patch is made once and kept in the project's cache.
    """
    directory = project.layout.root / "cache" / "patches"
    path = directory / f"{before}-{after}.patch"
    if not path.exists():
        make_dirs(directory)
        with NamedTemporaryFile(dir=directory, delete=False) as patch:
            snapshots.write_patch(before, after, patch.fileno())
        os.replace(patch.name, path)
        _keep_newest(directory)
    size = path.lstat().st_size
    return Span(path=path, offset=0, size=size) if size else None


def _keep_newest(directory: Path) -> None:
    found = sorted(directory.iterdir(), key=lambda each: each.lstat().st_mtime_ns)
    for path in found[:-WHOLE_PATCHES_KEPT]:
        path.unlink(missing_ok=True)


def parts_of(span: Span) -> list[FilePart]:
    """Return the files of a patch."""
    parts: list[PartReader] = []
    offset = 0
    for line in _lines(span.chunks(_BLOCK)):
        if line.startswith(b"diff --git ") and (not parts or not parts[-1].owes):
            parts.append(PartReader(line))
        elif parts:
            parts[-1].take(line, offset)
        offset += len(line)
    return [part.done() for part in parts]


def content_of(project: Project, blob: str, limit: int) -> str | None:
    """Return the content of the git object `blob`, decoded in the same way as rows.

    Returns None if it has more than `limit` bytes or is not in the snapshot store.
    """
    if not blob:
        return None
    found = project.snapshots.read_blob(blob, limit)
    return None if found is None else found.decode("utf-8", "backslashreplace")


def rows_of(span: Span, part: FilePart, start: int, count: int) -> list[Row]:
    """Return up to `count` rows of a file from row `start` on; the cost grows with `count` only."""
    mark = next((each for each in reversed(part.marks) if each.row <= start), None)
    if mark is None or start >= part.rows:
        return []
    rows: list[Row] = []
    reading = _Reading(mark)
    last = min(part.rows, start + count)
    for line in lines_from(span, mark.offset):
        number = reading.number
        row = reading.take(line)
        if number >= start and row is not None:
            rows.append(row)
        if reading.number >= last:
            break
    return rows


def lines_from(span: Span, offset: int) -> Iterator[bytes]:
    """Yield the lines of a patch from an offset on, with their line ends."""
    return _lines(_from(span, offset))


def _from(span: Span, offset: int) -> Iterator[bytes]:
    while data := span.read(offset, 1 << 16):
        yield data
        offset += len(data)


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines with their line ends."""
    rest = b""
    for chunk in chunks:
        lines = (rest + chunk).splitlines(keepends=True) if b"\r" not in chunk else None
        if lines is None:  # splitlines would also split at a lone CR, which ends no line of a patch
            pieces = (rest + chunk).split(b"\n")
            lines = [piece + b"\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])
        rest = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        yield from lines
    if rest:
        yield rest


class PartReader:
    """A `FilePart` that is being built while the patch is read, line by line."""

    def __init__(self, first: bytes) -> None:
        self._old_name, self._name = _names(first)
        self._status = "M"
        self._is_binary = False
        self._old_blob = self._new_blob = ""
        self._notes: list[str] = []
        self._marks: list[Mark] = []
        self._rows = self._additions = self._deletions = 0
        self._old = self._new = 0  # next line numbers
        self._old_owed = self._new_owed = 0  # lines of the current hunk that are still to come

    @property
    def owes(self) -> bool:
        """Whether the current hunk is incomplete: then every line is content, not a header."""
        return self._old_owed > 0 or self._new_owed > 0

    def take(self, line: bytes, offset: int) -> None:
        if self.owes or (self._rows and line.startswith(b"\\")):
            self._take_row(line, offset)
        elif line.startswith(b"@@ "):
            self._mark(offset)
            self._rows += 1
            self._old, self._old_owed, self._new, self._new_owed = hunk_numbers(line)
        else:
            self._take_header(line)

    def _take_row(self, line: bytes, offset: int) -> None:
        if self._rows % MARK_EVERY == 0:
            self._mark(offset)
        self._rows += 1
        first = line[:1]
        if first == b"+":
            self._additions += 1
        elif first == b"-":
            self._deletions += 1
        if first != b"\\":
            if first != b"+":
                self._old += 1
                self._old_owed -= 1
            if first != b"-":
                self._new += 1
                self._new_owed -= 1

    def _mark(self, offset: int) -> None:
        if not self._marks or self._rows - self._marks[-1].row >= MARK_EVERY:
            self._marks.append(Mark(self._rows, offset, self._old, self._new))

    def _take_header(self, line: bytes) -> None:
        text = line.rstrip(b"\r\n").decode("utf-8", "backslashreplace")
        for prefix, status in (
            ("new file mode", "A"),
            ("deleted file mode", "D"),
            ("rename to ", "R"),
            ("copy to ", "C"),
        ):
            if text.startswith(prefix):
                self._status = status
        if text.startswith(("rename from ", "copy from ")):
            self._old_name = text.partition(" from ")[2]
        elif text.startswith(("rename to ", "copy to ")):
            self._name = text.partition(" to ")[2]
        elif blobs := _INDEX.match(text):
            self._old_blob, self._new_blob = (
                each.strip("0") and each for each in blobs.group(1, 2)
            )
        elif text.startswith(("GIT binary patch", "Binary files")):
            self._is_binary = True
        elif text.startswith(("old mode", "new mode", "similarity")):
            self._notes.append(text)
        elif text.startswith("--- ") and text != "--- /dev/null":
            self._old_name = _stripped(text[4:])
        elif text.startswith("+++ ") and text != "+++ /dev/null":
            self._name = _stripped(text[4:])

    def done(self) -> FilePart:
        name = self._old_name if self._status == "D" else self._name
        return FilePart(
            old_name=self._old_name,
            name=name,
            status=self._status,
            is_binary=self._is_binary,
            additions=self._additions,
            deletions=self._deletions,
            rows=self._rows,
            notes=tuple(self._notes),
            marks=tuple(self._marks),
            old_blob=self._old_blob,
            new_blob=self._new_blob,
        )


class _Reading:
    """Converts lines to rows, starting at a mark."""

    def __init__(self, mark: Mark) -> None:
        self.number = mark.row
        self._old, self._new = mark.old, mark.new

    def take(self, line: bytes) -> Row | None:
        self.number += 1
        body = line.rstrip(b"\n").removesuffix(b"\r")
        more = max(0, len(body) - LONGEST_ROW)
        text = body[: LONGEST_ROW + 1].decode("utf-8", "backslashreplace")
        kind = text[:1]
        if kind == "@":
            self._old, _, self._new, _ = hunk_numbers(line)
            return Row("hunk", None, None, text, more)
        if kind == "\\":
            return Row("note", None, None, text[2:], more)
        old = self._old if kind != "+" else None
        new = self._new if kind != "-" else None
        self._old += kind != "+"
        self._new += kind != "-"
        return Row({"+": "add", "-": "delete"}.get(kind, "same"), old, new, text[1:], more)


def hunk_numbers(line: bytes) -> tuple[int, int, int, int]:
    """Return (old start, old count, new start, new count) of a line like ``@@ -1,2 +3,4 @@``."""
    numbers = []
    for word in line.split(b" ")[1:3]:
        first, _, count = word[1:].partition(b",")
        numbers += [int(first), int(count or b"1")]
    old, old_count, new, new_count = numbers
    return old, old_count, new, new_count


def _names(line: bytes) -> tuple[str, str]:
    """Return the two names of ``diff --git a/x b/x``.

    The line is ambiguous if names contain spaces. So it is split in the middle, which is right if
    both names are the same; for renames, later header lines give the names.
    """
    text = line.removeprefix(b"diff --git ").rstrip(b"\r\n").decode("utf-8", "backslashreplace")
    if text.startswith('"'):
        old, _, new = text.partition('" ')
        return _stripped(old + '"'), _stripped(new)
    half = len(text) // 2
    return _stripped(text[:half]), _stripped(text[half + 1 :])


def _unquoted(name: str) -> str:
    try:
        return os.fsdecode(unquote_path(name))
    except ValueError:  # no name that git wrote
        return name


def _stripped(name: str) -> str:
    """Return a name without git's prefix ``a/`` or ``b/``; also inside quotation marks."""
    name = name.rstrip("\t")
    if name.startswith(('"a/', '"b/')):
        return '"' + name[3:]
    return name[2:] if name.startswith(("a/", "b/")) else name
