"""The plan of an act on a task, as a screen shows it, with a digest of all of it.

Making a plan takes no lock and changes nothing.
"""

import json
from typing import Any

from siding.applying.apply import Mode
from siding.ground.errors import counted
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.recording.steps import Step
from siding.record.restoring.act import written_meanwhile

GIT_SIDE = "on git's side"  # HEAD, the branch, the index, what is under way, the phases
SHOWN = 400  # paths of a kind that a plan lists; its digest is of all of them


class ActRequest(NamedTuple):
    """A request for an act on a task. `step` is a step's number, or ``base``.

    `argv` is the command that a retry runs instead.
    """

    act: str
    step: str = ""
    hard: bool = False
    force: bool = False
    mode: str = Mode.COMMIT.value
    onto: str = ""
    message: str = ""
    close: bool = True
    keep: bool = False
    argv: tuple[str, ...] = ()

    def means(self) -> dict[str, Any]:
        """Return the parameters that a code is bound to."""
        return self._asdict()


class PathGroup(NamedTuple):
    """Paths that an act treats alike."""

    what: str  # what happens to them, as the page shows it
    tone: str  # "write", "delete", "trash", "leave", "stop"
    paths: tuple[str, ...]
    many: int  # how many there are, with those that are not listed


class ActPlan(NamedTuple):
    """What an act would do.

    `stops` are reasons why it is not possible; `concerns` are reasons that need consent (force).
    `target` is where it leads, such as a branch or a step. `commits` are the subjects of the
    commits it applies. `nothing` is True when it would change nothing.
    """

    act: str
    title: str
    sentence: str
    groups: tuple[PathGroup, ...]
    notes: tuple[str, ...]
    concerns: tuple[str, ...]
    stops: tuple[str, ...]
    nothing: bool
    digest: str
    target: str = ""
    commits: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return the plan as values that JSON can hold, for the API."""
        found = self._asdict()
        found["groups"] = [{**g._asdict(), "paths": list(g.paths)} for g in self.groups]
        return found


def planned(
    act: str,
    title: str,
    sentence: str,
    groups: list[PathGroup],
    *,
    notes: tuple[str, ...] = (),
    concerns: tuple[str, ...] = (),
    stops: tuple[str, ...] = (),
    nothing: bool = False,
) -> ActPlan:
    """Return a plan; its digest is of everything that a person reads in it."""
    says = [act, title, sentence, [group._asdict() for group in groups], concerns, stops, notes]
    return ActPlan(
        act=act,
        title=title,
        sentence=sentence,
        groups=tuple(group._replace(paths=group.paths[:SHOWN]) for group in groups if group.many),
        notes=notes,
        concerns=concerns,
        stops=stops,
        nothing=nothing,
        digest=digest_of(says),
    )


def digest_of(told: object) -> str:
    """Return a digest of all that a plan says, in hexadecimal digits."""
    return sha256_hex(json.dumps(told, sort_keys=True).encode())[:32]


def grouped(what: str, tone: str, paths: list[str]) -> PathGroup:
    """Return paths that an act treats alike, as a part of its plan."""
    return PathGroup(what=what, tone=tone, paths=tuple(paths), many=len(paths))


def counted_groups(groups: list[PathGroup]) -> str:
    """Return how many paths each group has, in words."""
    return ", ".join(
        f"{counted(group.many, 'change' if group.what == GIT_SIDE else 'path')} {group.what}"
        for group in groups
        if group.many
    )


class ActDone(NamedTuple):
    """The result of an act: a sentence, and the id of the step that recorded it."""

    said: str
    step: str | None


def listed(*parts: str) -> str:
    """Return an act in words: those parts that are not empty."""
    return ", ".join(part for part in parts if part)


def meanwhile(project: Project, step: Step) -> str:
    """Return where the versions are that other programs wrote during an act; "" for none."""
    if not step.kept:
        return ""
    place = (project.layout.root / step.kept[0]).parent
    return f"; {written_meanwhile(len(step.kept))} {place}"
