"""What a subagent is: the file ``agent-<id>.meta.json`` beside its transcript, which clients write.

It is an object with `agentType`, and perhaps `description` and `worktreePath`.
"""

import json
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs, replace_bytes
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text

_MOST_BYTES = 64 * 1024
_TRANSCRIPT, _ABOUT = ".jsonl", ".meta.json"


class Subagent(NamedTuple):
    """A subagent of a conversation; `kind` and `description` are "" where nobody has said."""

    id: str
    kind: str = ""
    description: str = ""

    @property
    def title(self) -> str:
        """The id, with what is known of it."""
        about = ": ".join(each for each in (self.kind, self.description) if each)
        return f"{self.id} ({about})" if about else self.id


def write_about(path: Path, kind: str, description: str) -> None:
    """Write what a subagent is, before it says anything. Raises OSError."""
    make_dirs(path.parent)
    about = {"agentType": kind, "description": description}
    replace_bytes(path, json.dumps(about, ensure_ascii=False).encode())


def subagent_of(transcript: Path) -> Subagent:
    """Return the subagent that a transcript is of. A description that cannot be read is none."""
    name = transcript.name.removesuffix(_TRANSCRIPT)
    found = Subagent(name.removeprefix("agent-"))
    try:
        about = mapping(
            json.loads(read_bytes(transcript.with_name(name + _ABOUT), limit=_MOST_BYTES))
        )
    except (OSError, SidingError, ValueError, RecursionError):
        return found
    return found._replace(
        kind=text(about.get("agentType")), description=text(about.get("description"))
    )
