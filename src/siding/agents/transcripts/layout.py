"""Where the files of sessions are, and what the file of a subagent says of it.

<root>/<session>.jsonl                             the transcript
<root>/<session>/index.json                        a cache: where the metadata entries are
<root>/<session>/subagents/agent-<agent>.jsonl     a subagent's whole conversation
<root>/<session>/subagents/agent-<agent>.meta.json a description of the subagent
<root>/<session>/tool-results/<call>.txt           a result too big for the conversation
<root>/<session>/session-memory/summary.md         what was said, summed up
<root>/search.sqlite3                              a cache: full text of all sessions

Clients write the description of a subagent as well: an object with `agentType`, and perhaps
`description` and `worktreePath`.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs, replace_bytes
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text
from siding.ground.storage.layout import checked_name


class SessionLayout(NamedTuple):
    """One session's files. `caches` is where its index is kept, if not beside the transcript."""

    root: Path
    session_id: str
    caches: Path | None = None

    @property
    def transcript(self) -> Path:
        return self.root / checked_name(f"{self.session_id}.jsonl")

    @property
    def directory(self) -> Path:
        return self.root / checked_name(self.session_id)

    @property
    def index_json(self) -> Path:
        return (self.caches or self.root) / checked_name(self.session_id) / "index.json"

    @property
    def subagents(self) -> Path:
        return self.directory / "subagents"

    @property
    def tool_results(self) -> Path:
        return self.directory / "tool-results"

    @property
    def summary_md(self) -> Path:
        return self.directory / "session-memory" / "summary.md"

    def agent_transcript(self, agent_id: str, group: str = "") -> Path:
        """Return the path of a subagent's transcript; `group` is a directory of subagents."""
        return self._agents_in(group) / checked_name(f"agent-{agent_id}.jsonl")

    def agent_meta(self, agent_id: str, group: str = "") -> Path:
        """Return the path of the file that describes the subagent."""
        return self._agents_in(group) / checked_name(f"agent-{agent_id}.meta.json")

    def agents(self) -> Iterator[Path]:
        """Yield the paths of all subagents' transcripts, sorted."""
        if self.subagents.is_dir():
            yield from sorted(self.subagents.rglob("agent-*.jsonl"))

    def _agents_in(self, group: str) -> Path:
        return self.subagents / checked_name(group) if group else self.subagents


# -- What a subagent is ----------------------------------------------------------------------------

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
