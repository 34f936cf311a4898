"""The lines of a step: what is known of a run, a turn, an apply."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from siding.faces.cli.screen.words import changes_with_turns, duration, local_time, size
from siding.faces.cli.telling.step_words import TRAPS_SHOWN, event_words, outside_words, trap_words
from siding.ground.errors import counted
from siding.record.recording.step_details import Asked, StepCommit
from siding.record.recording.steps import (
    ApplyRedoStep,
    ApplyStep,
    ApplyUndoStep,
    CheckpointStep,
    ForeignStep,
    MergeStep,
    PhaseStep,
    RedoStep,
    RollbackStep,
    RunStep,
    Step,
    TurnStep,
    UndoStep,
)
from siding.usage.brief import brief

if TYPE_CHECKING:
    from siding.record.recording.step_details import SandboxReport

# An agent reports any text as the id of its conversation; a command is only made of a harmless one.
_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{7,63}")
FILES_LISTED = 100
NOTES_LISTED = 20
PROMPT_LINES = 20
Line = tuple[str, str]


def step_lines(
    task_name: str, found: Step, commits: Sequence[StepCommit], home: Path, *, freed: str | None
) -> list[Line]:
    """Return the lines of `siding show`. A line may have no text; the caller leaves it out.

    `home` is the project's directory, in which the paths of a step are. `freed` is the sentence
    about a snapshot or a patch that was freed.
    """
    run = found.as_run
    how = found.status if found.exit_code is None else f"{found.status}, exit {found.exit_code}"
    return [
        ("task", task_name),
        ("step", f"{_named(found)} {found.kind_shown}"),
        ("command", found.title),
        ("in", run.cwd if run else ""),
        ("started", _begun(found)),
        ("ended", f"{how}, after {duration(found.duration_ms)}" if found.ended_at else how),
        ("reason", found.reason),
        *_of_kind(found),
        *(("" if number else "kept", str(home / path)) for number, path in enumerate(found.kept)),
        ("changed", changes_with_turns(found)),
        *_files(found),
        ("snapshot", f"{found.snapshot or '-'} (before: {found.parent or '-'})"),
        ("freed", freed or ""),
        *_commits(found, commits),
        *_processes(found),
        *_coverage(found),
        *_policy(found),
        *_sandbox(found),
        *_isolation_lines(found),
        *_trap_lines(found),
    ]


def _named(found: Step) -> str:
    """Return the step's number; of a run that is not recorded yet its id: turns take the number."""
    return found.run if found.run and not found.ended_at else found.id


def _begun(found: Step) -> str:
    """Return when a step began: a turn with its prompt, long before it is recorded."""
    if found.as_checkpoint is not None and found.ended_at:
        return local_time(found.ended_at, before_ms=found.duration_ms)
    return local_time(found.started_at)


def _of_kind(found: Step) -> Iterable[Line]:
    """Yield what a step of this kind did, besides its changes."""
    match found:
        case RunStep():
            yield from _prompt(found.detail.prompt)
            yield from _used(found)
            yield from _reported(found)
            yield from (("note", each) for each in found.detail.notes)
        case TurnStep() | CheckpointStep():
            yield from _turn(found)
        case ApplyStep():
            yield from _applied(found)
        case ApplyUndoStep() | ApplyRedoStep():
            yield from _applied(found)
            yield from _reversed(found)
        case UndoStep() | RedoStep():
            yield from _reversed(found)
        case RollbackStep() | MergeStep() | PhaseStep() | ForeignStep():
            pass
        case _:
            assert_never(found)


def _applied(found: ApplyStep | ApplyUndoStep | ApplyRedoStep) -> Iterable[Line]:
    """Yield lines about the branch that an apply moved."""
    applied = found.detail
    if applied.mode:
        yield "mode", applied.mode
    if applied.target_branch and applied.commit_sha:
        # What another tool recorded does not say where the branch was.
        nothing = "nothing" if found.is_chained else ""
        before = applied.target_before[:12] or nothing
        begun = f"from {before} " if before else ""
        yield "branch", f"{applied.target_branch}, {begun}to {applied.commit_sha[:12]}"
    if applied.proven_by:
        yield "checked", f"`{applied.proven_by}` held"


def _reversed(found: Step) -> Iterable[Line]:
    """Yield the step that was undone or redone."""
    taken = found.reversal._asdict().items()
    return ((word, f"step {step}") for word, step in taken if step)


def _turn(found: TurnStep | CheckpointStep) -> Iterable[Line]:
    """Yield what an agent was asked in a turn."""
    turn = found.detail
    yield from _prompt(turn.prompt)
    for each in turn.later_prompts:
        lines = each.strip().splitlines()
        yield from (("" if at else "later", line) for at, line in enumerate(lines[:PROMPT_LINES]))
        if len(lines) > PROMPT_LINES:
            yield "", f"and {counted(len(lines) - PROMPT_LINES, 'more line')}"
    if turn.prompt:
        yield "session", f"{turn.session}, {found.agent}" if found.agent else turn.session
    if _ID.fullmatch(turn.session):
        label = "" if turn.prompt else "session"
        yield label, f"siding session show {turn.session} --step {found.number}"
    yield from _used(found)


def _prompt(prompt: str) -> Iterable[Line]:
    lines = prompt.splitlines()
    yield from (("" if at else "prompt", each) for at, each in enumerate(lines[:PROMPT_LINES]))
    if len(lines) > PROMPT_LINES:
        yield "", f"and {counted(len(lines) - PROMPT_LINES, 'more line')}"


def _used(found: Step) -> Iterable[Line]:
    yield "used", brief(found.usage)
    if found.wire is not None:
        from siding.usage.wire import wire_lines

        yield from wire_lines(found)


def _reported(found: RunStep) -> Iterable[Line]:
    """Yield what the agent of a run reported in all of it."""
    said = found.detail.reported
    if said is None or not said.session:
        return
    yield "session", f"{said.session}, {counted(said.prompts, 'prompt')}"
    if said.prompt:
        yield "", f"cut off in: {(said.prompt.strip() or '-').splitlines()[0]}"
    if said.judge != "off":
        more = [
            f"{n} {what}" for n, what in ((said.blocked, "blocked"), (said.asked, "asked")) if n
        ]
        yield "judged", ", ".join([counted(said.judged, "call"), *more])


def _files(found: Step) -> Iterable[Line]:
    names = found.diff_stat.file_list
    yield from (("", name) for name in names[:FILES_LISTED])
    if len(names) > FILES_LISTED:
        yield "", f"and {len(names) - FILES_LISTED} more"


def _commits(found: Step, commits: Sequence[StepCommit]) -> Iterable[Line]:
    for each in commits:
        subject = "(no longer in the repository)" if each.subject is None else each.subject
        yield "commit", f"{each.sha[:12]} {subject}"
    more = len(found.commits) - len(commits)
    if more > 0:
        yield "", f"and {counted(more, 'commit')} more"


def _processes(found: Step) -> Iterable[Line]:
    run = found.as_run
    if run is None:
        return
    report = run.processes
    for listed, what in (
        (report.left_running, "left running at the end"),
        (report.survivors, "could not be ended"),
        (report.ended, "ended with the step"),
    ):
        for each in listed:
            yield "process", f"{each.pid} ({each.name}) {what}"


def request_lines(asked: Sequence[Asked]) -> list[Line]:
    """Return the lines about what a run asked its broker: its notes, and all else by kind."""
    notes = [("note", each.said) for each in asked if each.what == "note" and not each.is_answer]
    kinds: dict[str, int] = {}
    for each in asked:
        if not each.is_answer and each.what not in ("note", "report"):
            kinds[each.what] = kinds.get(each.what, 0) + 1
    counts = ", ".join(f"{what} {number}" for what, number in kinds.items())
    more = [("", f"and {len(notes) - NOTES_LISTED} more")] if len(notes) > NOTES_LISTED else []
    return [*([("asked", counts)] if counts else []), *notes[:NOTES_LISTED], *more]


def _policy(found: Step) -> Iterable[Line]:
    for event in found.policy_events:
        said = event.action + (f", answered {event.answer}" if event.answer else "")
        yield "policy", f"{said}: {event_words(event)}"


def _sandbox(found: Step) -> Iterable[Line]:
    run = found.as_run
    if run is None or (run.sandbox is None and not run.limits):
        return []

    return sandbox_lines(found)


def _coverage(found: Step) -> Iterable[Line]:
    coverage = found.coverage
    if coverage is None or (coverage.complete and not coverage.special_count):
        return
    from siding.record.recording.step_details import quote_path

    for each in coverage.skipped:
        yield "left out", f"{quote_path(each.path)}: {each.reason}"
    for path in map(quote_path, coverage.nested):
        yield "left out", f"{path}: the history of a repository of its own; its files are recorded"
    for path in map(quote_path, coverage.unstable):
        yield "left out", f"{path}: it changed while it was read; a mixed state may be recorded"
    if coverage.special_count:
        yield "left out", f"{counted(coverage.special_count, 'pipe, socket or device')}"


def sandbox_lines(step: Step) -> list[tuple[str, str]]:
    """Return the lines, each a label and a text; none for a run without sandbox and limits."""
    run = step.as_run
    if run is None:
        return []
    lines: list[tuple[str, str]] = []
    if run.sandbox is not None:
        lines.append(("sandbox", _sandbox_engine(run.sandbox)))
        if run.sandbox.hosts:
            lines.append(("hosts", " ".join(run.sandbox.hosts)))
        lines += [("", f"open: {each}") for each in run.sandbox.not_covered]
    if run.limits:
        lines.append(("limits", ", ".join(f"{k} {_amount(k, v)}" for k, v in run.limits.items())))
    return lines


def _sandbox_engine(told: "SandboxReport") -> str:
    if told.engine is None:
        return f"none: {told.reason or 'no engine works'}"
    return f"{told.engine}, profile {told.profile}, network {told.network}, git {told.git}"


def _amount(name: str, value: object) -> str:
    return str(value) if name == "processes" or not isinstance(value, int) else size(value)


def _isolation_lines(step: Step) -> list[tuple[str, str]]:
    """Return the lines of `siding show` about changes outside the workspace."""
    found = step.isolation
    if found is None:
        return []
    lines = [("outside", outside_words(each)) for each in found.alarms]
    return [*lines, *(("meanwhile", outside_words(each)) for each in found.notes)]


def _trap_lines(step: Step) -> list[tuple[str, str]]:
    """Return the lines of `siding show` about the traps of a step."""
    count = step.trap_count
    if not count:
        return []
    lines = [("trap", trap_words(each)) for each in step.traps[:TRAPS_SHOWN]]
    more = count - len(lines)
    return [*lines, ("", f"and {more} more")] if more > 0 else lines
