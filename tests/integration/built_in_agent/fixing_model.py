"""A model that mends a mistake: it goes by what the tools return, and gives up where that is wrong.

It looks for the place with Grep, reads the file, edits the line that it has read, runs the tests
and looks at what has changed. It knows which line is wrong, not where that line is.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from agents.models import Call, ModelServer

Said = Sequence[str | Call]

FIXED = "The tests pass, and nothing else has changed."


class Mistake(NamedTuple):
    """A mistake that is planted in somebody else's project.

    `edit` is what the model writes in the place of `wrong`; it is `right` if the model is.
    """

    package: str  # a directory of Python files
    file: str
    near: str  # a regular expression of what the model looks for
    right: str
    wrong: str
    test: str  # the body of a test that fails because of it
    edit: str


class FixingModel(ModelServer):
    """Answers by the newest results."""

    def __init__(self, mistake: Mistake) -> None:
        super().__init__([])
        self._mistake = mistake
        self._path = ""

    def _next(self, body: dict[str, Any]) -> Said:
        self.requests.append(body)
        results = [each for message in body["messages"] for each in _results(message)]
        if not results:
            return ["I look.", Call("Grep", {"pattern": self._mistake.near, "glob": "*.py"})]
        text = _text(results[-1])
        if results[-1].get("is_error") and len(results) != _TESTED:
            return [f"A tool failed: {text}"]
        return _STAGES[len(results) - 1](self, text)

    def _found(self, text: str) -> Said:
        paths = [line.strip() for line in text.splitlines() if line.strip().endswith(".py")]
        if len(paths) != 1:
            return [f"Grep has not found the one file: {text}"]
        self._path = paths[0]
        return [Call("Read", {"file_path": self._path})]

    def _read(self, text: str) -> Said:
        wanted = re.escape(self._mistake.wrong)
        lines = re.findall(rf"^\s*\d+[\t→](.*{wanted}.*)$", text, re.MULTILINE)
        if len(lines) != 1:
            return [f"There is no such line in what Read returned: {lines}"]
        new = lines[0].replace(self._mistake.wrong, self._mistake.edit)
        given = {"file_path": self._path, "old_string": lines[0], "new_string": new}
        return [Call("Edit", given)]

    def _edited(self, _text: str) -> Said:
        return [Call("Bash", {"command": "python3 -B -m unittest -q"})]

    def _tested(self, text: str) -> Said:
        if "OK" not in text or "FAILED" in text:
            return [f"The edit is wrong: {text}"]
        return [Call("Bash", {"command": "git diff -U0"})]

    def _compared(self, text: str) -> Said:
        changed = [line for line in text.splitlines() if re.match(r"[-+](?![-+]{2} )", line)]
        plain = [line[0] + line[1:].strip() for line in changed]
        if len(plain) == 2 and plain[0][0] == "-" and plain[1][0] == "+":
            return [FIXED]
        return [f"Something else has changed: {text}"]


_STAGES = (
    FixingModel._found,
    FixingModel._read,
    FixingModel._edited,
    FixingModel._tested,
    FixingModel._compared,
)
_TESTED = 4  # the number of the result that may be a failure: that of the tests


def _results(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    if isinstance(content, str):
        return []
    return [block for block in content if block["type"] == "tool_result"]


def _text(result: dict[str, Any]) -> str:
    content = result["content"]
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")
