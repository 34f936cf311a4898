"""What the README's *Use* says works from top to bottom, as it is written."""

import re
import shlex
import subprocess
from pathlib import Path

from sandbox import Sandbox

README = Path(__file__).parents[2] / "README.md"
PROGRAMS = {  # they do what an agent or a server does: change a file, stay
    "claude": "date +%s%N >>parser.py",
    "codex": "echo fast >lexer.py",
    "npm": "exec sleep 300",
}


def use() -> list[str]:
    """Return the lines of the section, without what they say of themselves."""
    section = README.read_text("utf-8").partition("## Use\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", section, flags=re.DOTALL)
    lines = [re.sub(r"\s{2,}#.*", "", line) for block in blocks for line in block.splitlines()]
    assert lines[0] == "cd your-repository"
    assert len(lines) > 12
    return lines[1:]


def test_each_line_works_in_its_place(sandbox: Sandbox, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    siding = f'exec {shlex.join(sandbox.program)} "$@"'
    for name, does in {**PROGRAMS, "siding": siding}.items():
        (programs / name).write_text(f"#!/bin/sh\n{does}\n")
        (programs / name).chmod(0o755)
    env = {**sandbox.env, "PATH": f"{programs}:{sandbox.env['PATH']}"}
    said = {}
    for line in use():
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=sandbox.repo,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        said[line] = done.stdout + done.stderr
        assert done.returncode == 0, (line, said[line])
    assert "parser.py" in said["siding diff"]
    assert "main" in said["siding apply"]
    assert "claude: fix the parser" in said["siding switch parser"]
    assert "speed up the lexer" in said["siding"]
    (path,) = re.findall(r"(\S+)$", sandbox.siding("path", "parser").stdout.decode())
    # The second try began where the first one had: it did not go on from it.
    assert len((Path(path) / "parser.py").read_text().splitlines()) == 1
