"""A plan of an act as the person reads it before it is done. Pure."""

from siding.applying.unresolved import Merging
from siding.faces.plans.plan import ActPlan, PathGroup
from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.rows.styles import TEXT
from siding.faces.tui.text import inert
from siding.ground.errors import counted

_SHOWN = 200  # paths of a group
_COMMITS = 20
_TONES = {"write": "warn", "delete": "bad", "trash": "warn", "leave": "dim", "stop": "bad"}


def lines_of(plan: ActPlan) -> list[Pieces]:
    """Return what an act would do, line by line: first what stops it, then all that it changes."""
    found: list[Pieces] = [[(inert(plan.title), "heading")]]
    if plan.sentence not in plan.title:
        found.append([(inert(plan.sentence), TEXT)])
    found += [[("not possible: ", "bad"), (inert(each), TEXT)] for each in plan.stops if each]
    found += [[("asks for your word: ", "warn"), (inert(each), TEXT)] for each in plan.concerns]
    found += [[("note: ", "dim"), (inert(each), TEXT)] for each in plan.notes]
    for subject in plan.commits[:_COMMITS]:
        found.append([("  commit  ", "dim"), (inert(subject), TEXT)])
    if len(plan.commits) > _COMMITS:
        found.append([(f"          and {len(plan.commits) - _COMMITS} more", "dim")])
    for group in plan.groups:
        found += _group(group)
    return found


def _group(group: PathGroup) -> list[Pieces]:
    style = _TONES.get(group.tone, TEXT)
    found: list[Pieces] = [[(f"{group.many} {inert(group.what)}", style)]]
    found += [[("  ", TEXT), (inert(path), TEXT)] for path in group.paths[:_SHOWN]]
    left = group.many - min(len(group.paths), _SHOWN)
    if left > 0:
        found.append([(f"  and {counted(left, 'path')} more", "dim")])
    return found


def ways(plan: ActPlan) -> list[tuple[str, str]]:
    """Return the keys that count while a plan is shown, each with what it does."""
    if plan.stops or plan.nothing:
        more = [("m", "bring the conflict into the workspace")] if conflicts(plan) else []
        return [*more, ("escape", "leave it")]
    if plan.concerns:
        return [("f", "go on all the same"), ("escape", "leave it")]
    return [("enter", "do it"), ("escape", "leave it")]


def conflicts(plan: ActPlan) -> bool:
    """Tell whether an apply would conflict, so that it can be resolved in the workspace."""
    return plan.act == "apply" and any(group.what == "in conflict" for group in plan.groups)


def merge_lines(merging: Merging, workspace: str) -> list[Pieces]:
    """Return the files of a conflict that is being resolved, those that are left first."""
    left, total = merging.left, len(merging.paths)
    found: list[Pieces] = [
        [(f"Conflict with {inert(merging.branch)}", "heading")],
        [(f"{total - left} of {counted(total, 'path')} resolved, in {inert(workspace)}", TEXT)],
    ]
    for each in sorted(merging.paths, key=lambda path: not path.is_left):
        mark = ("markers left  ", "bad") if each.is_left else ("no markers    ", "good")
        found.append([mark, (inert(each.name), TEXT), (f"  {inert(each.kind)}", "dim")])
    if left:
        found.append([("edit them, or let an agent; r looks again", "dim")])
    elif merging.syncs:
        found.append([("`git commit` in the workspace ends the merge", "dim")])
    return found


def merge_ways(merging: Merging) -> list[tuple[str, str]]:
    """Return the keys that count while a conflict is shown: Continue only when nothing is left."""
    goes_on = [] if merging.left or merging.syncs else [("enter", "continue: apply it")]
    return [*goes_on, ("x", "give the merge up"), ("escape", "leave it")]
