"""The tool KillShell: end a command in the background."""

from collections.abc import Mapping
from typing import Any

from siding.assistant.tools.port import Call, Result, Use
from siding.assistant.tools.shell.bash_output import unknown
from siding.assistant.tools.shell.shells import Shells, State
from siding.assistant.tools.spec import spec_of, text


class KillShell:
    """Ends a command with all that it has started."""

    def __init__(self, shells: Shells) -> None:
        self._shells = shells
        self.spec = spec_of(
            __file__, "KillShell", {"shell_id": text("the name of the command")}, "shell_id"
        )

    def is_safe(self, _given: Mapping[str, Any], /) -> bool:
        return False

    def use(self, given: Mapping[str, Any]) -> Use:
        name = given["shell_id"]
        return Use(name, text=f"KillShell {name}", in_conversation=True)

    async def run(self, call: Call) -> Result:
        name = call.given["shell_id"]
        shell = self._shells.background().get(name)
        if shell is None:
            return unknown(self._shells, name)
        await shell.settle()
        if shell.state is not State.RUNNING:
            return Result(f"{name} had ended already.", shown="had ended")
        await shell.kill()
        details = {"shell_id": name, "command": shell.command}
        return Result(f"{name} was ended: {shell.command}", shown="ended", details=details)
