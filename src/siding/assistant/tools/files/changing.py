"""Changing files: what the tools Write, Edit, MultiEdit and NotebookEdit have in common."""

from collections.abc import Callable, Sequence
from typing import Any

from siding.assistant.tools.files.contents import Content, create, load, replace
from siding.assistant.tools.files.known import KnownFiles
from siding.assistant.tools.files.nearest import hint
from siding.assistant.tools.files.patching import patch
from siding.assistant.tools.files.paths import Opened, PathRefused, Paths, explained
from siding.assistant.tools.files.texts import Encoding, Text, decoded, replaced, with_newlines
from siding.assistant.tools.port import Result
from siding.assistant.tools.spec import failed
from siding.ground.namedtuples import NamedTuple


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
