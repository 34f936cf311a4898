"""The files of a step: its patch, its output, and what its run asked.

They get the step's number when it is recorded.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.files.durable import flush, flush_dir, make_dirs, remove_file
from siding.ground.hashing import sha256_of_file
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.output.files import rename_output, settle_output
from siding.ground.storage.layout import TaskLayout
from siding.record.ledger.intents import Intent
from siding.record.ledger.step import Step
from siding.record.recording.snapshots import TaskSnapshots

if TYPE_CHECKING:
    from siding.record.snapshots.patches import DiffStat


class WrittenPatch(NamedTuple):
    """A patch between two snapshots. `path` is None if the patch is empty."""

    path: Path | None
    sha256: str
    stat: "DiffStat | None"


def write_patch(
    layout: TaskLayout, snapshots: TaskSnapshots, intent: Intent, before: str, after: str
) -> WrittenPatch:
    """Write the patch between two snapshots under a temporary name, and flush it to disk."""
    if before == after:
        return WrittenPatch(None, "", None)
    make_dirs(layout.artifacts_dir)
    path = layout.artifact(f".{intent.stem}", "patch.tmp")
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        stat = snapshots.write_patch_counted(before, after, fd)
        size = os.lseek(fd, 0, os.SEEK_END)
        if size == 0:
            remove_file(path)
            return WrittenPatch(None, "", stat)
        digest = sha256_of_file(fd)
        flush(fd)
    finally:
        os.close(fd)
    return WrittenPatch(path, digest, stat)


def name_artifacts(
    layout: TaskLayout, intent: Intent, patch: WrittenPatch, number: int
) -> dict[str, str]:
    """Rename an act's artifacts to the number of its step, durably; return their names by kind."""
    names: dict[str, str] = {}
    if patch.path is not None:
        named = layout.artifact(number, "patch")
        patch.path.replace(named)
        names["patch"] = f"artifacts/{named.name}"
    if intent.draft.as_run is not None:
        if output := _name_output(layout, intent, number):
            names["output"] = f"artifacts/{output}"
        if asked := _name_requests(layout, intent, number):
            names["requests"] = f"artifacts/{asked}"
        if passed := _name_wire(layout, intent, number):
            names["wire"] = f"artifacts/{passed}"
    if names:
        flush_dir(layout.artifacts_dir)
    return names


def _name_output(layout: TaskLayout, intent: Intent, number: int) -> str:
    """Give the output of a run the number of its step; return its name, "" if there is none."""
    run = intent.draft.as_run
    assert run is not None
    counted = run.output.stdout_bytes if run.output else None
    own, named = layout.artifact(intent.stem, "output"), layout.artifact(number, "output")
    return named.name if rename_output(own, named, counted) else ""


def _name_requests(layout: TaskLayout, intent: Intent, number: int) -> str:
    ran = intent.draft.as_run
    if ran is None or ran.requests is None:
        return ""
    from siding.record.runs.requests import name_requests  # few runs ask anything

    return name_requests(layout, intent.stem, number)


def _name_wire(layout: TaskLayout, intent: Intent, number: int) -> str:
    ran = intent.draft.as_run
    if ran is None or ran.wire is None or not ran.run:
        return ""
    from siding.record.wire.journal import name_wire  # few runs have a proxy

    return name_wire(layout, ran.run, number)


def join_output(layout: TaskLayout, step: Step) -> None:
    """Join stdout and stderr of a run into one file, if the disk had no room for it at its end."""
    run = step.as_run
    told = run.output if run else None
    if told is None or told.stdout_bytes is None:
        return
    output = layout.artifact(step.number, "output")
    if not settle_output(output, told.stdout_bytes):
        from siding.ground.process.output.reading import recover_output

        recover_output(output)
        settle_output(output, told.stdout_bytes)


def highest_artifact(directory: Path, at_least: int) -> int:
    """Return the highest number, from `at_least` on, up to which every step has an artifact."""
    number = at_least
    while any((directory / f"{number + 1:04d}.{kind}").exists() for kind in ("output", "patch")):
        number += 1
    return number
