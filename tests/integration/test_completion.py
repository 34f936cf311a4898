"""What the shells complete, each in a terminal: tasks by name, arguments, and files only there."""

import shutil
from pathlib import Path

import pytest

from sandbox import Sandbox
from terminal import Terminal

SHELLS = {
    "bash": (["bash", "--norc", "-i"], 'eval "$(siding completion bash)"; PS1="@ "\r'),
    "zsh": (
        ["zsh", "-f", "-i"],
        'autoload -Uz compinit; compinit -u -D; eval "$(siding completion zsh)"; PS1="@ "\r',
    ),
    "fish": (
        ["fish", "--no-config", "-i"],
        "siding completion fish | source; function fish_prompt; printf '@ '; end\r",
    ),
}


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, sandbox: Sandbox, tmp_path: Path) -> Terminal:
    """A shell in which `siding` completes, in a repository with one task."""
    argv, begin = SHELLS[request.param]
    if shutil.which(argv[0]) is None:
        pytest.skip(f"{argv[0]} is not installed")
    sandbox.siding("task", "start", "Fix the Parser")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "siding").write_text(f'#!/bin/sh\nexec {" ".join(sandbox.program)} "$@"\n')
    (programs / "siding").chmod(0o755)
    path = f"{programs}:{sandbox.env['PATH']}"
    found = Terminal(argv, cwd=sandbox.repo, env={**sandbox.env, "PATH": path, "TERM": "xterm"})
    found.type(begin.encode())
    found.wait_for(b"@ ", seconds=60)
    found.until_quiet()
    return found


def test_the_shell_completes(shell: Terminal) -> None:
    for typed, shown in (
        (b"siding log -t F\t", b"ix\\ the\\ Parser"),
        (b"siding apply --mode sq\t", b"uash"),
        (b"siding workflow run fi\t", b"x-until-green"),
    ):
        shell.seen = b""
        shell.type(typed)
        shell.wait_for(shown, seconds=60)
        shell.type(b"\x15")  # Ctrl-U takes the line away
    shell.type(b"exit\r")
    shell.finish(seconds=60)
