"""Collect the metadata of a transcript: titles, modes, goals, replaced tool results.

Entries are added in file order. Which of them count depends on the type: the last one, all of them,
or (for context collapses) all since the newest compaction. See the table in `docs/sessions.md`.
"""

from collections.abc import Iterable
from typing import Any

from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.messages import is_boundary

# type -> the field that is its value; the last entry of a session counts, "" clears it.
_LAST_BY_SESSION = {
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "tag": "tag",
    "agent-name": "agentName",
    "agent-color": "agentColor",
    "agent-setting": "agentSetting",
    "mode": "mode",
    "last-prompt": "lastPrompt",
    "worktree-state": "worktreeSession",
    "goal": "state",
}
# What must be written again near the end so that other programs, which look only there, find it.
REPEATED = tuple(
    """
    last-prompt custom-title tag agent-name agent-color agent-setting mode goal worktree-state
    pr-link
    """.split()
)
TYPES = frozenset(_LAST_BY_SESSION) | set(
    """
    summary pr-link goal-cleared task-summary file-history-snapshot cost-state attribution-snapshot
    content-replacement marble-origami-commit marble-origami-snapshot queue-operation
    speculation-accept foreign-line
    """.split()
)


class Metadata:
    """The metadata of a transcript. Keys are session ids, message ids or agent ids.

    `aliases`: for a session whose file was renamed, the id that its lines have.
    """

    def __init__(self) -> None:
        self.aliases: dict[str, str] = {}
        self.last: dict[str, dict[str, Record]] = {}
        self.cleared: set[str] = set()  # sessions whose goal was cleared at some time
        self.summaries: dict[str, str] = {}
        self.task_summary: Record | None = None
        self.file_history: dict[str, Record] = {}
        self.attributions: list[Record] = []
        self.replacements: dict[str, list[Record]] = {}
        self.agent_replacements: dict[str, list[Record]] = {}
        self.collapses: list[Record] = []
        self.collapse_snapshot: Record | None = None
        self.cost_state: Record | None = None

    def add(self, record: Record) -> None:
        """Add the next record of the file; messages other than boundaries change nothing."""
        kind = record.get("type")
        if is_boundary(record):
            self.collapses = []
            self.collapse_snapshot = None
        elif not isinstance(kind, str):
            return
        elif kind in _LAST_BY_SESSION or kind == "pr-link":
            self.last.setdefault(kind, {})[_text(record.get("sessionId"))] = record
        elif kind == "goal-cleared":
            self.cleared.add(_text(record.get("sessionId")))
            self.last.get("goal", {}).pop(_text(record.get("sessionId")), None)
        else:
            self._add_other(kind, record)

    def _add_other(self, kind: str, record: Record) -> None:
        if kind == "summary":
            self.summaries[_text(record.get("leafUuid"))] = _text(record.get("summary"))
        elif kind == "task-summary":
            self.task_summary = record
        elif kind == "file-history-snapshot":
            self.file_history[_text(record.get("messageId"))] = record
        elif kind == "attribution-snapshot":
            self.attributions.append(record)
        elif kind == "content-replacement":
            self._add_replacement(record)
        elif kind == "marble-origami-commit":
            self.collapses.append(record)
        elif kind == "marble-origami-snapshot":
            self.collapse_snapshot = record
        elif kind == "cost-state":
            self.cost_state = record

    def _add_replacement(self, record: Record) -> None:
        found = record.get("replacements")
        if not isinstance(found, list):
            return
        agent = record.get("agentId")
        if isinstance(agent, str) and agent:
            target = self.agent_replacements.setdefault(agent, [])
        else:
            target = self.replacements.setdefault(_text(record.get("sessionId")), [])
        target.extend(each for each in found if isinstance(each, dict))

    def record(self, kind: str, session: str) -> Record | None:
        """Return the entry of that type that counts for the session, None if there is none."""
        entries = self.last.get(kind, {})
        for name in (session, self.aliases.get(session), ""):
            if name is not None and name in entries:
                return entries[name]
        return None

    def value(self, kind: str, session: str) -> Any:
        """Return the value of the entry that counts, None when there is none or it is cleared."""
        record = self.record(kind, session)
        if record is None:
            return None
        return record.get(_LAST_BY_SESSION[kind]) or None

    def title(self, session: str) -> str | None:
        """Return the title a person gave, else the one a model made up."""
        found = self.value("custom-title", session) or self.value("ai-title", session)
        return found if isinstance(found, str) else None

    def worktree(self, session: str) -> Record | None:
        """Return the worktree the session was in; None if it left it or never entered one."""
        found = self.value("worktree-state", session)
        return found if isinstance(found, dict) else None

    def pull_request(self, session: str) -> Record | None:
        """Return the newest link to a pull request."""
        return self.record("pr-link", session)

    def replacements_of(self, session: str) -> list[Record]:
        """Return the replaced tool results of the session itself, without its subagents'."""
        names = dict.fromkeys((self.aliases.get(session, session), session, ""))
        return [each for name in names for each in self.replacements.get(name, [])]

    def file_states(self, chain: Iterable[str]) -> list[Record]:
        """Return the file snapshots of the messages in `chain`, in its order.

        An update replaces the earlier snapshot of the same message.
        """
        found: list[Record] = []
        places: dict[str, int] = {}
        for uuid in chain:
            entry = self.file_history.get(uuid)
            snapshot = entry.get("snapshot") if entry else None
            if entry is None or not isinstance(snapshot, dict):
                continue
            message = _text(snapshot.get("messageId"))
            if entry.get("isSnapshotUpdate") and message in places:
                found[places[message]] = snapshot
            else:
                places[message] = len(found)
                found.append(snapshot)
        return found

    def repeated(self, session: str) -> list[Record]:
        """Return the entries to write again near the file's end, in the order of `REPEATED`."""
        found = (self.record(kind, session) for kind in REPEATED)
        return [record for record in found if record is not None]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
