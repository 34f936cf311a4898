"""The tool MultiEdit: several replacements in one file, all or none."""

from collections.abc import Mapping
from typing import Any

from siding.assistant.tools.files.changes import Changer
from siding.assistant.tools.files.edit import EVERYWHERE, NEW, OLD, replacement
from siding.assistant.tools.port import Call, Result, Use
from siding.assistant.tools.spec import part, several, spec_of, text
from siding.shellguard.face import Effect


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
            f"{ended.path} has been changed: {len(edits)} edits.",
            shown=ended.shown,
            details={**ended.details, "edits": list(edits)},
        )
