"""Judge the target of a call: the file or directory that the other operands come to."""

from typing import TYPE_CHECKING

from siding.shellguard.fields import known
from siding.shellguard.hosts import is_far
from siding.shellguard.paths import Zone
from siding.shellguard.programs.meanings import means

if TYPE_CHECKING:
    from siding.shellguard.call import Call
    from siding.shellguard.examiner import Examiner
    from siding.shellguard.programs.given import Given


def judge_target(
    examiner: "Examiner", call: "Call", given: "Given", operands: list[str]
) -> list[str]:
    """Judge the target of a call; return the other operands.

    The target is the value of an option for it, or the last of several operands.
    """
    words = given.places.get("(operands)", ())
    targets = given.values("target")
    sources = list(operands)
    if not targets and len(sources) > 1:
        targets = [sources.pop()]
    if "links" in words:
        targets = targets or [_name(source) or "." for source in sources]
    for target in targets:
        if "moves" in words and examiner.zone(target, call.state) is Zone.HARMLESS:
            examiner.found("delete-unknown", target)
        means(examiner, call, given.places["(target)"], target)
        if "receives" in given.places["(target)"]:
            _receives(examiner, call, sources, target)
        emptied = given.has("mirrors") and not is_far(target)
        if emptied and not examiner.is_workspace(target, call.state):
            examiner.deletes(target, call.state, recursive=True)
        elif emptied and examiner.is_root(target, call.state):
            examiner.found("delete-all", target)
    if "links" in words:
        _links(examiner, call, sources, targets)
    return sources


def _receives(examiner: "Examiner", call: "Call", sources: list[str], target: str) -> None:
    """Judge the files that a target gets, if it is a directory."""
    if target.endswith("/") or examiner.is_workspace(target, call.state):
        for source in sources:
            if _name(source) not in ("", ".", ".."):
                examiner.writes(f"{target.rstrip('/')}/{_name(source)}", call.state)
    if any(examiner.is_fetched(source, call.state) for source in sources):
        examiner.takes(target, call.state)


def _links(examiner: "Examiner", call: "Call", sources: list[str], targets: list[str]) -> None:
    """Judge where links lead; a later path through one that leads outside lies outside too."""
    for source in sources:
        directory = targets[0].rpartition("/")[0] if known(targets[0]) else ""
        path = source if source.startswith("/") or not directory else f"{directory}/{source}"
        zone = examiner.zone(path, call.state)
        near = zone in (Zone.INSIDE, Zone.TEMPORARY, Zone.STEERING, Zone.HARMLESS)
        if not near and not examiner.is_workspace(path, call.state):
            if not examiner.is_beside(path, call.state):
                examiner.found("link-outside", path)
            examiner.links_made(targets[0], source, call.state)


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
