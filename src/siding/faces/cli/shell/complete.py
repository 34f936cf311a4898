"""Print completions for the last word of a command line; shells call this."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable

from siding.faces.cli.globals import Context, add_globals
from siding.faces.cli.table import BELOW, GROUPS, VERBS, load
from siding.ground.errors import SidingError

TASK_OPTIONS = {"-t", "--task", "--blocked-by"}
STEP_OPTIONS = {"--step", "--from", "--to"}
TASK_ARGUMENT = {
    "cd",
    "path",
    "open",
    "switch",
    "task show",
    "task switch",
    "task update",
    "task close",
    "task reopen",
    "verify",
    "worktree add",
    "worktree status",
    "worktree keep",
    "worktree remove",
    "phase status",
    "phase show",
}
STEP_ARGUMENT = {"show"}
RUN_ARGUMENT = {"output", "stop", "attach", "send"}
OPEN_DECISION = {"decide answer", "decide cancel"}
ANY_DECISION = {"decide show", "decide result"}
POINTS = ("base", "last", "now")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("words", nargs="*")


def run(arguments: Namespace, context: Context) -> int:
    words = arguments.words or [""]
    try:
        candidates = list(_candidates(words, context))
    except (SidingError, OSError):
        return 0  # an error message would end up in the middle of the typed line
    for candidate in candidates:
        if candidate.startswith(words[-1]):
            print(candidate)
    return 0


def _of_below(words: list[str]) -> Iterable[str] | None:
    """Return what comes behind a verb with others below it; None if that is the verb's own."""
    below = BELOW.get(words[0], {})
    if below and len(words) == 2 and not words[1].startswith("-"):
        return list(below)
    if words[1] not in below:
        return None
    return _options(below[words[1]][0]) if words[-1].startswith("-") else []


def _candidates(words: list[str], context: Context) -> Iterable[str]:
    if len(words) == 1:
        return [*VERBS, *GROUPS, "--version", "--help"]
    group = GROUPS.get(words[0])
    if group is not None and len(words) == 2:
        return list(group[1])
    below = _of_below(words)
    if below is not None:
        return below
    verb = f"{words[0]} {words[1]}" if group is not None else words[0]
    found = group[1].get(words[1]) if group is not None else VERBS.get(words[0])
    if found is None or "--" in words[:-1]:
        return []
    last, before = words[-1], words[-2]
    if before in TASK_OPTIONS or (verb in TASK_ARGUMENT and not last.startswith("-")):
        return _tasks(context)
    if verb == "task start" and before == "--from":
        return [*_branches(context), *_tasks(context)]
    if before in STEP_OPTIONS or (verb in STEP_ARGUMENT and not last.startswith("-")):
        return [*_steps(context), *POINTS]
    if verb in RUN_ARGUMENT and not last.startswith("-"):
        return _runs(context, ended=verb == "stop")
    if verb in OPEN_DECISION | ANY_DECISION and not last.startswith("-"):
        return _decisions(context, closed=verb in ANY_DECISION)
    if last.startswith("-"):
        return _options(found[0])
    if verb in ("completion", "shell-init"):
        return ["bash", "zsh", "fish"]
    return []


def _options(place: str) -> list[str]:
    parser = ArgumentParser(add_help=True)
    add_globals(parser)
    load(place).add_arguments(parser)
    return sorted(name for name in parser._option_string_actions if name.startswith("--"))


def _tasks(context: Context) -> list[str]:
    from siding.feed.tasks import rows
    from siding.record.place.project import require_project

    found = rows(require_project(context.app), include_closed=False)
    return [word for row in found for word in (row.id, row.name) if " " not in word]


def _branches(context: Context) -> list[str]:
    from siding.record.place.project import require_project
    from siding.starting.readings import branches

    return branches(require_project(context.app))


def _decisions(context: Context, *, closed: bool) -> list[str]:
    from siding.asking.lookup import list_decisions
    from siding.record.place.project import require_project

    found, _ = list_decisions(require_project(context.app), closed=closed, limit=50)
    return [each.session_id for each in found]


def _runs(context: Context, *, ended: bool) -> list[str]:
    from siding.record.place.project import require_project
    from siding.running.named_run import runs_to_stop

    _task, live, left = runs_to_stop(require_project(context.app), None, (), every=True)
    found = [(run.id, run.name) for run in live]
    found += [(run.id, run.name) for run in left if ended]
    return [word for names in found for word in names if word and " " not in word]


def _steps(context: Context) -> list[str]:
    from siding.record.place.project import require_project
    from siding.record.recording.steps import log

    _task, steps = log(require_project(context.app), None, limit=50)
    return [step.id for step in steps]
