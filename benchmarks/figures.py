"""The figures there are, in the order of the table. A new one is one line here."""

from importlib import import_module

from benchmarks.bench import Figure

FIGURES: dict[str, str] = {
    "F1": "benchmarks.start",
    "F2": "benchmarks.reading",
    "F3": "benchmarks.running",
    "F4": "benchmarks.edits",
    "F5": "benchmarks.workspaces",
    "F6": "benchmarks.output",
    "F7": "benchmarks.ledger",
    "F8": "benchmarks.sessions",
    "F9": "benchmarks.workflows",
    "F11": "benchmarks.dashboard",
    "F12": "benchmarks.recording",
    "F13": "benchmarks.forks",
    "hooks": "benchmarks.hooks",
    "agents": "benchmarks.agents",
    "F15": "benchmarks.idle_runs",
    "F16": "benchmarks.terminal",
    "F17": "benchmarks.own_agent",
    "redaction": "benchmarks.redaction",
    "masked": "benchmarks.masked_runs",
    "apply": "benchmarks.apply",
    "rollback": "benchmarks.rollback",
    "sandbox": "benchmarks.sandbox",
    "verdicts": "benchmarks.verdicts",
    "judging": "benchmarks.judging",
    "viewers": "benchmarks.viewers",
    "fold": "benchmarks.fold",
    "feed": "benchmarks.feed",
    "screen": "benchmarks.screen",
    "opening": "benchmarks.opening",
    "replay": "benchmarks.replay",
    "wire": "benchmarks.wire",
    "widgets": "benchmarks.widgets",
    "talk": "benchmarks.talk",
    "chats": "benchmarks.chats",
}


def figure(name: str) -> Figure:
    """Return a figure by its name, such as F1."""
    found = import_module(FIGURES[name]).FIGURE
    assert isinstance(found, Figure)
    return found
