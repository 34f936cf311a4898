"""What is said of an agent that fails: its settings are hidden, or it does not know our options."""

from pathlib import Path

from bwrap import needs_bwrap
from sandbox import Sandbox

_REFUSES = """#!/bin/sh
case "$*" in *--settings*) echo "error: unknown option '--settings'" >&2; exit 1;; esac
exit 3
"""


def installed(task: Sandbox, name: str, script: str) -> None:
    """Put a program first on the search path, where a sandbox shows it."""
    programs = Path(task.env["HOME"]) / ".local/bin"
    programs.mkdir(parents=True, exist_ok=True)
    (programs / name).write_text(script)
    (programs / name).chmod(0o755)
    task.env["PATH"] = f"{programs}:{task.env['PATH']}"


@needs_bwrap
def test_the_settings_that_a_sandbox_hides_are_named(sandbox: Sandbox) -> None:
    home = Path(sandbox.env["HOME"])
    (home / ".factory").mkdir(parents=True, exist_ok=True)
    (home / ".factory" / "auth.json").write_text("{}")
    installed(sandbox, "droid", "#!/bin/sh\ncat ~/.factory/auth.json\n")
    hint = b"droid keeps its settings in ~/.factory, which the sandbox hides; --read ~/.factory"
    done = sandbox.siding("run", "--sandbox", "--", "droid", "exec", "hi", status=1)
    assert hint in done.stderr
    shown = ("--sandbox", "--read", f"{home}/.factory")
    done = sandbox.siding("run", *shown, "--", "droid", "exec", "hi")
    assert b"which the sandbox hides" not in done.stderr
    # Of one that fails although it sees them, of one that has none, and without a sandbox: nothing.
    installed(sandbox, "droid", "#!/bin/sh\nexit 1\n")
    for words in (shown, ("--no-sandbox",)):
        done = sandbox.siding("run", *words, "--", "droid", "exec", "hi", status=1)
        assert b"which the sandbox hides" not in done.stderr
    (home / ".factory").rename(home / "elsewhere")
    done = sandbox.siding("run", "--sandbox", "--", "droid", "exec", "hi", status=1)
    assert b"which the sandbox hides" not in done.stderr


def test_an_agent_that_does_not_know_our_options_can_be_started_without(sandbox: Sandbox) -> None:
    installed(sandbox, "claude", _REFUSES)
    done = sandbox.siding("run", "--", "claude", "-p", "hi", status=1)
    assert b"unknown option" in done.stderr
    assert b"siding run --no-reports -- claude" in done.stderr
    done = sandbox.siding("run", "--no-reports", "--", "claude", "-p", "hi", status=3)
    assert b"--no-reports" not in done.stderr
