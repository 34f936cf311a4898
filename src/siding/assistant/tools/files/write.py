"""The tool Write: make a file, or replace all that it holds."""

from collections.abc import Mapping
from typing import Any

from siding.assistant.tools.files.changes import Changer
from siding.assistant.tools.port import Call, Result, Use
from siding.assistant.tools.spec import spec_of, text
from siding.shellguard.face import Effect


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
            shown=f"{len(content.splitlines())} lines",
            details={
                **ended.details,
                "type": "create" if is_new else "update",
                "content": content,
                "structuredPatch": hunks,
            },
        )
