"""The page about conversations from Python does what it says, with a model that is a script."""

import json
import re
import subprocess
import sys
from pathlib import Path

from agents.editors.sdk import stop_all
from sandbox import Sandbox

PAGE = Path(__file__).parents[3] / "docs" / "python.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_READ = {"Read": {"file_path": "calc.py"}}
_EDIT = {"Edit": {"file_path": "calc.py", "old_string": "a - b", "new_string": "a + b"}}
_SCRIPT = {
    "answers": [
        {
            "match": "fix add",
            "steps": [{"tools": [_READ]}, {"tools": [_EDIT]}, {"text": "It adds now."}],
        },
        {"match": "wait for me", "steps": [{"tools": [{"Bash": {"command": "sleep 60"}}]}]},
        {"match": ".*", "text": "There are none."},
    ]
}


def test_the_page_does_what_it_says(sandbox: Sandbox) -> None:
    script = sandbox.directory / "script.json"
    script.write_text(json.dumps(_SCRIPT))
    home = Path(sandbox.env["SIDING_HOME"])
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(f"agent: {{model: 'scripted:{script}'}}\n")
    (sandbox.repo / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "calc")
    try:
        done = subprocess.run(
            [sys.executable, "-c", "".join(_BLOCK.findall(PAGE.read_text("utf-8")))],
            cwd=sandbox.repo,
            env=sandbox.env,
            capture_output=True,
            check=False,
            timeout=110,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == [
            "it asks: Edit calc.py",
            "done - It adds now.",
            "There are none.['no, this', 'and then the docs, in short']",
            "siding-agent 3",
            "began True",
            "calc c1",
        ]
        sandbox.siding("undo", "-t", "calc", "--wait")  # its agent is ending
    finally:
        stop_all(sandbox)
