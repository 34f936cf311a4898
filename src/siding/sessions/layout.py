"""Where the files of sessions are. Pure: names in, paths out.

<root>/<session>.jsonl                             the transcript
<root>/<session>/index.json                        rebuildable: what lies before the live end
<root>/<session>/subagents/agent-<agent>.jsonl     a subagent's whole conversation
<root>/<session>/subagents/agent-<agent>.meta.json who it is
<root>/<session>/tool-results/<call>.txt           a result too big for the conversation
<root>/search.sqlite3                              rebuildable: full text of all sessions
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from siding.storage.layout import checked_name


class SessionLayout(NamedTuple):
    """One session's files."""

    root: Path
    session_id: str

    @property
    def transcript(self) -> Path:
        return self.root / checked_name(f"{self.session_id}.jsonl")

    @property
    def directory(self) -> Path:
        return self.root / checked_name(self.session_id)

    @property
    def index_json(self) -> Path:
        return self.directory / "index.json"

    @property
    def subagents(self) -> Path:
        return self.directory / "subagents"

    @property
    def tool_results(self) -> Path:
        return self.directory / "tool-results"

    def agent_transcript(self, agent_id: str, group: str = "") -> Path:
        """Return a subagent's transcript; agents may be grouped in a directory."""
        return self._agents_in(group) / checked_name(f"agent-{agent_id}.jsonl")

    def agent_meta(self, agent_id: str, group: str = "") -> Path:
        """Return what is known of the subagent itself."""
        return self._agents_in(group) / checked_name(f"agent-{agent_id}.meta.json")

    def agents(self) -> Iterator[Path]:
        """Yield the transcripts of all subagents, sorted."""
        if self.subagents.is_dir():
            yield from sorted(self.subagents.rglob("agent-*.jsonl"))

    def _agents_in(self, group: str) -> Path:
        return self.subagents / checked_name(group) if group else self.subagents
