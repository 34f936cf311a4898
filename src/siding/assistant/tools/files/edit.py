"""The tools Write, Edit and MultiEdit: make or replace a file, or replace texts in it."""

from collections.abc import Mapping
from typing import Any

from siding.assistant.tools.files.changes import Change, Changer, Replacement
from siding.assistant.tools.port import Call, Result, Use
from siding.assistant.tools.spec import flag, part, several, spec_of, text
from siding.ground.errors import counted
from siding.shellguard.face import Effect

OLD = text("the text to replace, exactly as it is in the file, blanks and line ends included")
NEW = text("the text to put in its place; different from old_string")
EVERYWHERE = flag("replace all that is equal to old_string (false)")


class Write:
    """Writes a whole file. One that is there must have been read before."""

    def __init__(self, changer: Changer) -> None:
        self._changer = changer
        self.spec = spec_of(
            __file__,
            "Write",
            {"file_path": text("the file"), "content": text("all that it is to hold")},
            "file_path",
            "content",
        )

    def is_safe(self, _given: Mapping[str, Any], /) -> bool:
        return False

    def use(self, given: Mapping[str, Any]) -> Use:
        return self._changer.paths.use("Write", Effect.WRITES, given["file_path"])

    async def run(self, call: Call) -> Result:
        content = call.given["content"]
        ended = self._changer.write(call.given["file_path"], content)
        if isinstance(ended, Result):
            return ended
        is_new = ended.before is None
        hunks = [] if is_new else ended.hunks
        return Result(
            f"{ended.path} has been {'made' if is_new else 'replaced'}.",
            shown=counted(len(content.splitlines()), "line"),
            details={
                **ended.details,
                "type": "create" if is_new else "update",
                "content": content,
                "structuredPatch": hunks,
            },
        )


class Edit:
    """Replaces one text, which must be there exactly once unless all are to be replaced."""

    def __init__(self, changer: Changer) -> None:
        self._changer = changer
        self.spec = spec_of(
            __file__,
            "Edit",
            {
                "file_path": text("the file"),
                "old_string": OLD,
                "new_string": NEW,
                "replace_all": EVERYWHERE,
            },
            "file_path",
            "old_string",
            "new_string",
        )

    def is_safe(self, _given: Mapping[str, Any], /) -> bool:
        return False

    def use(self, given: Mapping[str, Any]) -> Use:
        return self._changer.paths.use("Edit", Effect.WRITES, given["file_path"])

    async def run(self, call: Call) -> Result:
        step = replacement(call.given)
        ended = self._changer.edit(call.given["file_path"], (step,))
        if isinstance(ended, Result):
            return ended
        return Result(
            f"{ended.path} has been changed.{ended.times_text}",
            shown=ended.shown,
            details=_details(ended, step),
        )


def replacement(given: Mapping[str, Any]) -> Replacement:
    """Return the replacement that fields of a call ask for."""
    return Replacement(given["old_string"], given["new_string"], given.get("replace_all", False))


def _details(change: Change, step: Replacement) -> dict[str, Any]:
    return {
        **change.details,
        "oldString": step.old,
        "newString": step.new,
        "replaceAll": step.everywhere,
    }


class MultiEdit:
    """Makes replacements one after the other; each sees what the ones before it made."""

    def __init__(self, changer: Changer) -> None:
        self._changer = changer
        edit = part(
            {"old_string": OLD, "new_string": NEW, "replace_all": EVERYWHERE},
            "old_string",
            "new_string",
        )
        self.spec = spec_of(
            __file__,
            "MultiEdit",
            {
                "file_path": text("the file"),
                "edits": several("the replacements, in their order", edit, minItems=1),
            },
            "file_path",
            "edits",
        )

    def is_safe(self, _given: Mapping[str, Any], /) -> bool:
        return False

    def use(self, given: Mapping[str, Any]) -> Use:
        return self._changer.paths.use("MultiEdit", Effect.WRITES, given["file_path"])

    async def run(self, call: Call) -> Result:
        edits = call.given["edits"]
        ended = self._changer.edit(call.given["file_path"], tuple(map(replacement, edits)))
        if isinstance(ended, Result):
            return ended
        return Result(
            f"{ended.path} has been changed: {counted(len(edits), 'edit')}.",
            shown=ended.shown,
            details={**ended.details, "edits": list(edits)},
        )
