"""What a command of the status line reads on its standard input: one line of JSON. Pure.

The fields have the names and meanings that scripts for the status lines of coding agents know. What
is not known has the value that such scripts can take: 0 for a sum, null where null is allowed, or
the field is not there. `siding` has what there is beside.
"""

import json
from collections.abc import Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple

USUAL_WINDOW = 200_000  # tokens; said where the agent says nothing. Percentages are null then.
LARGE = 200_000  # tokens, from which `exceeds_200k_tokens` is true


class TokenUse(NamedTuple):
    """The tokens of the newest request."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    @property
    def sent(self) -> int:
        """How many of them were sent to the model."""
        return self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens


class Worktree(NamedTuple):
    """The workspace of a task."""

    name: str
    path: str
    branch: str = ""
    original_cwd: str = ""
    original_branch: str = ""


class Facts(NamedTuple):
    """What is known at the place that is shown. "" and 0 are not known, or none."""

    session_id: str = ""
    session_name: str = ""
    transcript_path: str = ""
    cwd: str = ""
    project_dir: str = ""
    version: str = ""
    model: str = ""
    mode: str = ""
    effort: str = ""
    agent: str = ""
    dollars: float = 0.0
    began_s: float | None = None  # when the conversation began, in seconds since 1970
    lines_added: int = 0
    lines_removed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    window: int = 0
    use: TokenUse | None = None
    worktree: Worktree | None = None
    siding: Mapping[str, Any] = {}


class Percentages(NamedTuple):
    """How much of the window is used, and left: 0 to 100; None if nothing is known."""

    used: int | None = None
    remaining: int | None = None


def percentages(use: TokenUse | None, window: int) -> Percentages:
    """Return how full a window of so many tokens is."""
    if use is None or not use.sent or window <= 0:
        return Percentages()
    used = max(0, min(100, _rounded(100 * use.sent / window)))
    return Percentages(used, 100 - used)


def hit_rate(use: TokenUse) -> int | None:
    """Return how many percent of what was sent came from the cache; None if nothing was sent."""
    return _rounded(100 * use.cache_read_input_tokens / use.sent) if use.sent else None


def _rounded(number: float) -> int:
    """Round as scripts in JavaScript do: a half goes up."""
    return int(number + 0.5)


def document(facts: Facts, now_s: float) -> dict[str, Any]:
    """Return what the command reads. `now_s`: seconds since 1970."""
    since_s = now_s - facts.began_s if facts.began_s is not None else 0.0
    percent = percentages(facts.use, facts.window)
    found: dict[str, Any] = {
        "hook_event_name": "Status",
        "session_id": facts.session_id,
        "transcript_path": facts.transcript_path,
        "cwd": facts.cwd,
        "model": {"id": facts.model, "display_name": facts.model},
        "workspace": {
            "current_dir": facts.cwd,
            "project_dir": facts.project_dir,
            "added_dirs": [],
        },
        "version": facts.version,
        "output_style": {"name": "default"},
        "cost": {
            "total_cost_usd": facts.dollars,
            "total_duration_ms": max(0, round(since_s * 1000)),
            "total_api_duration_ms": 0,
            "total_lines_added": facts.lines_added,
            "total_lines_removed": facts.lines_removed,
        },
        "context_window": {
            "total_input_tokens": facts.input_tokens,
            "total_output_tokens": facts.output_tokens,
            "context_window_size": facts.window or USUAL_WINDOW,
            "current_usage": None if facts.use is None else facts.use._asdict(),
            "used_percentage": percent.used,
            "remaining_percentage": percent.remaining,
        },
        "exceeds_200k_tokens": facts.use is not None and facts.use.sent > LARGE,
    }
    return {**found, **_optional(facts)}


def _optional(facts: Facts) -> dict[str, Any]:
    """Return the fields that are only there when something is known."""
    found: dict[str, Any] = {}
    if facts.session_name:
        found["session_name"] = facts.session_name
    if facts.effort:
        found["effort"] = {"level": facts.effort}
    if facts.agent:
        found["agent"] = {"name": facts.agent}
    tree = facts.worktree
    if tree is not None:
        said = {name: value for name, value in tree._asdict().items() if value}
        found["worktree"] = {"name": tree.name, "path": tree.path, **said}
    if facts.siding:
        found["siding"] = dict(facts.siding)
    return found


def line_of(facts: Facts, now_s: float) -> bytes:
    """Return the document as a command reads it: one line."""
    return (
        json.dumps(document(facts, now_s), ensure_ascii=False).encode("utf-8", "surrogatepass")
        + b"\n"
    )
