"""What is said of one step: a label and a text a line."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from siding.app.step_commits import StepCommit
from siding.app.steps import Step
from siding.cli.fenced_lines import sandbox_lines
from siding.cli.ruled import policy_lines
from siding.cli.strayed import isolation_lines
from siding.cli.words import changes, counted, duration, local_time

FILES_LISTED = 100
Line = tuple[str, str]


def step_lines(task_name: str, found: Step, commits: Sequence[StepCommit]) -> list[Line]:
    """Return the lines of `siding show`; one without a text is left out by who prints them."""
    record = found.record
    how = found.status if found.exit_code is None else f"{found.status}, exit {found.exit_code}"
    return [
        ("task", task_name),
        ("step", f"{found.id} {found.kind_shown}"),
        ("command", found.title),
        ("in", str(record.get("cwd", ""))),
        ("started", local_time(found.started_at)),
        ("ended", f"{how}, after {duration(found.duration_ms)}" if found.ended_at else how),
        ("reason", str(record.get("reason") or "")),
        *_applied(record),
        ("changed", changes(found.files, found.additions, found.deletions, found.modes)),
        *_files(record),
        ("snapshot", f"{found.snapshot or '-'} (before: {found.parent or '-'})"),
        *_commits(record, commits),
        *_processes(record),
        *_coverage(record),
        *policy_lines(record),
        *sandbox_lines(record),
        *isolation_lines(record),
    ]


def _applied(record: Mapping[str, Any]) -> list[Line]:
    """Say where an apply, or its undoing, went."""
    branch, commit = record.get("target_branch"), str(record.get("commit_sha") or "")
    lines = [("mode", str(record["mode"]))] if record.get("mode") else []
    if branch and commit:
        before = str(record.get("target_before") or "")
        lines.append(("branch", f"{branch}, from {before[:12] or 'nothing'} to {commit[:12]}"))
    taken = [(word, f"step {record[word]}") for word in ("undoes", "redoes") if record.get(word)]
    return [*lines, *taken]


def _files(record: Mapping[str, Any]) -> Iterable[Line]:
    stat = record.get("diff_stat")
    applied = record.get("applied")  # an apply changes the target, not the workspace
    for each in (stat, applied):
        names = each.get("file_list") if isinstance(each, dict) else None
        if isinstance(names, list) and names:
            yield from (("", str(name)) for name in names[:FILES_LISTED])
            if len(names) > FILES_LISTED:
                yield "", f"and {len(names) - FILES_LISTED} more"
            return


def _commits(record: Mapping[str, Any], commits: Sequence[StepCommit]) -> Iterable[Line]:
    for each in commits:
        subject = "(no longer in the repository)" if each.subject is None else each.subject
        yield "commit", f"{each.sha[:12]} {subject}"
    named = record.get("commits")
    more = len(named) - len(commits) if isinstance(named, list) else 0
    if more > 0:
        yield "", f"and {counted(more, 'commit')} more"


def _processes(record: Mapping[str, Any]) -> Iterable[Line]:
    found = record.get("processes")
    if not isinstance(found, dict):
        return
    for key, what in (
        ("left_running", "left running at the end"),
        ("survivors", "could not be ended"),
        ("ended", "ended with the step"),
    ):
        for each in found.get(key) or ():
            yield "process", f"{each.get('pid')} ({each.get('name')}) {what}"


def _coverage(record: Mapping[str, Any]) -> Iterable[Line]:
    coverage = record.get("coverage")
    if not isinstance(coverage, dict):
        return
    for each in coverage.get("skipped") or ():
        yield "left out", f"{each.get('path')}: {each.get('reason')}"
    for path in coverage.get("nested") or ():
        yield "left out", f"{path}: the history of a repository of its own; its files are recorded"
    for path in coverage.get("unstable") or ():
        yield "left out", f"{path}: it changed while it was read; a mixed state may be recorded"
    if coverage.get("special_count"):
        yield "left out", f"{counted(int(coverage['special_count']), 'pipe, socket or device')}"
