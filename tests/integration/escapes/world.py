"""What is outside a sandbox in these tests: victims to reach, and a run with the attacks inside."""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from sandbox import environment

from .table import FAMILIES

NOBODY = 65534
INSIDE = Path(__file__).with_name("inside")
VICTIM = Path(__file__).with_name("victim.py")
SOURCE = Path(__file__).parents[3] / "src"
ARGUMENT = "an-argument-of-a-process-outside"


def landlock_version() -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(444, None, 0, 1)))


def as_user(uid: int) -> list[str]:
    """Return what a command line begins with to run as this user."""
    if uid == os.geteuid():
        return []
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    if shutil.which("setpriv") is None:
        pytest.skip("there is no setpriv to become an ordinary user with")
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]


def python_of(prefix: list[str]) -> str:
    """Return a Python that this user may run: ours may lie in somebody's home."""
    for program in (sys.executable, "/usr/bin/python3"):
        with contextlib.suppress(OSError):
            # Through a shell: setpriv itself still has root's rights when it looks for a program.
            done = subprocess.run(
                [
                    *prefix,
                    "/bin/sh",
                    "-c",
                    'exec "$0" -c "$1"',
                    program,
                    "import siding.faces.cli.main, yaml",
                ],
                env={"PYTHONPATH": f"{SOURCE}:{sysconfig.get_path('purelib')}"},
                capture_output=True,
                check=False,
            )
            if done.returncode == 0:
                return program
    pytest.skip("this user has no Python that can run Siding")


class World:
    """A project of a user with something to lose, and servers and a process around it."""

    def __init__(self, root: Path, uid: int) -> None:
        self.root, self.uid = root, uid
        self.prefix = as_user(uid)
        self.env = environment(root) | {"PYTHONPATH": f"{SOURCE}:{sysconfig.get_path('purelib')}"}
        self.python = python_of(self.prefix)
        self.argv = [self.python, "-m", "siding"]
        self.home = root / "home"
        self.outside, self.repo = root / "outside", root / "repo"
        for directory in (self.outside, self.repo, self.home / ".ssh"):
            directory.mkdir(parents=True, exist_ok=True)
        (self.home / ".ssh" / "id").write_text("a key\n")
        (self.outside / "file").write_text("kept\n")
        self._own(root)
        for line in (["init", "-q", "-b", "main"], ["commit", "-q", "--allow-empty", "-m", "one"]):
            self.command(["git", *line])
        (self.repo / "secret.txt").write_text("untracked\n")
        self._own(self.repo)
        self.siding("-q", "task", "start", "neighbour")
        self.neighbour = self._workspace("neighbour")
        (self.neighbour / "secret").write_text("another task's\n")
        self._own(self.neighbour / "secret")
        self.siding("-q", "checkpoint", "-t", "neighbour")
        self.siding("-q", "task", "start", "attacked")
        self.attacked_at = self._workspace("attacked")
        self.siding("-q", "run", "-t", "attacked", "--", "true")

    def _own(self, directory: Path) -> None:
        if self.uid != os.geteuid():
            for path in (directory, *directory.rglob("*")):
                os.lchown(path, self.uid, self.uid)

    def command(
        self, argv: list[str], *, env: dict[str, str] | None = None, fds: tuple[int, ...] = ()
    ) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [*self.prefix, *argv],
            cwd=self.repo,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=110,
            pass_fds=fds,
        )

    def siding(self, *arguments: str, **more: Any) -> "subprocess.CompletedProcess[bytes]":
        return self.command([*self.argv, *arguments], **more)

    @contextlib.contextmanager
    def victim(self) -> Iterator[tuple["subprocess.Popen[bytes]", dict[str, Any]]]:
        """A process outside, with what it shares; what it has is as before when it ends."""
        process = subprocess.Popen(
            [*self.prefix, self.python, str(VICTIM), str(self.home / ".ssh"), ARGUMENT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self.env | {"OUTER_SECRET": "1"},
            start_new_session=True,
        )
        try:
            assert process.stdout is not None
            yield process, json.loads(process.stdout.readline())
            said, _nothing = process.communicate(b"end\n", timeout=60)
            assert said == b"all is as it was\n", (process.returncode, said)
        finally:
            process.kill()
            process.wait()

    def attacked(
        self, *flags: str, env: dict[str, str] | None = None, left_out: Collection[str] = ()
    ) -> dict[str, str]:
        """Run every attempt but those left out in a sandbox with these flags; return what came of
        each."""
        if left_out:
            names = (each.name for rows in FAMILIES.values() for each in rows)
            flags += ("-e", "ONLY=" + ",".join(each for each in names if each not in left_out))
        before = self._state()
        told = self._attack(tuple(FAMILIES), *flags, env=env)
        after = self._state()
        changed = {name for name in before | after if before.get(name) != after.get(name)}
        assert not changed, changed
        for argv in ([*self.argv, "verify"], ["git", "fsck", "--strict"]):
            done = self.command(argv)
            assert done.returncode == 0, (done.stdout, done.stderr)
        return told

    def attacked_in_the_open(self, harmless: Sequence[str]) -> dict[str, str]:
        """Run those attempts without a sandbox that do no harm beyond this world."""
        # A sandboxed run has left links that lead outside: those are held until they were seen.
        self.siding("-q", "trust", "-t", "attacked")
        told = self._attack(tuple(FAMILIES), "--no-sandbox", "-e", "ONLY=" + ",".join(harmless))
        for name in ("by_name", "by_link", "by_dots"):
            (self.outside / name).unlink()
        return told

    def left_by(self, *flags: str, env: dict[str, str] | None = None) -> set[str]:
        """Return which processes go on after a run that leaves some, and end them."""
        self._attack(("leftovers",), *flags, env=env)
        going = {}
        for pid in filter(str.isdecimal, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                line = Path(f"/proc/{pid}/cmdline").read_bytes()
                marker = self._marker.encode()
                if marker in line:
                    going[int(pid)] = line.partition(marker)[2].rstrip(b"\0").decode()
        self.listed = self.siding("runs", "--format", "json").stdout.decode()
        for left in going:
            with contextlib.suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)
        return set(going.values())

    def _state(self) -> dict[str, object]:
        """Return all that must stay as it is."""
        git, state = self.repo / ".git", self.root / "siding"
        kept = [self.outside, git, self.home, self.neighbour, self.project / "snapshots.git/config"]
        kept += [state / "config.yaml", state / "guard.json"]
        kept += [self.project / name for name in ("trust.json", "config.yaml", "policy.yaml")]
        kept += [each for each in self.project.glob("tasks/*") if each != self._task("attacked")]
        found = {str(path): _seen(path) for top in kept for path in (top, *top.rglob("*"))}
        others = (
            *self.project.parent.iterdir(),
            *self.neighbour.parent.iterdir(),
            *SOURCE.iterdir(),
        )
        return found | {str(path): True for path in others}

    def _task(self, name: str) -> Path:
        for path in self.project.glob("tasks/*/task.json"):
            if json.loads(path.read_bytes())["name"] == name:
                return path.parent
        raise LookupError(name)

    def _workspace(self, name: str) -> Path:
        shown = self.siding("task", "show", name, "--format", "json")
        return Path(json.loads(shown.stdout)["workspace"]["path"])

    @property
    def project(self) -> Path:
        (found,) = (self.root / "siding" / "projects").iterdir()
        return found

    def _attack(
        self, families: Sequence[str], *flags: str, env: dict[str, str] | None = None
    ) -> dict[str, str]:
        with (
            self.victim() as (victim, shared),
            servers(self.root, self.outside, self.home) as reachable,
        ):
            self._marker = f"left-{os.urandom(4).hex()}-"
            told = {
                **reachable,
                **shared,
                "outside": str(self.outside),
                "home": str(self.home),
                "state": str(self.root / "siding"),
                "project": str(self.project),
                "tasks": [path.name for path in self.project.glob("tasks/*")],
                "anchors": [
                    str(path.relative_to(self.project))
                    for path in self.project.rglob("ledger-head*")
                ],
                "neighbour": str(self.neighbour),
                "program": str(SOURCE / "siding"),
                "checkout": str(self.repo),
                "git": str(self.repo / ".git"),
                "argument": ARGUMENT,
                "left": self._marker,
                "pid": victim.pid,
                "parent": os.getpid(),
                "root": self.uid == 0,
                "keyctl": {"aarch64": 219}.get(os.uname().machine, 250),
            }
            _clear(self.attacked_at)
            shutil.copytree(INSIDE, self.attacked_at / INSIDE.name)
            self._own(self.attacked_at / INSIDE.name)
            reading, writing = os.pipe()
            try:
                done = self.siding(
                    "-q",
                    "run",
                    "-t",
                    "attacked",
                    *flags,
                    *("-e", f"VICTIM={json.dumps(told)}"),
                    *("-e", f"FAMILIES={','.join(families)}"),
                    *("-e", f"SSH_AUTH_SOCK={told['hidden_socket']}"),
                    "--",
                    self.python,
                    INSIDE.name,
                    env=env,
                    fds=(writing,),
                )
            finally:
                os.close(reading)
                os.close(writing)
            assert done.returncode == 0, (done.stdout, done.stderr)
            assert victim.poll() is None, "the process outside was ended"
        for path in self.attacked_at.rglob("*"):
            assert not _has_capabilities(path), path
        result: dict[str, str] = json.loads(done.stdout)
        return result

    def last_step(self) -> dict[str, Any]:
        ledger = self._task("attacked") / "ledger.jsonl"
        found: dict[str, Any] = json.loads(ledger.read_text().splitlines()[-1])
        return found


@contextlib.contextmanager
def servers(root: Path, outside: Path, home: Path) -> Iterator[dict[str, Any]]:
    """Servers of this machine that a run with no network must not reach."""
    abstract = f"siding-test-{os.getpid()}"
    hidden = Path(tempfile.mkdtemp(prefix="siding-sock-", dir="/tmp")) / "s"
    hidden.parent.chmod(0o755)
    named, datagrams, at_home = outside / "named.sock", outside / "dgram", home / ".docker.sock"
    listening = []
    for place in ("\0" + abstract, str(named), str(hidden), str(at_home)):
        server = socket.socket(socket.AF_UNIX)
        server.bind(place)
        server.listen(50)
        listening.append(server)
    listening.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    listening[-1].bind(str(datagrams))
    by_name = (named, hidden, at_home, datagrams)
    for path in by_name:
        path.chmod(0o777)
    tcp6 = _newer_server()
    tcp = socket.create_server(("127.0.0.1", 0), backlog=50)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    threading.Thread(target=_echo, args=(udp,), daemon=True).start()
    try:
        yield {
            "abstract": abstract,
            "socket": str(named),
            "hidden_socket": str(hidden),
            "datagrams": str(datagrams),
            "tcp6": tcp6.getsockname()[1],
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
        }
    finally:
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stop:
            stop.sendto(b"end", udp.getsockname())
        for each in (*listening, tcp, tcp6):
            each.close()
        for path in by_name:
            path.unlink(missing_ok=True)
        hidden.parent.rmdir()
    assert root.exists()


def _newer_server() -> socket.socket:
    """Return a server at ::1, or at 127.0.0.1 where there is no IPv6."""
    try:
        return socket.create_server(("::1", 0), family=socket.AF_INET6, backlog=50)
    except OSError:
        return socket.create_server(("127.0.0.1", 0), backlog=50)


def _clear(workspace: Path) -> None:
    """Remove what earlier attempts have left."""
    for path in workspace.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != ".git":
            path.unlink()


def _seen(path: Path) -> object:
    """Return what a path holds, with its permissions; None if nothing is there."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(found.st_mode):
        return os.readlink(path)
    content = path.read_bytes() if stat.S_ISREG(found.st_mode) else b""
    return (found.st_mode, found.st_uid, content)


def _has_capabilities(path: Path) -> bool:
    """Return whether an executable has capabilities that count here, outside."""
    try:
        value = os.getxattr(path, "security.capability", follow_symlinks=False)
    except OSError:
        return False
    return len(value) < 24 or value[20:24] == bytes(4)  # of no namespace, or of that of root


def _echo(udp: socket.socket) -> None:
    with udp:
        while True:
            data, sender = udp.recvfrom(10)
            if data == b"end":
                return
            udp.sendto(data, sender)


def without_bwrap(root: Path, path: str = "") -> dict[str, str]:
    """Return a search path on which everything is but bwrap: of `path`, else of this process."""
    farm = root / "farm"
    farm.mkdir(exist_ok=True)
    farm.chmod(0o755)
    for directory in reversed((path or os.environ.get("PATH", os.defpath)).split(":")):
        with contextlib.suppress(OSError):
            for name in os.listdir(directory):
                if name != "bwrap":
                    link = farm / name
                    link.unlink(missing_ok=True)
                    link.symlink_to(os.path.join(directory, name))
    return {"PATH": str(farm)}
