"""The redirections and the assignments of a command."""

from collections.abc import Mapping

from siding.shellguard.budget import LONGEST_VALUE, Budget
from siding.shellguard.effects import Effects, secret_variable
from siding.shellguard.expansion import Expander
from siding.shellguard.fields import NOTHING, UNKNOWN, PrintedText
from siding.shellguard.paths import ENDLESS_DEVICES, HARMLESS_DEVICES, Zone
from siding.shellguard.state import ShellState
from siding.shellguard.tree import Redirect, Simple


def judge_redirects(
    effects: Effects, expander: Expander, redirects: tuple[Redirect, ...], stdin: PrintedText
) -> tuple[PrintedText, str]:
    """Judge redirections; return the new stdin, and the file stdout goes to.

    The file is "" when stdout is not redirected. `expander` has expanded nothing yet.
    """
    state = expander.state
    target = ""
    for redirect in redirects:
        effects.budget.spend(4, "judging its commands")
        if redirect.heredoc is not None:
            stdin = PrintedText(text=expander.single(redirect.heredoc.body))
            continue
        if redirect.operator == "<<<":
            stdin = PrintedText(text=expander.single(redirect.target) + "\n")
            continue
        path = expander.pattern(redirect.target)
        if redirect.operator in (">&", "<&") and (path.rstrip("-").isdigit() or path == "-"):
            continue
        if path.startswith(("/dev/tcp/", "/dev/udp/")):
            effects.found("send-data", path)
            stdin = PrintedText(remote=True)
            continue
        if redirect.operator != "<":
            effects.writes(path, state)
            if redirect.descriptor in ("", "1") and redirect.operator != "<>":
                target = path
        if redirect.operator in ("<", "<>"):
            effects.reads(path, state)
            fetched = effects.is_fetched(path, state)
            inside = effects.zone(path, state) is Zone.INSIDE
            stdin = PrintedText(
                remote=fetched,
                listed=inside and not fetched,
                endless=path in ENDLESS_DEVICES,
            )
    for name in sorted(expander.names):
        if secret_variable(name):
            effects.found("print-secret", f"${name}")
    return stdin, target


def output_after(
    effects: Effects, output: PrintedText, target: str, state: ShellState
) -> PrintedText:
    """Judge what goes into the file `target`; return what is left to print, as `output` if it is
    ""."""
    if not target:
        return output
    if output.endless and target != "/dev/null":
        effects.found("fill-disk", target)
    if output.remote:
        effects.takes(target, state)
    elif UNKNOWN not in target:
        effects.makes(target, output.text, state)
    if output.secret and target not in HARMLESS_DEVICES:
        effects.found("print-secret", target)
    return NOTHING


# -- Judge the assignments before a command --------------------------------------------------------


def assigned_by(command: Simple, expander: Expander) -> dict[str, str]:
    """Judge what the assignments of a command run; return the values by their names."""
    around, state = expander.around, expander.state
    assigned: dict[str, str] = {}
    for assignment in command.assignments:
        if assignment.subscript is not None:
            expander.subscript(assignment.subscript)
        if assignment.array is not None:
            elements = expander.elements(assignment.array)
            state.hold(assignment.name, elements, append=assignment.append)
            for element in elements if assignment.name in state.integers else ():
                around.evaluated(element, state)
            assigned[assignment.name] = UNKNOWN
            continue
        value = expander.single(assignment.value)
        if assignment.append:
            value = _appended(around.budget, state.variables.get(assignment.name, UNKNOWN), value)
        if assignment.subscript is not None or assignment.name in state.arrays:
            state.hold(assignment.name, [value], append=True)
        if assignment.name in state.integers:
            around.evaluated(value, state)
        assigned[assignment.name] = UNKNOWN if assignment.subscript is not None else value
    return assigned


def _appended(budget: Budget, value: str, more: str) -> str:
    if len(value) + len(more) > LONGEST_VALUE:
        return UNKNOWN
    budget.text(len(value) + len(more), "making a value")
    return value + more


def keep_assigned(assigned: Mapping[str, str], state: ShellState) -> None:
    """Enter what was assigned without a command: it lasts."""
    state.variables.update(assigned)
    if "IFS" in assigned:
        state.plain_splitting = False
