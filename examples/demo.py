"""The five-minute tour, by itself: a sample repository, an agent, and what Siding kept of it.

Run by ``python3 run.py demo``. Everything happens in a temporary directory that is named at the
end; nothing of yours is touched.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

# A stand-in for a coding agent: it edits, adds, deletes, commits and talks on both streams.
AGENT = """\
import pathlib, subprocess, sys
print("reading greeting.py ...")
path = pathlib.Path("greeting.py")
path.write_text(path.read_text().replace("helo", "hello"))
test = "from greeting import greet\\n\\n\\ndef test_greet():\\n"
test += "    assert greet('Ada') == 'hello Ada'\\n"
pathlib.Path("test_greeting.py").write_text(test)
pathlib.Path("notes.txt").unlink()
print("fixed a typo, wrote a test, removed notes.txt")
print("note: I did not run the test", file=sys.stderr)
"""

TRY_IT = "import greeting; print(greeting.greet('Ada'))"

FILES = {
    "greeting.py": 'def greet(name):\n    return f"helo {name}"\n',
    "notes.txt": "to be deleted\n",
    ".gitignore": "__pycache__/\n",
}


def main() -> int:
    """Play the tour; return 0 when every command did what it should."""
    directory = Path(tempfile.mkdtemp(prefix="siding-demo-"))
    repo = directory / "sample"
    repo.mkdir()
    for name, text in FILES.items():
        (repo / name).write_text(text, encoding="utf-8")
    agent = directory / "agent.py"
    agent.write_text(AGENT, encoding="utf-8")
    env = {
        **os.environ,
        "SIDING_HOME": str(directory / "home"),
        "GIT_AUTHOR_NAME": "Demo",
        "GIT_AUTHOR_EMAIL": "demo@localhost",
        "GIT_COMMITTER_NAME": "Demo",
        "GIT_COMMITTER_EMAIL": "demo@localhost",
    }
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "a greeting"]):
        subprocess.run(["git", *command], cwd=repo, env=env, check=True)
    python = sys.executable
    for title, arguments in (
        ("an agent works in a workspace of its own", ["run", "--", python, str(agent)]),
        ("another step: run the code", ["run", "--", python, "-c", TRY_IT]),
        ("what was done", ["log"]),
        ("what it changed", ["diff", "--stat"]),
        ("one step in full", ["show", "1"]),
        ("the record is whole", ["verify"]),
    ):
        if not _siding(title, arguments, repo, env):
            return 1
    untouched = subprocess.run(
        ["git", "status", "--short"], cwd=repo, env=env, capture_output=True, text=True, check=True
    )
    print(f"\n== your own checkout: {'untouched' if not untouched.stdout else untouched.stdout}")
    print(f"\nThe sample is in {repo}\nTry it yourself:  export SIDING_HOME={directory / 'home'}")
    print(f"                  cd {repo} && {Path(python).parent / 'siding'} status")
    return 0


def _siding(title: str, arguments: list[str], repo: Path, env: dict[str, str]) -> bool:
    shown = " ".join(arguments).replace(sys.executable, "python").replace(str(repo.parent), "..")
    print(f"\n== {title}\n$ siding {shown}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "siding", *arguments], cwd=repo, env=env, check=False
    )
    if done.returncode != 0:
        print(f"the demo failed: exit {done.returncode}", file=sys.stderr)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
