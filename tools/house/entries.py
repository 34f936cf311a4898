"""Where the measurements begin: modules and commands by name. Whoever moves one changes it here."""

from collections.abc import Mapping

# what is done -> the modules that do it, below the package; the front end is left out
ACTS: Mapping[str, tuple[str, ...]] = {
    "run": ("running.run",),
    "undo + apply + rollback": ("undo.undo", "applying.apply", "record.restoring.rollback"),
}

AGENTS = (
    *("claude", "codex", "gemini", "opencode", "aider"),
    *("qwen", "crush", "goose", "copilot"),
)

# The folders whose lines are counted together, once they are there.
RECORDER = ("record", "ground")

# The function that makes a step of a line of a ledger, by its qualified name.
PARSES_LINE = "step_from"
