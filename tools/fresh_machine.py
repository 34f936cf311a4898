"""Go from nothing but Python, pip and git to the first recorded step, and say how long it took.

    .venv/bin/python -m tools.fresh_machine                    this machine's python3 and git
    .venv/bin/python -m tools.fresh_machine --python PATH ...  other interpreters
    .venv/bin/python -m tools.fresh_machine --root DIRECTORY   a system of its own, by bubblewrap
    .venv/bin/python -m tools.fresh_machine --wheel FILE       this wheel, not one of the checkout

A person has a wheel and a repository, and types three commands. The home is new, the environment
is empty, and the search path has `python3` and `git`. A virtual environment stands for pipx, which
makes one. What Siding needs comes from the index of packages, over the network. A system of its own
is made by

    debootstrap --variant=minbase --include=python3-venv,git,ca-certificates trixie DIRECTORY

and is only read; there the person is user 1000. The exit status is 0 if each machine had its step
recorded within a minute.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parents[1]
MOST_S = 60.0
# Where packages come from on this machine; nothing else of its environment counts.
ROUTE = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CERT", "SSL_CERT_FILE", "https_proxy")
NAMES = Path("/etc/resolv.conf")
ADA = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
MADE = "import pathlib; pathlib.Path('new.txt').write_text('new')"


class Machine(NamedTuple):
    """What a person has: the words before a command, its environment, the home as we see it."""

    name: str
    before: tuple[str, ...]
    env: Mapping[str, str]
    home: Path


class Took(NamedTuple):
    """A command that was typed, and how long it took."""

    line: str
    seconds: float


def main(words: list[str]) -> int:
    """Try each machine that is asked for; return 0 if all have come to their step."""
    parser = argparse.ArgumentParser(prog="python -m tools.fresh_machine", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--python", type=Path, action="append", default=[])
    parser.add_argument("--root", type=Path, action="append", default=[])
    parser.add_argument("--wheel", type=Path)
    asked = parser.parse_args(words)
    default = [] if asked.root or asked.python else [Path(sys.base_prefix, "bin", "python3")]
    good = True
    with tempfile.TemporaryDirectory(prefix="siding-fresh-") as directory:
        scratch = Path(directory)
        wheel = asked.wheel or _built(scratch / "wheel")
        for number, python in enumerate([*asked.python, *default]):
            with _bare(scratch / f"bare-{number}", python) as machine:
                good &= _tried(machine, wheel)
        for number, root in enumerate(asked.root):
            with _system(scratch / f"system-{number}", root.resolve()) as machine:
                good &= _tried(machine, wheel)
    return 0 if good else 1


def _built(directory: Path) -> Path:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory)]
    subprocess.run(build, cwd=CHECKOUT, check=True, capture_output=True)
    (wheel,) = directory.glob("*.whl")
    return wheel


@contextmanager
def _bare(directory: Path, python: Path) -> Iterator[Machine]:
    """This machine, of which only two programs are found."""
    home, programs = directory / "home", directory / "bin"
    home.mkdir(parents=True)
    programs.mkdir()
    git = shutil.which("git")
    assert git, "there is no git on this machine"
    (programs / "git").symlink_to(git)
    (programs / "python3").symlink_to(python.absolute())
    env = {"HOME": str(home), "PATH": str(programs), **_route()}
    yield Machine(str(python), (), env, home)


@contextmanager
def _system(directory: Path, root: Path) -> Iterator[Machine]:
    """A system of its own, which is only read, with a home in our scratch and our network."""
    directory.mkdir()
    route = _route()
    ours = {str(NAMES), *(route[name] for name in ("PIP_CERT", "SSL_CERT_FILE") if name in route)}
    before = (
        *("bwrap", "--die-with-parent", "--unshare-user", "--unshare-pid", "--uid", "1000"),
        *("--gid", "1000", "--ro-bind", str(root), "/", "--proc", "/proc", "--dev", "/dev"),
        *("--tmpfs", "/tmp", "--tmpfs", "/home", "--bind", str(directory), "/home/ada"),
        *(word for path in sorted(ours) for word in ("--ro-bind", path, path)),
        *("--chdir", "/home/ada", "--"),
    )
    env = {"HOME": "/home/ada", "PATH": "/usr/bin:/bin", **route}
    yield Machine(str(root), before, env, directory)


def _route() -> dict[str, str]:
    return {name: os.environ[name] for name in ROUTE if name in os.environ}


def _tried(machine: Machine, wheel: Path) -> bool:
    """Have a person type the three commands there; print how long each took."""
    shutil.copy(wheel, machine.home)
    for words in (["init", "-q", "-b", "main", "repository"], _commit("A beginning")):
        _said(machine, "git", *words)
    took = _typed(
        machine,
        f"python3 -m venv siding && . siding/bin/activate && pip install -q {wheel.name}",
        "cd repository",
        f'siding run -- python3 -c "{MADE}"',
    )
    siding = "siding/bin/siding"
    programs = ("siding/bin/python", "git", siding)
    versions = [_said(machine, each, "--version").strip() for each in programs]
    (step,) = json.loads(_said(machine, siding, "-C", "repository", "log", "--json"))
    recorded = (step["status"], step["diff_stat"]["file_list"]) == ("completed", ["new.txt"])
    whole_s = sum(each.seconds for each in took)
    print(f"{machine.name}: {', '.join(versions)}")
    for each in took:
        print(f"  {each.seconds:6.1f} s  $ {each.line}")
    good = recorded and whole_s <= MOST_S
    verdict = "the step is recorded" if recorded else f"no step: {step}"
    print(f"  {whole_s:6.1f} s  {verdict}{'' if good else ' · FAILED'}", flush=True)
    return good


def _commit(message: str) -> list[str]:
    return ["-C", "repository", *ADA, "commit", "-q", "--allow-empty", "-m", message]


def _said(machine: Machine, *words: str) -> str:
    done = subprocess.run(
        [*machine.before, *words],
        cwd=machine.home,
        env=dict(machine.env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def _typed(machine: Machine, *lines: str) -> list[Took]:
    """Type lines into one shell, each when the one before has ended well."""
    script = "".join(f"{line}\necho ended $?\n" for line in lines)
    shell = subprocess.Popen(
        [*machine.before, "/bin/sh", "-c", script],
        cwd=machine.home,
        env=dict(machine.env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert shell.stdout is not None
    took = []
    with shell:
        for line in lines:
            began = time.monotonic()
            while not (said := shell.stdout.readline()).startswith("ended "):
                assert said, f"the shell ended in: {line}"
            took.append(Took(line, time.monotonic() - began))
            assert said == "ended 0\n", f"{said.strip()}: {line}"
    return took


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
