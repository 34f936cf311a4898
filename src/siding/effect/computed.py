"""The effect of a tool that changes files: worked out from what it was given, with its patch."""

import os
from collections.abc import Iterable
from pathlib import Path

from siding.agents.edits import Edit
from siding.effect.difference import MOST_KEPT, lines_in, patch_between
from siding.effect.edited import Edited, Given, Made, NotKnown, edited
from siding.effect.effect import Effect, EffectState, Touch, TouchedFile
from siding.ground.errors import SidingError
from siding.record.place.project import Project
from siding.record.tasks.registry import Workspace

_NOT_READ = "outside of the workspace, so it was not read; the patch has what the tool was given"


def computed(
    project: Project, workspace: Workspace, pending: Effect, edits: Iterable[Edit], room: Path
) -> tuple[Effect, str]:
    """Return an effect and its patch, which is "" if it cannot be told.

    `room` is an empty directory of our own, which the caller removes.
    """
    root = Path(workspace.path)
    try:
        found = edited(root, Path(pending.cwd), edits)
        patch = _patch(project, found, room)
    except NotKnown as why:
        said = str(why)
    except (SidingError, OSError, ValueError) as error:
        said = error.message if isinstance(error, SidingError) else str(error)
    else:
        return _effect(project, pending, found, patch)
    return pending._replace(state=EffectState.NOT_KNOWN, why=project.redaction.text(said)), ""


def _effect(project: Project, pending: Effect, found: Edited, patch: str) -> tuple[Effect, str]:
    lines = lines_in(patch)
    kinds = [(each.path, _touch(each)) for each in found.made]
    kinds += [(each.path, Touch.CHANGED) for each in found.outside]
    named = project.redaction.names([path for path, _ in kinds])
    touched = [
        TouchedFile(name, how, *lines.get(path, (0, 0)))
        for name, (path, how) in zip(named, kinds, strict=True)
    ]
    many = {how: sum(each.how is how for each in touched) for how in Touch}
    effect = pending._replace(
        state=EffectState.COMPUTED,
        touched=tuple(touched[:MOST_KEPT]),
        files=len(touched),
        added=many[Touch.ADDED],
        changed=many[Touch.CHANGED],
        deleted=many[Touch.DELETED],
        additions=sum(each.additions for each in touched),
        deletions=sum(each.deletions for each in touched),
        places=tuple(each.path for each in touched if each.how is Touch.DELETED),
        notes=(_NOT_READ,) if found.outside else (),
        counted_from=found.seen.digest,
        counted_at=project.app.now(),
        looked_at=project.redaction.names(found.looked_at),
    )
    return effect, project.redaction.text(patch)


def _touch(made: Made) -> Touch:
    if made.before is None:
        return Touch.ADDED
    return Touch.DELETED if made.after is None else Touch.CHANGED


def _patch(project: Project, found: Edited, room: Path) -> str:
    for side in ("a", "b"):
        (room / side).mkdir(mode=0o700)
    for made in found.made:
        for side, data in (("a", made.before), ("b", made.after)):
            if data is not None:
                path = room / side / made.path
                os.makedirs(path.parent, exist_ok=True)
                path.write_bytes(data)
    inside = patch_between(room, project.app.env) if found.made else ""
    return inside + "".join(map(_outside, found.outside))


def _outside(given: Given) -> str:
    """Return the part of a patch for a file that is not read."""
    head = f"diff --git a/{given.path} b/{given.path}"
    lines = (head, f"@@ {_NOT_READ} @@", *given.lines)
    return "".join(f"{line}\n" for line in lines)
