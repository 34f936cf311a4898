"""What a command loads and calls, counted in a real process: here the command is a small one."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tools.house import loaded

MAIN = """
import os
import re
from siding import used, unused

INSIDE = re.compile("a+b")

class Row:
    def method(self):
        return [each for each in (lambda: (1, 2))()]
    def other(self):
        def inner(): pass

def main(words):
    import colorsys, threading
    Row().method()
    re.compile("c+d")
    used.step_from("line"), used.step_from("line")
    thread = threading.Thread(target=used.in_thread)
    thread.start(); thread.join()
    os.fsync(os.open(words[0], os.O_RDONLY))
    for program in ("git", "/bin/true"):
        argv = ["sh", "-c", 'true "$@"', "sh", program]
        os.waitpid(os.posix_spawn("/bin/sh", argv, {}), 0)
    child = os.fork()
    if child == 0:
        os.fsync(os.open(words[0], os.O_RDONLY))
        os._exit(0)
    os.waitpid(child, 0)
    if words[1:]:
        os._exit(3)
    return 3
"""


@pytest.mark.parametrize("ways", [[], ["at once"]], ids=["it returns", "os._exit"])
def test_what_is_loaded_called_started_and_flushed(tmp_path: Path, ways: list[str]) -> None:
    files = {
        "__init__.py": "",
        "cli/__init__.py": "",
        "__main__.py": "import sys\nfrom siding.cli.main import main\nsys.exit(main(sys.argv[1:]))",
        "cli/main.py": MAIN,
        "used.py": "def step_from(line): pass\ndef in_thread(): pass\ndef never(): pass\n",
        "unused.py": "import re\nP = [re.compile(t) for t in 'xy']\ndef never(): pass\n",
    }
    for name, text in files.items():
        path = tmp_path / "siding" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    result = tmp_path / "result"
    child = Path(loaded.__file__).with_name("child.py")
    argv = [sys.executable, str(child), str(result), str(tmp_path), "step_from"]
    done = subprocess.run([*argv, str(tmp_path), *ways], check=False, timeout=30)
    assert done.returncode == 3
    found = ast.literal_eval(result.read_text("utf-8"))
    comprehensions = sys.version_info < (3, 12)  # since then they are no functions
    assert found.pop("modules") == {
        "siding": (0, 0),
        "siding.cli": (0, 0),
        # main, method, its lambda; not other and inner
        "siding.cli.main": (5 + comprehensions, 3 + comprehensions),
        "siding.used": (3, 2),
        "siding.unused": (1 + comprehensions, comprehensions),
    }
    assert found.pop("others") >= 3  # re, colorsys, threading
    assert found == {"patterns": {"siding.cli.main": 1, "siding.unused": 2}, "parsed": 2}
    noted = Path(f"{result}.events").read_text("utf-8").split()
    assert sorted(noted) == ["fsync", "fsync", "git", "other"]
