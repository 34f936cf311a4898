"""An act whose module is missing is missed by nobody but whoever asks for it.

Each test takes the module of one act out of the program, and does all the others.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import Sandbox

WITHOUT = (
    "import sys; sys.modules[sys.argv.pop(1)] = None; "
    "from siding.faces.cli.main import main; sys.exit(main())"
)
# Of each act: its module, and a command line that does it. In an order in which all can be done.
ACTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "run": ("siding.running.act", ("run", "--", "sh", "-c", "echo run > run")),
    "checkpoint": ("siding.running.checkpoint", ("checkpoint", "-m", "so far")),
    "phase move": ("siding.phases.move_act", ("phase", "start", "flow-design", "begin")),
    "rollback": ("siding.record.restoring.rollback", ("rollback", "--base")),
    "undo": ("siding.undo.undo", ("undo",)),
    "apply": ("siding.applying.apply", ("apply", "--no-close")),
    "undo of an apply": ("siding.applying.reversal", ("undo",)),
}
# What an act needs of another one that is not there.
NEEDS = {"undo": {"rollback"}, "undo of an apply": {"apply", "undo"}, "apply": set()}


@pytest.mark.parametrize("missing", ACTS)
def test_the_others_do_not_need_it(sandbox: Sandbox, missing: str) -> None:
    sandbox.siding("task", "start", "work")
    module = ACTS[missing][0]
    for act, (_module, words) in ACTS.items():
        if missing in NEEDS.get(act, ()):
            continue
        (sandbox.workspace() / f"by hand {act}").write_text(f"{act}\n")
        if act in ("undo", "undo of an apply"):
            (sandbox.workspace() / f"by hand {act}").unlink()
        done = _siding(sandbox, module, *words)
        if act == missing:
            assert done.returncode == 70, done
            assert module in done.stderr, done
        else:
            assert done.returncode == 0, (act, done)


def _siding(sandbox: Sandbox, module: str, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, module, *words],
        cwd=Path(sandbox.repo),
        env=sandbox.env,
        capture_output=True,
        text=True,
        check=False,
    )
