"""Patches in the form of Codex's `apply_patch`: read them, and find what they would make of a text.

A patch has no line numbers. Each of its chunks is looked for behind the one before, first as it is,
then without blanks at the ends of lines, then at both ends, as Codex itself does it.
"""

from collections.abc import Callable, Sequence

from siding.ground.namedtuples import NamedTuple

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_ADD, _DELETE, _UPDATE = "*** Add File: ", "*** Delete File: ", "*** Update File: "
_MOVE, _AT_END = "*** Move to: ", "*** End of File"
_HEADS = (_ADD, _DELETE, _UPDATE)
_MOST_LINES = 100_000
_MOST_LOOKS = 5_000_000  # comparisons of lines, of a whole file


class PatchError(Exception):
    """The patch is none, or does not fit. The message says how."""


class Chunk(NamedTuple):
    """Lines that are replaced. `below` are lines behind which it is looked for."""

    below: tuple[str, ...]
    old: tuple[str, ...]
    new: tuple[str, ...]
    at_end: bool = False


class PatchedFile(NamedTuple):
    """One file of a patch: it is made with a `content`, deleted, or changed by `chunks`."""

    path: str
    lines: tuple[str, ...]  # as the patch has them
    content: str | None = None
    is_deleted: bool = False
    moved_to: str = ""
    chunks: tuple[Chunk, ...] = ()


def read_patch(patch: str) -> list[PatchedFile]:
    """Return the files of a patch. Raises PatchError."""
    lines = patch.strip().split("\n")
    if len(lines) > _MOST_LINES:
        raise PatchError(f"its patch has more than {_MOST_LINES:,} lines")
    if lines and lines[0].strip() == _BEGIN:
        lines = lines[1:]
    if lines and lines[-1].strip() == _END:
        lines = lines[:-1]
    heads = [at for at, line in enumerate(lines) if line.startswith(_HEADS)]
    if not heads or heads[0] != 0:
        raise PatchError("its patch does not begin with the name of a file")
    ends = [*heads[1:], len(lines)]
    return [_file(lines[at], lines[at + 1 : end]) for at, end in zip(heads, ends, strict=True)]


def patched(name: str, text: str, chunks: Sequence[Chunk]) -> str:
    """Return a text with the chunks in it. Raises PatchError."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    looks = _Looks(name, lines)
    made: list[str] = []
    done = 0
    for chunk in chunks:
        at = done
        for line in chunk.below:
            at = looks.find((line,), at) + 1
        if not chunk.old:
            at = at if chunk.below and not chunk.at_end else len(lines)
        else:
            last = max(at, len(lines) - len(chunk.old)) if chunk.at_end else at
            at = looks.find(chunk.old, last)
        made += [*lines[done:at], *chunk.new]
        done = at + len(chunk.old)
    made += lines[done:]
    return "\n".join(made) + "\n" if made else ""


class _Looks:
    """Looks for lines in a text, and ends when that takes too long."""

    def __init__(self, name: str, lines: list[str]) -> None:
        self._name = name
        self._forms: list[tuple[Callable[[str], str], list[str]]] = [
            (form, [form(line) for line in lines]) for form in (str, str.rstrip, str.strip)
        ]
        self._left = _MOST_LOOKS

    def find(self, wanted: Sequence[str], start: int) -> int:
        """Return where lines are, at or behind `start`. Raises PatchError."""
        for form, lines in self._forms:
            sought = [form(line) for line in wanted]
            for at in range(start, len(lines) - len(sought) + 1):
                self._left -= 1
                if lines[at] == sought[0]:
                    self._left -= len(sought)
                    if lines[at : at + len(sought)] == sought:
                        return at
                if self._left < 0:
                    raise PatchError(f"its patch of {self._name} takes too long to be followed")
        raise PatchError(f"the text to be replaced is not in {self._name} as it is now")


def _file(head: str, body: list[str]) -> PatchedFile:
    sign = next(each for each in _HEADS if head.startswith(each))
    path = head.removeprefix(sign).strip()
    if sign == _ADD:
        if not all(line.startswith("+") for line in body):
            raise PatchError("its patch makes a file with lines that are not added")
        content = "".join(f"{line[1:]}\n" for line in body)
        return PatchedFile(path, tuple(body), content=content)
    if sign == _DELETE:
        return PatchedFile(path, (f"- {head}",), is_deleted=True)
    moved_to = ""
    if body and body[0].startswith(_MOVE):
        moved_to, body = body[0].removeprefix(_MOVE).strip(), body[1:]
    chunks = tuple(_chunks(body))
    return PatchedFile(path, tuple(body), moved_to=moved_to, chunks=chunks)


def _chunks(body: list[str]) -> list[Chunk]:
    found: list[Chunk] = []
    below: list[str] = []
    old: list[str] = []
    new: list[str] = []

    def end(*, at_end: bool = False) -> None:
        if old or new:
            found.append(Chunk(tuple(below), tuple(old), tuple(new), at_end))
            for each in (below, old, new):
                each.clear()

    for line in body:
        sign, rest = line[:1], line[1:]
        if line.startswith("@@"):
            end()
            if said := line[2:].strip():
                below.append(said)
        elif line.startswith(_AT_END):
            end(at_end=True)
        elif sign in (" ", ""):
            old.append(rest)
            new.append(rest)
        elif sign == "-":
            old.append(rest)
        elif sign == "+":
            new.append(rest)
        else:
            raise PatchError("its patch has a line that is neither kept, added nor taken away")
    end()
    return found
