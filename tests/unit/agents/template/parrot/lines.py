"""What the lines of Parrot's transcripts say.

{"parrot": "person", "at": "2026-11-27T10:00:00Z", "in": "/repo", "said": "Say hello"}
"""

from siding.agents.transcripts.foreign import MOST_TEXT, record_of
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.summaries import Lines, Summary, text_in


def _fold(summary: Summary, record: Record) -> None:
    if not record.get("parrot"):
        return
    summary.cwd = summary.cwd or text_in(record.get("in"))
    summary.heard(record.get("at"))
    if record["parrot"] == "person":
        summary.asked(text_in(record.get("said")))
    else:
        summary.answered(record.get("id"))


def _words(raw: bytes) -> tuple[str, str, str] | None:
    record = record_of(raw)
    said = text_in(record.get("said"))[:MOST_TEXT]
    kind = "user" if record.get("parrot") == "person" else "assistant"
    return (kind, text_in(record.get("at")), said) if said else None


LINES = Lines(fold=_fold, words=_words)
