"""A prompt that waits, as a file in the person's own editor."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from siding.chat.store import Chat
from siding.ground.errors import SidingError, UsageError
from siding.ground.files.durable import create_bytes
from siding.ground.process.attached import run_in_terminal
from siding.tasks.whereabouts import EDITORS, find_editor


class Draft:
    """A text on its way through an editor. The file stays until `remove` is called."""

    def __init__(self, chat: Chat, name: str, before: str) -> None:
        self.path = chat.directory / f"edited-{name}.md"
        create_bytes(self.path, f"{before}\n".encode("utf-8", "surrogateescape"))

    def edited(self, env: Mapping[str, str]) -> str:
        """Return the text as the editor has left it. Raises SidingError; the text stays."""
        words = _editor(env)
        status = run_in_terminal([*words, str(self.path)], env=env, cwd=Path.cwd())
        if status:
            raise SidingError(
                f"the editor {words[0]!r} ended with {status}: the prompt is as it was",
                hint=f"what it has left is in {str(self.path)!r}",
            )
        try:
            return self.path.read_text("utf-8").removesuffix("\n")
        except UnicodeDecodeError as error:
            raise UsageError(f"{str(self.path)!r} is not UTF-8: {error}") from None

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def _editor(env: Mapping[str, str]) -> list[str]:
    named = next((env[name] for name in EDITORS if env.get(name)), None) or find_editor(env)
    try:
        words = shlex.split(named or "")
    except ValueError as error:
        raise UsageError(f"the editor {named!r} cannot be read as a command: {error}") from None
    if not words:
        raise SidingError(
            "no editor is named and none of the usual ones is installed",
            hint="set EDITOR, or give the text: siding chat edit PROMPT TEXT",
        )
    return [os.path.expanduser(words[0]), *words[1:]]
