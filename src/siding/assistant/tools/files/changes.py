"""Changing files: what the tools Write, Edit, MultiEdit and NotebookEdit have in common."""

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import Any

from siding.assistant.tools.files.contents import Content, KnownFiles, create, load, replace
from siding.assistant.tools.files.paths import Opened, PathRefused, Paths, explained
from siding.assistant.tools.files.texts import Encoding, Text, decoded, replaced, with_newlines
from siding.assistant.tools.port import Result
from siding.assistant.tools.spec import failed
from siding.ground.namedtuples import NamedTuple

# -- What an edit changed, as Claude Code's transcripts have it (`structuredPatch`) ----------------


_CONTEXT = 3  # lines
_MOST_COMPARED = 4000  # lines on one side; more are one change as a whole


def patch(before: str, after: str) -> list[dict[str, Any]]:
    """Return the hunks between two texts."""
    old, new = before.splitlines(), after.splitlines()
    head = _same(old, new)
    tail = _same(old[head:][::-1], new[head:][::-1])
    groups = _groups(old[head : len(old) - tail], new[head : len(new) - tail])
    return [
        _hunk(old, new, [(a + head, b + head, c + head, d + head) for a, b, c, d in group])
        for group in groups
    ]


def _same(old: Sequence[str], new: Sequence[str]) -> int:
    count = 0
    for mine, its in zip(old, new, strict=False):
        if mine != its:
            break
        count += 1
    return count


_Change = tuple[int, int, int, int]  # lines from and to, before and after


def _groups(old: list[str], new: list[str]) -> list[list[_Change]]:
    """Return the changes, those together whose context would meet."""
    if not old and not new:
        return []
    if max(len(old), len(new)) > _MOST_COMPARED:
        return [[(0, len(old), 0, len(new))]]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    groups: list[list[_Change]] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            continue
        if groups and a - groups[-1][-1][1] <= 2 * _CONTEXT:
            groups[-1].append((a, b, c, d))
        else:
            groups.append([(a, b, c, d)])
    return groups


def _hunk(old: list[str], new: list[str], changes: list[_Change]) -> dict[str, Any]:
    first, last = changes[0], changes[-1]
    lead = min(_CONTEXT, first[0])
    trail = min(_CONTEXT, len(old) - last[1])
    lines = [f" {line}" for line in old[first[0] - lead : first[0]]]
    at = first[0]
    for a, b, c, d in changes:
        lines += [f" {line}" for line in old[at:a]]
        lines += [f"-{line}" for line in old[a:b]] + [f"+{line}" for line in new[c:d]]
        at = b
    lines += [f" {line}" for line in old[at : at + trail]]
    return {
        "oldStart": first[0] - lead + 1,
        "oldLines": last[1] + trail - (first[0] - lead),
        "newStart": first[2] - lead + 1,
        "newLines": last[3] + trail - (first[2] - lead),
        "lines": lines,
    }


# -- Finding what a model meant by a text that is not in the file ----------------------------------


_MOST_LINES = 20_000  # of a file that is searched
_MOST_WORK = 2_000_000  # comparisons of lines
_MOST_SHOWN = 12  # lines
_ALIKE = 0.6
_NUMBERED = re.compile(r"^\s*\d+[\t→]")


def hint(seen: str, wanted: str) -> str:
    """Return what the file has that is most like the text; "" if nothing is."""
    if _NUMBERED.match(wanted) and all(map(_NUMBERED.match, wanted.split("\n"))):
        return " It begins with line numbers: those are only in what Read shows, leave them out."
    lines, looked = seen.split("\n"), wanted.strip("\n").split("\n")
    if len(lines) > _MOST_LINES or len(lines) * len(looked) > _MOST_WORK:
        return ""
    at = _by_equal_lines(lines, looked)
    if at is None:
        at = _by_similar_line(lines, looked)
    return "" if at is None else _shown(lines, looked, at)


def _by_equal_lines(lines: list[str], looked: list[str]) -> int | None:
    """Return where most lines are equal but for blanks, if half of them are."""
    mine = ["".join(line.split()) for line in lines]
    its = ["".join(line.split()) for line in looked]
    wanted = sum(1 for line in its if line)
    best, where = 0, None
    for at in range(len(mine)):
        equal = sum(1 for a, b in zip(mine[at : at + len(its)], its, strict=False) if a and a == b)
        if equal > best:
            best, where = equal, at
    return where if wanted and best * 2 >= wanted else None


def _by_similar_line(lines: list[str], looked: list[str]) -> int | None:
    longest = max(looked, key=lambda line: len(line.strip()))
    if not longest.strip() or len(longest) > 1000 or len(lines) > _MOST_LINES // 4:
        return None
    matcher = SequenceMatcher(None, "", longest.strip())
    best, where = _ALIKE, None
    for at, line in enumerate(lines):
        matcher.set_seq1(line.strip()[:1000])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
            ratio = matcher.ratio()
            if ratio > best:
                best, where = ratio, at
    return None if where is None else max(0, where - looked.index(longest))


def _shown(lines: list[str], looked: list[str], at: int) -> str:
    found = lines[at : at + len(looked)]
    why = ""
    if [line.strip() for line in found] == [line.strip() for line in looked]:
        why = " (it differs in blanks or tabs only)"
    more = len(found) - _MOST_SHOWN
    text = "\n".join(line[:500] for line in found[:_MOST_SHOWN]) + (
        f"\n… {more} more" if more > 0 else ""
    )
    first = at + 1
    lines_text = f"line {first}" if len(found) == 1 else f"lines {first} to {at + len(found)}"
    return f" Most like it is {lines_text}{why}:\n{text}"


# -- Changing files: what the tools Write, Edit, MultiEdit and NotebookEdit have in common ---------


class Replacement(NamedTuple):
    """A text to replace, once or everywhere."""

    old: str
    new: str
    everywhere: bool = False


class Change(NamedTuple):
    """A change that was made."""

    path: str  # resolved
    before: str | None  # as a model sees it; None if there was no file
    after: str
    times: int = 1
    note: str = ""

    @property
    def hunks(self) -> list[dict[str, Any]]:
        """What changed."""
        return patch(self.before or "", self.after)

    @property
    def times_text(self) -> str:
        """How often something was replaced, for the model."""
        return f" {self.times} places were replaced." if self.times > 1 else ""

    @property
    def details(self) -> dict[str, Any]:
        """What Claude Code's transcripts have of any change."""
        return {
            "filePath": self.path,
            "originalFile": self.before,
            "structuredPatch": self.hunks,
            "userModified": False,
        }

    @property
    def shown(self) -> str:
        """How many lines came and went, for people."""
        lines = [line for hunk in self.hunks for line in hunk["lines"]]
        added = sum(1 for line in lines if line.startswith("+"))
        return f"+{added} -{sum(1 for line in lines if line.startswith('-'))}"


Step = Callable[[Text], Text]  # raises PathRefused


class Changer:
    """Changes files that the model has seen, and takes note of what they hold then."""

    def __init__(self, paths: Paths, known: KnownFiles) -> None:
        self.paths = paths
        self._known = known

    def write(self, given: str, content: str) -> Change | Result:
        """Make a file, or replace all that it holds; line ends, mark and encoding stay."""
        return self._guarded(given, lambda opened: self._write(opened, given, content))

    def edit(self, given: str, steps: Sequence[Replacement]) -> Change | Result:
        """Make all replacements, one after the other, or none."""
        return self._guarded(given, lambda opened: self._edit(opened, given, steps))

    def rewrite(self, given: str, step: Step) -> Change | Result:
        """Replace what a file holds by what `step` makes of it."""
        return self._guarded(given, lambda opened: self._rewrite(opened, given, step))

    def _guarded(self, given: str, act: Callable[[Opened], Change]) -> Change | Result:
        try:
            with self.paths.to_write(given) as opened:
                return act(opened)
        except PathRefused as refused:
            return failed(str(refused))
        except FileExistsError:
            return failed(
                f"{given} was made by another program in this very moment. Read it first."
            )
        except UnicodeEncodeError as error:
            letter = error.object[error.start : error.start + 1]
            return failed(
                f"{given} is stored as {error.encoding}, which has no {letter!r}; it was not "
                "changed. Convert the file to UTF-8 first (iconv), or use another character."
            )
        except OSError as error:
            return failed(explained(error, given))

    def _write(self, opened: Opened, given: str, content: str) -> Change:
        if opened.status() is None:
            return self._create(opened, content)
        before = self._seen(opened, given)
        old = decoded(before.data)
        if old is None:
            new = Text(content)
        else:
            # A model writes no byte-order mark, and hardly ever line ends of two characters.
            raw = with_newlines(content.removeprefix("\ufeff"), old.newline)
            new = Text(raw, old.encoding)
            if old.encoding.name == "latin-1" and not _fits(new):
                new = Text(raw, Encoding())
        return self._store(opened, given, before, new)

    def _edit(self, opened: Opened, given: str, steps: Sequence[Replacement]) -> Change:
        if opened.status() is None:
            if len(steps) == 1 and steps[0].old == "":
                return self._create(opened, steps[0].new)
            raise PathRefused(f"{given} does not exist. To make it, use Write.")
        times = 0

        def all_steps(text: Text) -> Text:
            nonlocal times
            for number, step in enumerate(steps, start=1):
                which = f" (edit {number} of {len(steps)})" if len(steps) > 1 else ""
                text, count = _replaced(text, step, f"{given} was not changed{which}")
                times += count
            return text

        return self._rewrite(opened, given, all_steps)._replace(times=times)

    def _rewrite(self, opened: Opened, given: str, step: Step) -> Change:
        before = self._seen(opened, given)
        text = decoded(before.data)
        if text is None:
            raise PathRefused(f"{given} is not a text file; it was not changed.")
        return self._store(opened, given, before, step(text))

    def _seen(self, opened: Opened, given: str) -> Content:
        """Return what the file holds; raise PathRefused if the model does not know that."""
        before = load(opened, given)
        problem = self._known.problem(opened.real, before.status, before.data)
        if problem:
            raise PathRefused(f"{given} was not changed: {problem}")
        return before

    def _store(self, opened: Opened, given: str, before: Content, text: Text) -> Change:
        data = text.encoded()
        status = before.status
        if data != before.data:
            status = replace(opened, given, data, before)
        self._known.add(opened.real, status, data)
        old = decoded(before.data)
        return Change(str(opened.real), "" if old is None else old.seen, text.seen)

    def _create(self, opened: Opened, content: str) -> Change:
        data = Text(content).encoded()
        self._known.add(opened.real, create(opened, data), data)
        return Change(str(opened.real), None, content)


def _fits(text: Text) -> bool:
    try:
        text.encoded()
    except UnicodeEncodeError:
        return False
    return True


def _replaced(text: Text, step: Replacement, unchanged: str) -> tuple[Text, int]:
    """Make one replacement; raise PathRefused if it cannot be made."""
    if step.old == step.new:
        raise PathRefused(f"{unchanged}: old_string and new_string are the same.")
    if step.old == "":
        if text.raw:
            raise PathRefused(
                f"{unchanged}: old_string is empty, but the file is not. Give the text to replace."
            )
        return text._replace(raw=step.new), 1
    new, count = replaced(text, step.old, step.new, everywhere=step.everywhere)
    if count == 0:
        raise PathRefused(f"{unchanged}: old_string is not in it.{hint(text.seen, step.old)}")
    if count > 1 and not step.everywhere:
        raise PathRefused(
            f"{unchanged}: old_string is there {count} times. Give more of the lines around it, so "
            "that it is there once, or set replace_all to replace all of them."
        )
    return new, count
