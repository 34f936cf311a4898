"""Write a copy of a conversation, as a new one, in the form of another program.

The copy has what a model would be sent: what was rewound or compacted away is not in it, also for
programs whose own files know nothing of either.
"""

from collections.abc import Iterator
from pathlib import Path

from siding.agents.transcripts.clients.claude import changes_in
from siding.agents.transcripts.clients.codex import renamed_meta
from siding.agents.transcripts.clients.interchange import give_out, raw_lines_at
from siding.agents.transcripts.forms import Form
from siding.agents.transcripts.heads import is_ours, parsed
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.store import SessionStore, branch_session
from siding.ground.storage.codec import NotJson

_REPLACED = b'"content-replacement"'


def is_changed_here(transcript: Path) -> bool:
    """Tell whether something was said, rewound or compacted here since the last import."""
    if changes_in(raw_lines_at(transcript)).since is not None:
        return True
    return any(_REPLACED in line and is_ours(line) for line in raw_lines_at(transcript))


def give_out_copy(
    store: SessionStore, session: str, copy: str, form: Form, directory: Path
) -> list[Path]:
    """Write the live conversation of `session` as the session `copy`; return the new files.

    They are in `directory`/out; what else is in there is of no use afterwards. Raises as
    `branch_session` does.
    """
    copies = SessionStore(directory)
    first = _first_lines(store, session, copy) if form is Form.CODEX else ()
    branch_session(store, session, copy, into=copies, first=tuple(first))
    return give_out(copies, copy, form, directory / "out")


def _first_lines(store: SessionStore, session: str, copy: str) -> Iterator[Record]:
    """Yield Codex' line about the session, for the copy, if there is one."""
    for raw in raw_lines_at(store.layout(session).transcript):
        if b"session_meta" not in raw:
            continue
        try:
            record = parsed(raw)
        except NotJson:
            continue
        line = renamed_meta(str(record.get("line", "")), copy)
        if record.get("type") == "foreign-line" and line:
            yield {**record, "line": line, "sessionId": copy}
            return
