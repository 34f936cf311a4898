"""The id of a turn: that of its prompt, where a client has given it one.

So the client finds in the transcript which of its prompts were taken. What is no UUID, or is the id
of another turn, is not used.
"""

import re
from pathlib import Path

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TURN = re.compile(rb'"promptId": ?"([0-9a-f-]{36})"')


class TurnIds:
    """The ids of the turns of a conversation; `transcript` has those of earlier processes."""

    def __init__(self, transcript: Path | None) -> None:
        self._transcript = transcript
        self._used: set[str] | None = None  # None: nobody has looked

    def id_for(self, given: object) -> str:
        """Return the id for the turn of a prompt; "" if it needs another one than was given."""
        if not isinstance(given, str) or not _UUID.fullmatch(given):
            return ""
        if self._used is None:
            self._used = self._in_transcript()
        if given in self._used:
            return ""
        self._used.add(given)
        return given

    def _in_transcript(self) -> set[str]:
        if self._transcript is None or not self._transcript.exists():
            return set()
        with self._transcript.open("rb") as lines:
            return {found[1].decode() for line in lines for found in _TURN.finditer(line)}
