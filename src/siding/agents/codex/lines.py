"""What the lines of Codex' transcripts say: to a list, to a search."""

from pathlib import Path

from siding.agents.codex.forks import Fork, beginning_of, fork_in
from siding.agents.transcripts.foreign import (
    MOST_TEXT,
    all_texts,
    is_context,
    moment_of,
    record_of,
)
from siding.agents.transcripts.kinds import ASSISTANT, CHAIN_TYPES, USER, Record
from siding.agents.transcripts.summaries import Lines, Summary, take, text_in, texts_in
from siding.ground.storage.fields import mapping

_TEXTS = ("content", "summary", "name", "arguments", "input", "action", "output")


def _fold(summary: Summary, record: Record) -> None:
    payload = mapping(record.get("payload"))
    kind = record.get("type")
    if kind == "session_meta":
        if not summary.cwd:  # the lines of the conversation it was forked from come behind
            summary.id = text_in(payload.get("id")) or summary.id
            summary.cwd = text_in(payload.get("cwd"))
            summary.branch = text_in(mapping(payload.get("git")).get("branch"))
            summary.hidden = isinstance(payload.get("source"), dict)  # a subagent's
            fork = fork_in(dict(payload))
            if fork is not None:
                summary.forked_from, summary.forked_until, summary.is_fork = *fork, True
    elif kind == "response_item" and payload.get("type") == "message":
        summary.heard(record.get("timestamp"))
        if payload.get("role") == ASSISTANT:
            summary.answered(payload.get("id"))
        elif payload.get("role") == USER:
            said = texts_in(payload.get("content"))
            if said and not is_context(said):
                summary.asked(said)


def _complete(path: Path, summary: Summary) -> None:
    """Add what a forked conversation has in the file of another one."""
    if not summary.forked_from:
        return
    beginning = beginning_of(path, Fork(summary.forked_from, summary.forked_until))
    before = Summary(id=summary.id)
    for line in beginning.lines:
        take(_fold, before, line)
    if beginning.missing and not beginning.lines:
        return  # it is looked for again when the file has grown
    summary.prompt = before.prompt or summary.prompt
    summary.messages += before.messages
    summary.forked_from = ""


def _words(raw: bytes) -> tuple[str, str, str] | None:
    """What was said, what tools were called with, and what they answered; no instructions."""
    record = record_of(raw)
    payload = record.get("payload")
    if record.get("type") != "response_item" or not isinstance(payload, dict):
        return None
    kind = payload.get("role") or ("user" if "output" in payload else "assistant")
    text = " ".join(all_texts(payload.get(key) for key in _TEXTS))[:MOST_TEXT]
    if not text or kind not in CHAIN_TYPES or is_context(text):
        return None
    return str(kind), moment_of(record), text


def _id_of(path: Path) -> str:
    return path.stem[-36:]  # rollout-<time>-<id>


LINES = Lines(fold=_fold, words=_words, id_of=_id_of, complete=_complete)
