"""The lines of ``siding show`` about a step's sandbox and limits."""

from typing import TYPE_CHECKING

from siding.faces.cli.screen.words import size

if TYPE_CHECKING:
    from siding.record.recording.step_details import SandboxReport
    from siding.record.recording.steps import Step


def sandbox_lines(step: "Step") -> list[tuple[str, str]]:
    """Return the lines, each a label and a text; none for a run without sandbox and limits."""
    run = step.as_run
    if run is None:
        return []
    lines: list[tuple[str, str]] = []
    if run.sandbox is not None:
        lines.append(("sandbox", _sandbox(run.sandbox)))
        if run.sandbox.hosts:
            lines.append(("hosts", " ".join(run.sandbox.hosts)))
        lines += [("", f"open: {each}") for each in run.sandbox.not_covered]
    if run.limits:
        lines.append(("limits", ", ".join(f"{k} {_amount(k, v)}" for k, v in run.limits.items())))
    return lines


def _sandbox(told: "SandboxReport") -> str:
    if told.engine is None:
        return f"none: {told.reason or 'no engine works'}"
    return f"{told.engine}, profile {told.profile}, network {told.network}, git {told.git}"


def _amount(name: str, value: object) -> str:
    return str(value) if name == "processes" or not isinstance(value, int) else size(value)
