"""Verify the newest line of a ledger and what the record binds of the task, against the anchor."""

from collections.abc import Iterator
from pathlib import Path

from siding.ground.errors import UnreadableFile, counted
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.journals import TORN, Entry, Journal
from siding.record.ledger.anchor import (
    BEFORE,
    NOT_AS_ANCHORED,
    Anchor,
    Survey,
    TaskIdentity,
    digest_until,
    read_anchor,
    read_next_task,
    survey,
)
from siding.record.ledger.intents import Intents
from siding.record.place.project import Project
from siding.record.recording.anchoring import anchor_path, task_identity
from siding.record.tasks.task import Task

ANCHOR = "ledger-head"  # the file, in findings
_TRIES = 20  # how often a ledger is read again that grew meanwhile


class RecordFinding(NamedTuple):
    """A problem in a record. `where` names the file, line or object."""

    where: str
    problem: str
    serious: bool  # False if nothing is lost


class Anchored(NamedTuple):
    """What the anchor says of a record; `head` and `since` as in `verify.Proof`."""

    head: str | None
    since: int | None
    findings: tuple[RecordFinding, ...]


class Seen(NamedTuple):
    """An anchor and what it is compared with, at one moment."""

    anchor: Anchor | None
    damage: str  # why the anchor cannot be read; "" if it can
    found: Survey
    unfinished: frozenset[str]  # the acts that have an intent
    coming: TaskIdentity | None  # the identity that was announced for an act that changes it
    task: TaskIdentity  # as task.json has it
    base: str | None  # the base commit in the registry; None without an entry


def check_anchor(project: Project, task: Task, *, head: str = "") -> Anchored:
    """Compare the task's ledger and its document with the anchor. Takes no lock."""
    ledger = project.task_layout(task.id).ledger_jsonl
    seen = _look(project, task, head)
    findings = [
        *_anchor_itself(seen),
        *_past(seen),
        *_marked(seen.found),
        *_sealed(ledger, seen.found),
        *_task(seen),
    ]
    newest = seen.found.newest
    noted = None if newest is None else sha256_hex(newest.raw)
    if not head:
        return Anchored(noted, None, tuple(findings))
    at = seen.found.head
    if at is None:
        findings.append(_bad("ledger.jsonl", f"has no line with the hash {head}"))
        return Anchored(noted, None, tuple(findings))
    later = sum(1 for entry in Journal(ledger).entries(at.end) if entry.record is not None)
    return Anchored(noted, later, tuple(findings))


def disagreement(project: Project, task: Task) -> str | None:
    """Return how the task's ledger differs from its anchor now; None if it does not.

    A missing anchor is left to the verification: after the snapshots are lost it is no news.
    """
    seen = _look(project, task, "")
    if seen.anchor is None and not seen.damage:
        return None
    found = [each for each in (*_anchor_itself(seen), *_past(seen)) if each.serious]
    return f"{found[0].where}: {found[0].problem}" if found else None


def _look(project: Project, task: Task, head: str) -> Seen:
    """Read the anchor and the rest of the record, again if a step was recorded meanwhile.

    The order matters. An act writes its intent, then its line, then the anchor, and removes the
    intent last. So if the anchor has not changed at the end, the intents of the lines behind it
    were seen. It changes before and after a task gets another base, too.
    """
    path = anchor_path(project, task.id)
    layout = project.task_layout(task.id)
    for _ in range(_TRIES):
        (anchor, damage), coming = before = _read(path), read_next_task(path)
        found = survey(anchor, Journal(layout.ledger_jsonl).entries(), head=head)
        unfinished = frozenset(intent.act for intent in Intents(layout).all())
        now = task_identity(project.tasks.load(task.id))
        entered = project.workspaces.of_task(task.id)
        base = None if entered is None else str(entered.base_commit)
        if before == (_read(path), read_next_task(path)):
            break
    return Seen(anchor, damage, found, unfinished, coming, now, base)


def _read(path: Path) -> tuple[Anchor | None, str]:
    try:
        return read_anchor(path), ""
    except UnreadableFile as error:
        return None, error.message
    except OSError as error:
        return None, error.strerror or str(error)


def _anchor_itself(seen: Seen) -> Iterator[RecordFinding]:
    anchor, found = seen.anchor, seen.found
    if seen.damage and _is_unfinished(found.newest, seen):
        yield _note(ANCHOR, "is not written to its end; the next command in this task does it")
    elif seen.damage:
        yield _bad(ANCHOR, seen.damage)
    elif anchor is None:
        yield from _no_anchor(seen)
    elif found.holds and found.unclosed:
        yield _bad("ledger.jsonl", "the newline at its end is missing; the next step writes it")
    elif not found.holds and found.lines < anchor.lines:
        yield _bad(
            "ledger.jsonl",
            f"has {counted(found.lines, 'line')}; {anchor.lines} were written, as {ANCHOR} says",
        )
    elif not found.holds:
        yield _bad(
            f"ledger.jsonl:{anchor.lines}",
            f"is not the line that was written there, or not at its place, as {ANCHOR} says",
        )


def _no_anchor(seen: Seen) -> Iterator[RecordFinding]:
    found = seen.found
    if found.anchored == 0:
        if found.lines:
            yield _note(
                "ledger.jsonl",
                "is not anchored yet, so that a change of its newest line would not show; the next "
                "step does it",
            )
    elif found.anchored == 1 and _is_unfinished(found.newest, seen):
        yield _note("ledger.jsonl", "is not anchored yet; the next command in this task does it")
    else:
        yield _bad(ANCHOR, "is missing, so that a change of the newest line would not show")


def _past(seen: Seen) -> Iterator[RecordFinding]:
    """Yield a finding for each line behind the anchor but torn ones, which are reported anyway."""
    for entry in seen.found.past:
        where = f"ledger.jsonl:{entry.number}"
        if entry.problem is not None and entry.problem.startswith(TORN):
            continue
        if entry is seen.found.past[-1] and _is_unfinished(entry, seen):
            yield _note(where, "is not anchored yet; the next command in this task does it")
        else:
            yield _bad(where, f"was added behind the newest line, as {ANCHOR} says")


def _marked(found: Survey) -> Iterator[RecordFinding]:
    for entry in found.marked:
        said = (entry.record or {}).get(NOT_AS_ANCHORED)
        told = said if isinstance(said, dict) else {}
        how = f"the anchor was {'damaged' if told.get('damaged') else 'missing'}"
        if told.get("lines"):
            how = f"{told['lines']} of them, the newest with the hash {told.get('head')}"
        yield _bad(
            f"ledger.jsonl:{entry.number}",
            f"when it was written, the lines before it were not as anchored: {how}",
        )


def _sealed(ledger: Path, found: Survey) -> Iterator[RecordFinding]:
    for entry in found.sealing:
        if digest_until(ledger, entry.offset) != (entry.record or {}).get(BEFORE):
            yield _bad(
                f"ledger.jsonl:{entry.number}",
                "the lines before it were changed since it was written",
            )


def _task(seen: Seen) -> Iterator[RecordFinding]:
    """Yield the differences between the task and what the record binds of it."""
    bound, coming = seen.found.identity, seen.coming
    if bound is None:
        return
    if coming is not None:  # whatever else it names never changes
        coming = coming._replace(id=bound.id, name=bound.name)
    if seen.task != coming:
        yield from _differences(seen.task, bound)
    elif coming != bound:
        yield _note("task.json", "has another base; the next command in the task records that")
    bases = {bound.base_commit} if coming is None else {bound.base_commit, coming.base_commit}
    if seen.base is not None and seen.base not in bases:
        yield _bad(
            "worktrees.json",
            f"says base_commit {seen.base!r}; the record says {bound.base_commit!r}",
        )


def _differences(now: TaskIdentity, bound: TaskIdentity) -> Iterator[RecordFinding]:
    for name, value, expected in zip(TaskIdentity._fields, now, bound, strict=True):
        if value != expected:
            yield _bad("task.json", f"says {name} {value!r}; the record says {expected!r}")


def _is_unfinished(entry: Entry | None, seen: Seen) -> bool:
    record = {} if entry is None or entry.record is None else entry.record
    return bool(record.get("act")) and record["act"] in seen.unfinished


def _bad(where: str, problem: str) -> RecordFinding:
    return RecordFinding(where, problem, serious=True)


def _note(where: str, problem: str) -> RecordFinding:
    return RecordFinding(where, problem, serious=False)
