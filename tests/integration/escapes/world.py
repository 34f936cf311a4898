"""What is outside a sandbox in these tests: victims to reach, and a run with the attacks inside."""

import contextlib
import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox import environment

NOBODY = 65534
ATTACKS = Path(__file__).with_name("attacks.py")
SOURCE = Path(__file__).parents[3] / "src"
HARMLESS = (
    "write_outside",
    "write_through_a_link",
    "write_through_dots",
    "read_the_key",
    "read_our_state",
    "read_the_checkout",
    "write_git_config",
    "write_the_git_file",
    "through_proc_cwd",
    "read_an_environment",
    "reach_an_abstract_socket",
    "reach_a_socket_by_name",
    "reach_a_hidden_socket",
    "reach_a_server",
    "reach_a_udp_server",
    "set_a_file_setuid",
    "make_a_file_setuid",
    "link_a_file_in",
)
_VICTIM = "import os, signal, time; signal.signal(signal.SIGUSR1, lambda *_: os._exit(9)); "
_VICTIM += "print('victim', flush=True); time.sleep(600)"


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
                    "import siding.cli.main, yaml",
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
        self.siding("-q", "task", "start", "attacked")

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
        return self.command([self.python, "-m", "siding", *arguments], **more)

    @contextlib.contextmanager
    def victim(self) -> Iterator["subprocess.Popen[bytes]"]:
        process = subprocess.Popen(
            [*self.prefix, self.python, "-c", _VICTIM],
            stdout=subprocess.PIPE,
            env=self.env | {"OUTER_SECRET": "1"},
        )
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"victim\n"
            yield process
        finally:
            process.kill()
            process.communicate()

    def attacked(self, *flags: str, env: dict[str, str] | None = None) -> dict[str, str]:
        """Run every attack in a sandbox with these flags; return what came of each."""
        before = self._state()
        told = self._attack(*flags, env=env)
        assert self._state() == before
        return told

    def attacked_in_the_open(self) -> dict[str, str]:
        """Run those attacks without a sandbox that do no harm beyond this world."""
        # A sandboxed run has left links that lead outside: those are held until they were seen.
        self.siding("-q", "trust", "-t", "attacked")
        told = self._attack("--no-sandbox", "-e", "ONLY=" + ",".join(HARMLESS))
        for name in ("by_name", "by_link", "by_dots"):
            (self.outside / name).unlink()
        return told

    def _state(self) -> dict[str, bytes]:
        """Return all that must stay as it is."""
        git = self.repo / ".git"
        watched = [self.outside, git / "hooks", git / "worktrees", self.home]
        found = {str(p): p.read_bytes() for top in watched for p in top.rglob("*") if p.is_file()}
        return found | {"config": (git / "config").read_bytes()}

    def _attack(self, *flags: str, env: dict[str, str] | None = None) -> dict[str, str]:
        with self.victim() as victim, servers(self.root, self.outside) as reachable:
            told = {
                **reachable,
                "outside": str(self.outside),
                "home": str(self.home),
                "state": str(self.root / "siding"),
                "checkout": str(self.repo),
                "git": str(self.repo / ".git"),
                "pid": victim.pid,
                "parent": os.getpid(),
                "root": self.uid == 0,
                "keyctl": {"aarch64": 219}.get(os.uname().machine, 250),
            }
            script = self.repo / "attacks.py"
            reading, writing = os.pipe()
            try:
                (workspace,) = (self.root / "siding" / "projects").glob("*/workspaces/*")
                shutil.copy(ATTACKS, workspace / script.name)
                self._own(workspace / script.name)
                done = self.siding(
                    "-q",
                    "run",
                    *flags,
                    "-e",
                    f"VICTIM={json.dumps(told)}",
                    "--",
                    self.python,
                    "attacks.py",
                    env=env,
                    fds=(writing,),
                )
            finally:
                os.close(reading)
                os.close(writing)
            assert done.returncode == 0, (done.stdout, done.stderr)
            assert victim.poll() is None, "the process outside was ended"
        result: dict[str, str] = json.loads(done.stdout)
        return result

    def last_step(self) -> dict[str, Any]:
        (ledger,) = (self.root / "siding" / "projects").glob("*/tasks/*/ledger.jsonl")
        found: dict[str, Any] = json.loads(ledger.read_text().splitlines()[-1])
        return found


@contextlib.contextmanager
def servers(root: Path, outside: Path) -> Iterator[dict[str, Any]]:
    """Servers of this machine that a run with no network must not reach."""
    abstract = f"siding-test-{os.getpid()}"
    hidden = Path(tempfile.mkdtemp(prefix="siding-sock-", dir="/tmp")) / "s"
    hidden.parent.chmod(0o755)
    named = outside / "named.sock"
    named.unlink(missing_ok=True)
    listening = []
    for place in ("\0" + abstract, str(named), str(hidden)):
        server = socket.socket(socket.AF_UNIX)
        server.bind(place)
        server.listen(50)
        listening.append(server)
    named.chmod(0o777)
    hidden.chmod(0o777)
    tcp = socket.create_server(("127.0.0.1", 0), backlog=50)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    threading.Thread(target=_echo, args=(udp,), daemon=True).start()
    try:
        yield {
            "abstract": abstract,
            "socket": str(named),
            "hidden_socket": str(hidden),
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
        }
    finally:
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stop:
            stop.sendto(b"end", udp.getsockname())
        for each in (*listening, tcp):
            each.close()
        shutil.rmtree(hidden.parent)
        named.unlink(missing_ok=True)
    assert root.exists()


def _echo(udp: socket.socket) -> None:
    with udp:
        while True:
            data, sender = udp.recvfrom(10)
            if data == b"end":
                return
            udp.sendto(data, sender)


def without_bwrap(root: Path) -> dict[str, str]:
    """Return a search path on which everything is but bwrap."""
    farm = root / "farm"
    farm.mkdir(exist_ok=True)
    farm.chmod(0o755)
    for directory in reversed(os.environ.get("PATH", os.defpath).split(":")):
        with contextlib.suppress(OSError):
            for name in os.listdir(directory):
                if name != "bwrap":
                    link = farm / name
                    link.unlink(missing_ok=True)
                    link.symlink_to(os.path.join(directory, name))
    return {"PATH": str(farm)}
