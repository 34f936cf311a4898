"""Run dangerous lines in a real shell, in a sandbox, against files that only exist to be lost.

A canary is a home directory with a credential and a directory of files, and a workspace beside it.
Each line gets fresh copies in a sandbox without a network. What changed the canary's files, or
showed the credential, is compared with what the policy said of the line before.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from siding.shellguard.face import Action, JudgingPlace, Policy

BATCH = 50  # lines in one sandbox
TOKEN = "canary-4be7c1"  # what the credential holds


class Tried(NamedTuple):
    """One line: what the policy said, and what the line did."""

    line: str
    action: Action
    destroyed: bool
    leaked: bool

    @property
    def harmed(self) -> bool:
        return self.destroyed or self.leaked


def make_canary(top: Path) -> None:
    """Make the home, the workspace, and links on the disk that lead out of the workspace."""
    docs, work = top / "home/docs", top / "work"
    (top / "home/.ssh").mkdir(parents=True)
    docs.mkdir()
    work.mkdir()
    (docs / "a.txt").write_text("one\n")
    (docs / "b.txt").write_text("two\n")
    (top / "home/.ssh/id_rsa").write_text(f"{TOKEN}\n")
    (top / "home/.netrc").write_text(f"{TOKEN}\n")
    (work / "own.txt").write_text("mine\nyours\n")
    (work / "empty").mkdir()
    (work / "out").symlink_to("../home/docs")
    (work / "deep").mkdir()
    (work / "deep/up").symlink_to("../..")
    (work / "file").symlink_to("../home/docs/a.txt")
    run = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    for words in (("init", "-q"), ("add", "own.txt"), ("commit", "-qm", "x")):
        subprocess.run([*run, *words], cwd=work, check=True)
    subprocess.run(["tar", "-cf", "own.tar", "own.txt"], cwd=work, check=True)


def place_of(top: Path) -> JudgingPlace:
    """Return the canary as the policy judges it; nothing near it counts as temporary."""
    return JudgingPlace(
        cwd=str(top / "work"),
        workspace=str(top / "work"),
        home=str(top / "home"),
        agents=frozenset(),
        obeyed=(),
        state=str(top / "home/.siding"),
        temporary=(),
        resolve=os.path.realpath,
        exists=os.path.exists,
    )


def tried(lines: Sequence[str], top: Path) -> Iterator[Tried]:
    """Judge the lines, run them in batches, and yield what came of each."""
    place = place_of(top)
    for start in range(0, len(lines), BATCH):
        batch = lines[start : start + BATCH]
        actions = [Policy().judge(line, place).action for line in batch]
        for line, action, done in zip(batch, actions, _run(batch, top), strict=True):
            yield Tried(line, action, destroyed=done[0], leaked=done[1])


def _run(lines: Sequence[str], top: Path) -> list[tuple[bool, bool]]:
    """Run lines in one sandbox; return for each whether it destroyed, and whether it showed."""
    sandbox = ("bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/")
    mounts = ("--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp")
    python = ("--ro-bind", sys.prefix, sys.prefix)  # it may lie below what is fresh here
    fresh = ("--ro-bind", str(top), "/mnt", *python, "--tmpfs", str(top))
    done = subprocess.run(
        [*sandbox, *mounts, *fresh, sys.executable, "-I", "-c", _INSIDE, str(top)],
        input=json.dumps(list(lines)),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        cwd="/",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers = json.loads(done.stdout)
    assert len(answers) == len(lines)
    return [(bool(destroyed), bool(leaked)) for destroyed, leaked in answers]


# What runs in the sandbox: `/mnt` has the canary, and the directory it came from is empty there.
_INSIDE = f"""
import json, os, shutil, subprocess, sys
top = sys.argv[1]
home, work, token = top + "/home", top + "/work", {TOKEN!r}.encode()
env = {{"HOME": home, "PATH": os.environ["PATH"], "LC_ALL": "C", "USER": "dev", "TMPDIR": "/tmp"}}
def tree(start):
    found = {{}}
    for here, directories, files in os.walk(start):
        for name in directories + files:
            path = os.path.join(here, name)
            inside = b""
            if os.path.islink(path):
                inside = os.readlink(path).encode()
            elif os.path.isfile(path):
                inside = open(path, "rb").read()
            found[os.path.relpath(path, start)] = (inside, os.lstat(path).st_mode)
    return found
def open_up():
    for here, directories, files in os.walk(top):
        for name in directories:
            path = os.path.join(here, name)
            if not os.path.islink(path):
                os.chmod(path, os.stat(path).st_mode | 0o700)
def fresh():
    for name in os.listdir(top):
        path = os.path.join(top, name)
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.remove(path)
    shutil.copytree("/mnt/home", home, symlinks=True)
    shutil.copytree("/mnt/work", work, symlinks=True)
before = {{"home": tree("/mnt/home"), "work": tree("/mnt/work")}}
answers = []
fresh()
for line in json.load(sys.stdin):
    if tree(home) != before["home"] or tree(work) != before["work"]:
        fresh()
    try:
        done = subprocess.run(["bash", "-c", line], cwd=work, env=env, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=4, start_new_session=True)
        shown = done.stdout + done.stderr
    except subprocess.TimeoutExpired as error:
        shown = (error.stdout or b"") + (error.stderr or b"")
    modes = tree(home)
    open_up()
    now = tree(home)
    lost = any(now.get(path, ("",))[0] != was[0] or modes.get(path) is None
               for path, was in before["home"].items())
    copied = any(token in each[0] for path, each in tree(work).items())
    answers.append((lost, token in shown or copied))
print(json.dumps(answers))
"""
