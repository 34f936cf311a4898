"""Effects on disk (`FORMAT.md`): beside the decisions, a document and a patch for each.

An effect is written by who tries the command, and read by every screen. Reading needs no lock.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from siding.asking.decisions.store import DecisionStore
from siding.asking.views import InboxEntry
from siding.effect.copying import look
from siding.effect.difference import HEAD, name_in
from siding.effect.edited import state_of
from siding.effect.effect import Counter, Effect, EffectState, lines_of
from siding.ground.errors import SidingError, UnreadableFile, counted
from siding.ground.files.durable import make_dirs
from siding.ground.files.regular import read_bytes
from siding.ground.git.discovery import find_repository
from siding.ground.ids import TaskId
from siding.ground.process.identity import started_of
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.layout import ProjectLayout, checked_name
from siding.record.place.project import Project
from siding.record.place.wiring import App

VERSION = 1
LONGEST_PATCH = 256 << 10  # bytes
CUT_OFF = "whoever tried it was cut off"
FOUND = (EffectState.TRIED, EffectState.COMPUTED)
_CUT = "\n... the rest of the patch is not kept\n"


def effect_of(project: Project, session_id: str) -> Effect | None:
    """Return the effect of what a decision is about, as it is now.

    None if the decision is about no command and no change of a file, or was put by an older
    version. An effect that was counted from another state of the workspace is stale, as long as the
    question is open.
    """
    found = kept(project, session_id)
    if found is None:
        return None
    if found.state is EffectState.PENDING and not lives(found.by):
        return found._replace(state=not_found(found), why=CUT_OFF)
    if found.state in FOUND and _is_open(project, session_id):
        now = _state_of(project, session_id, found)
        if now != found.counted_from:
            return found._replace(state=EffectState.STALE)
    return found


def effect_of_entry(app: App, entry: InboxEntry) -> Effect | None:
    """Return the effect of the command that an entry of the inbox asks about; else None."""
    if not entry.session_id:
        return None
    layout = ProjectLayout(Path(entry.project_dir))
    if not (layout.effects_dir / checked_name(f"{entry.session_id}.json")).exists():
        return None
    try:
        project = Project(app, layout, find_repository(Path(entry.repo_root)))
        return effect_of(project, entry.session_id)
    except (SidingError, OSError):
        return None


def kept(project: Project, session_id: str) -> Effect | None:
    """Return the effect as it was written; None if there is none, or it cannot be read."""
    try:
        path = _document(project, session_id)
        data = read_document_or_none(path, what="effect", version=VERSION)
        if data is None:
            return None
        patch = patch_path(project, session_id)
        found = Effect.from_document(data)
        return found._replace(patch=str(patch) if patch.exists() else "")
    except (UnreadableFile, ValueError, OSError):
        return None


def keep(project: Project, session_id: str, effect: Effect, patch: str = "") -> None:
    """Write an effect and its patch, from which secrets have been taken. Raises OSError."""
    make_dirs(project.layout.effects_dir)
    path = patch_path(project, session_id)
    if patch:
        data = patch.encode("utf-8", "surrogateescape")
        if len(data) > LONGEST_PATCH:
            whole = data[:LONGEST_PATCH].rpartition(b"\n")[0]
            data = whole + _CUT.encode()
        new = path.with_name(f"{path.name}.new")
        new.write_bytes(data)
        os.replace(new, path)
    else:
        path.unlink(missing_ok=True)
    write_document(_document(project, session_id), {"version": VERSION, **effect.as_document()})


def forget(project: Project, session_id: str) -> None:
    """Remove an effect: the question was answered before it was known."""
    with suppress(OSError):
        _document(project, session_id).unlink(missing_ok=True)
        patch_path(project, session_id).unlink(missing_ok=True)


def forget_removed(project: Project) -> None:
    """Remove the effects of decisions that are not there any more."""
    with suppress(OSError):
        store = DecisionStore(project.layout.decisions_dir)
        known = {*store.open_ids(), *store.closed_ids()}
        for path in project.layout.effects_dir.iterdir():
            # What begins with a dot is being written by somebody just now.
            if not path.name.startswith(".") and path.name.rpartition(".")[0] not in known:
                path.unlink(missing_ok=True)


def patch_of(effect: Effect) -> str:
    """Return the patch of an effect; "" if there is none."""
    if not effect.patch:
        return ""
    try:
        return read_bytes(Path(effect.patch), limit=2 * LONGEST_PATCH).decode("utf-8", "replace")
    except (OSError, SidingError):
        return ""


def shown_lines(effect: Effect, *, files: int, patch: int) -> list[str]:
    """Return the effect as lines for a screen; of a tool that edits, its patch as well.

    At most so many `files` and lines of the `patch` are there. Make the lines inert.
    """
    found = lines_of(effect, most=files)
    if not effect.is_edit:
        return found
    lines = list(_of_hunks(patch_of(effect), are_named=effect.files > 1))
    found += [f"  | {line}" for line in lines[:patch]]
    if len(lines) > patch:
        found.append(f"  and {counted(len(lines) - patch, 'more line')} of the patch")
    return found


def _of_hunks(patch: str, *, are_named: bool) -> Iterator[str]:
    """Yield the lines of a patch without what is said of each file; its name if there are more."""
    in_hunk = False
    for line in patch.split("\n"):
        if line.startswith(HEAD):
            in_hunk = False
            if are_named:
                yield name_in(line)
        elif line.startswith("@@") or in_hunk:
            in_hunk = True
            if line:
                yield line
        elif line.startswith("Binary"):
            yield line


def patch_path(project: Project, session_id: str) -> Path:
    """Return where the patch of an effect is, if there is one."""
    return project.layout.effects_dir / checked_name(f"{session_id}.patch")


def not_found(effect: Effect) -> EffectState:
    """Return the state of an effect that could not be found out."""
    return EffectState.NOT_KNOWN if effect.is_edit else EffectState.NOT_TRIED


def lives(by: Counter) -> bool:
    """Tell whether the process that tries a command lives."""
    return by.pid > 0 and started_of(by.pid) == by.started


def _document(project: Project, session_id: str) -> Path:
    return project.layout.effects_dir / checked_name(f"{session_id}.json")


def _is_open(project: Project, session_id: str) -> bool:
    return not DecisionStore(project.layout.decisions_dir).is_closed(session_id)


def _state_of(project: Project, session_id: str, effect: Effect) -> str:
    """Return the digest of the workspace's present state; "" if it cannot be told."""
    try:
        decision = DecisionStore(project.layout.decisions_dir).load(session_id)
        workspace = project.registry.of_task(TaskId(decision.origin.task_id))
        if workspace is None:
            return ""
        if effect.is_edit:
            return state_of(Path(workspace.path), effect.looked_at).digest
        seen = look(Path(workspace.path), tuple(map(os.fsencode, effect.left_out)))
        return "" if seen.is_cut else seen.digest
    except (SidingError, OSError):
        return ""
