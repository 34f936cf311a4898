"""Sandboxed and limited runs through the command line: git inside, settings, terminals, endings."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bwrap import bwrap_problem, needs_bwrap
from integration.escapes.world import landlock_version, without_bwrap
from sandbox import SIDING, Sandbox
from siding.sandbox.engines.cgroup import delegation_here
from terminal import Terminal

bwrap = needs_bwrap


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "walled")
    return sandbox


def settings(sandbox: Sandbox, text: str) -> None:
    """Write the person's own settings, for every project."""
    (sandbox.directory / "siding" / "config.yaml").write_text(text)


def repository_settings(sandbox: Sandbox, text: str) -> None:
    (sandbox.repo / ".siding").mkdir(exist_ok=True)
    (sandbox.repo / ".siding" / "config.yaml").write_text(text)


def last(sandbox: Sandbox) -> dict[str, Any]:
    """Return the newest step."""
    return sandbox.steps()[-1]


def runs(command: str) -> bool:
    """Whether anybody runs this command."""
    done = subprocess.run(["ps", "-eo", "args"], capture_output=True, check=True, text=True)
    return command in done.stdout.splitlines()


def bare_path(sandbox: Sandbox) -> dict[str, str]:
    """Return a search path with git and a shell, and nothing to make a sandbox with."""
    farm = sandbox.directory / "farm"
    farm.mkdir()
    for name in ("git", "sh", "true", "cat"):
        (farm / name).symlink_to(str(shutil.which(name)))
    return {"PATH": str(farm)}


def branch_tip(sandbox: Sandbox) -> str:
    return sandbox.git("rev-parse", sandbox.git("branch", "--list", "siding/*").strip("+* "))


@bwrap
class TestGitInside:
    def test_a_commit_belongs_to_the_repository_afterwards(self, task: Sandbox) -> None:
        inside = "echo two >two.txt && git add -A && git commit -qm inside && git rev-parse HEAD"
        done = task.siding("-q", "run", "--sandbox", "--", "sh", "-c", inside)
        assert branch_tip(task) == done.stdout.decode().strip()
        assert task.git("log", "-1", "--format=%s %an", branch_tip(task)) == "inside Ada"
        task.git("fsck", "--strict")
        step = last(task)
        assert step["sandbox"]["git"] == "commit"
        assert step["diff_stat"]["files"] == 1
        task.siding(
            "-q", "run", "--sandbox", "--", "git", "diff", "--exit-code", "HEAD~1", "HEAD~1"
        )

    def test_what_is_only_staged_is_not_lost(self, task: Sandbox) -> None:
        task.siding("-q", "run", "--sandbox", "--", "sh", "-c", "echo s >s.txt && git add s.txt")
        workspace = task.workspace()
        assert task.git("show", ":s.txt", cwd=workspace) == "s"
        task.git("commit", "-qm", "outside", cwd=workspace)
        task.git("fsck", "--strict")

    def test_ordinary_commands_work(self, task: Sandbox) -> None:
        script = """set -e
        git status --short; git log --oneline; git diff; git branch
        echo x >>hello.txt; git restore hello.txt; git stash list
        echo y >>hello.txt; git commit -qam one; git commit -q --amend -m uno
        git checkout -q -b side; echo z >z; git add z; git commit -qm side
        git checkout -q -; git merge -q side; git rebase -q HEAD~1; git reset -q --hard HEAD
        """
        task.siding("-q", "run", "--sandbox", "--", "sh", "-c", script)
        assert task.git("log", "-1", "--format=%s", branch_tip(task)) == "side"
        assert task.git("log", "-1", "--format=%s", "side") == "side"
        task.git("fsck", "--strict")

    def test_a_branch_of_its_own_goes_on(self, task: Sandbox) -> None:
        task.siding("-q", "run", "--sandbox", "--", "git", "checkout", "-q", "-b", "mine")
        script = "echo 2 >2 && git add 2 && git commit -qm two"
        done = task.siding("run", "--sandbox", "--", "sh", "-c", script)
        assert b"not moved" not in done.stderr
        assert task.git("log", "-1", "--format=%s", "mine") == "two"

    def test_a_branch_is_not_its_own_because_it_was_checked_out(self, task: Sandbox) -> None:
        before = task.git("rev-parse", "main")
        script = "git symbolic-ref HEAD refs/heads/main; git commit -q --allow-empty -m hijacked"
        done = task.siding("run", "--sandbox", "--", "sh", "-c", script)
        assert b"'main' was not moved" in done.stderr
        assert b"HEAD stays where it was" in done.stderr
        assert task.git("rev-parse", "main") == before
        branch = task.json("task", "show", "--format", "json")["branch"]
        assert task.git("symbolic-ref", "--short", "HEAD", cwd=task.workspace()) == branch

    def test_other_branches_stay_where_they_are(self, task: Sandbox) -> None:
        task.git("branch", "other")
        task.git("branch", "doomed")
        before = task.git("rev-parse", "main", "other", "doomed")
        script = """echo 2 >2; git add 2; git commit -qm two; git branch -f other HEAD
        cd "$(git rev-parse --git-common-dir)"; rm -f refs/heads/doomed refs/heads/main
        git update-ref refs/heads/main HEAD; true"""
        done = task.siding("run", "--sandbox", "--", "sh", "-c", script)
        assert task.git("rev-parse", "main", "other", "doomed") == before
        said = done.stderr.decode()
        assert "'other' was not moved" in said
        assert "'doomed' was not deleted" in said
        task.git("fsck", "--strict")

    def test_the_repositorys_objects_cannot_be_removed(self, task: Sandbox) -> None:
        script = """echo 2 >2; git add 2; git commit -qm two; cd "$(git rev-parse --git-common-dir)"
        rm -rf objects/* refs/heads/* packed-refs logs; true"""
        before = task.git("rev-list", "--objects", "--all")
        done = task.siding("run", "--sandbox", "--", "sh", "-c", script)
        assert b"its commits are not complete" not in done.stderr  # there is no branch any more
        assert task.git("rev-list", "--objects", "--all") == before

    def test_objects_that_lie_about_their_name_deceive_nobody(self, task: Sandbox) -> None:
        script = """
import hashlib, os, subprocess, zlib
common = subprocess.check_output(["git", "rev-parse", "--git-common-dir"], text=True).strip()
wanted = hashlib.sha1(b"blob 5\\0good\\n").hexdigest()
os.makedirs(f"{common}/objects/{wanted[:2]}", exist_ok=True)
with open(f"{common}/objects/{wanted[:2]}/{wanted[2:]}", "wb") as file:
    file.write(zlib.compress(b"blob 5\\0evil\\n"))
os.symlink("/etc/passwd", f"{common}/objects/{wanted[:2]}/" + "0" * 38)
os.rename(f"{common}/objects/info", f"{common}/objects/was")
os.symlink("/etc", f"{common}/objects/info")
"""
        task.siding("run", "--sandbox", "--", sys.executable, "-c", script)
        (task.repo / "good.txt").write_text("good\n")
        task.git("add", "good.txt")
        assert task.git("show", ":good.txt") == "good"
        task.git("fsck", "--strict")

    def test_a_run_that_was_killed_hands_over_at_the_next(self, task: Sandbox) -> None:
        script = "echo k >k && git add k && git commit -qm kept && touch done && sleep 60"
        command = [*SIDING, "run", "--sandbox", "--", "sh", "-c", script]
        process = subprocess.Popen(
            command,
            cwd=task.repo,
            env=task.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        ready = task.directory / "siding"
        while not list(ready.glob("projects/*/workspaces/*/done")):
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        task.siding("run", "--sandbox", "--", "true")
        assert task.git("log", "-1", "--format=%s", branch_tip(task)) == "kept"

    def test_a_repository_that_borrows_objects(self, tmp_path: Path) -> None:
        lender = Sandbox(tmp_path / "lender")
        borrower = Sandbox(tmp_path / "borrower")
        clone = Path(borrower.env["HOME"]) / "clone"
        borrower.git("clone", "-q", "--shared", str(lender.repo), str(clone))
        borrower.repo = clone
        borrower.siding("task", "start", "borrowing")
        inside = "git show --stat && echo 2 >2 && git add 2 && git commit -qm two"
        borrower.siding("-q", "run", "--sandbox", "--", "sh", "-c", inside)
        assert borrower.git("log", "-1", "--format=%s", branch_tip(borrower)) == "two"
        borrower.git("fsck", "--strict")

    def test_who_commits_may_stand_in_an_included_file(self, task: Sandbox) -> None:
        home = Path(task.env["HOME"])
        (home / ".gitconfig").write_text("[include]\n\tpath = ~/.gitconfig-work\n")
        (home / ".gitconfig-work").write_text("[user]\n\tname = Works\n")
        done = task.siding("-q", "run", "--sandbox", "--", "git", "config", "user.name")
        assert done.stdout == b"Works\n"

    def test_commits_that_should_be_signed_are_made_unsigned(self, task: Sandbox) -> None:
        task.git("config", "commit.gpgSign", "true")
        task.siding("-q", "run", "--sandbox", "--", "git", "commit", "--allow-empty", "-qm", "x")
        assert task.git("log", "-1", "--format=%s%G?", branch_tip(task)) == "xN"

    def test_read_only_git_still_reads(self, task: Sandbox) -> None:
        settings(task, "sandbox: {mode: on, git: read}\n")
        task.siding("-q", "run", "--", "sh", "-c", "git status && git log && git diff && git show")
        done = task.siding(
            "-q", "run", "--", "git", "commit", "--allow-empty", "-m", "no", status=None
        )
        assert done.returncode != 0
        assert last(task)["sandbox"]["git"] == "read"


@bwrap
class TestEndings:
    @pytest.mark.parametrize(("script", "status"), [("exit 7", 7), ("kill -9 $$", 137)])
    def test_exit_codes_are_the_commands(self, task: Sandbox, script: str, status: int) -> None:
        task.siding("-q", "run", "--sandbox", "--", "sh", "-c", script, status=status)

    def test_a_command_that_is_not_there(self, task: Sandbox) -> None:
        task.siding("-q", "run", "--sandbox", "--", "no-such-program", status=127)

    def test_a_timeout_gives_the_command_its_grace(self, task: Sandbox) -> None:
        script = "trap 'echo tidied; exit' TERM; while :; do sleep 0.05; done"
        done = task.siding(
            "-q", "run", "--sandbox", "--timeout", "1", "--", "sh", "-c", script, status=124
        )
        assert done.stdout == b"tidied\n"

    def test_nothing_outlives_it(self, task: Sandbox) -> None:
        script = "setsid sleep 1000 & setsid sh -c 'sleep 1000 & sleep 1000' & echo $$"
        task.siding("-q", "run", "--sandbox", "--", "sh", "-c", script)
        assert not runs("sleep 1000")

    def test_killing_siding_ends_it(self, task: Sandbox) -> None:
        command = [*SIDING, "run", "--sandbox", "--", "sh", "-c", "touch up; sleep 2000"]
        process = subprocess.Popen(
            command,
            cwd=task.repo,
            env=task.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        home = task.directory / "siding"
        while not list(home.glob("projects/*/workspaces/*/up")):
            assert process.poll() is None
        process.kill()
        process.wait()
        while runs("sleep 2000"):
            pass

    def test_ctrl_c_is_the_commands_in_pipes(self, task: Sandbox) -> None:
        script = "trap 'echo stopped; exit 3' INT; touch up; while :; do sleep 0.05; done"
        process = subprocess.Popen(
            [*SIDING, "-q", "run", "--sandbox", "--", "sh", "-c", script],
            cwd=task.repo,
            env=task.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        home = task.directory / "siding"
        while not list(home.glob("projects/*/workspaces/*/up")):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        shown, _ = process.communicate(timeout=30)
        assert shown == b"stopped\n"

    def test_a_terminal_program_has_its_terminal(self, task: Sandbox) -> None:
        script = (
            "trap 'stty size; echo caught; exit 9' INT; echo tty >/dev/tty; test -t 0 && "
            "echo ready;"
            "while :; do sleep 0.05; done"
        )
        person = Terminal(
            [*SIDING, "run", "--sandbox", "--", "sh", "-c", script], cwd=task.repo, env=task.env
        )
        person.wait_for(b"ready")
        person.resize(17, 71)
        person.type(b"\x03")
        person.wait_for(b"caught")
        assert person.finish() == 9
        assert b"17 71" in person.seen
        assert b"tty" in person.seen


@bwrap
class TestNested:
    def test_a_sandbox_inside_the_sandbox(self, task: Sandbox) -> None:
        """As agents bring one: bwrap with a user namespace of its own."""
        task.siding(
            "-q",
            "run",
            "--sandbox",
            "--",
            "bwrap",
            "--unshare-user",
            "--unshare-pid",
            "--unshare-net",
            "--ro-bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--tmpfs",
            "/tmp",
            "--",
            "sh",
            "-c",
            "! touch hello.txt",
        )


@pytest.fixture
def seen_inside() -> Iterator[Path]:
    """A directory whose links a sandbox sees; the tests' own may lie below /dev, which it hides."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        yield Path(place)


class TestProfiles:
    @bwrap
    def test_an_agent_finds_its_own_and_nothing_else(self, task: Sandbox) -> None:
        home = Path(task.env["HOME"])
        for name in (".claude/projects", ".codex/sessions", ".local/bin"):
            (home / name).mkdir(parents=True)
        (home / ".claude" / "settings.json").write_text("{}")
        (home / ".claude.json").write_text('{"a": 1}')
        (home / ".codex" / "auth.json").write_text("{}")
        agent = home / ".local" / "bin" / "claude"
        agent.write_text(
            "#!/bin/sh\nset -e\ncat ~/.claude.json\necho '{}' >~/.claude/projects/session\n"
            "echo new >~/.claude.json\necho new >~/.claude/hooks.json\n"
            "! touch ~/.claude/settings.json 2>/dev/null\ntest ! -e ~/.codex\n"
        )
        agent.chmod(0o755)
        path = {"PATH": f"{agent.parent}:{task.env['PATH']}"}
        done = task.siding("-q", "run", "--sandbox", "--", "claude", env=path)
        assert done.stdout == b'{"a": 1}'
        assert (home / ".claude" / "projects" / "session").exists()
        assert (home / ".claude.json").read_text() == '{"a": 1}'
        assert not (home / ".claude" / "hooks.json").exists()
        assert last(task)["sandbox"]["profile"] == "claude"

    @bwrap
    @pytest.mark.parametrize(
        ("agent", "directory"),
        [("opencode", ".config/opencode"), ("opencode", ".opencode"), ("goose", ".config/goose")],
    )
    def test_an_agent_writes_beside_its_settings_and_changes_none(
        self, task: Sandbox, agent: str, directory: str
    ) -> None:
        """As opencode does when it starts, and ends if it cannot."""
        home = Path(task.env["HOME"])
        place = home / directory
        (place / "plugin").mkdir(parents=True)
        (place / "config.json").write_text("{}")
        (place / "plugin" / "one.js").write_text("1")
        program = home / ".local" / "bin" / agent
        program.parent.mkdir(parents=True)
        program.write_text(
            f"#!/bin/sh\nset -e\ncd ~/{directory}\necho '*' >.gitignore\ncat config.json "
            "plugin/one.js\necho new >x\nmv x config.json\n! touch plugin/one.js 2>/dev/null\n"
        )
        program.chmod(0o755)
        path = {"PATH": f"{program.parent}:{task.env['PATH']}"}
        assert task.siding("-q", "run", "--sandbox", "--", agent, env=path).stdout == b"{}1"
        left = {str(each.relative_to(place)) for each in place.rglob("*")}
        assert left == {"config.json", "plugin", "plugin/one.js"}
        assert (place / "config.json").read_text() == "{}"

    @bwrap
    def test_the_first_conversation_outlives_the_run(self, task: Sandbox) -> None:
        """Of an agent that has kept nothing in this home yet."""
        home = Path(task.env["HOME"])
        agent = home / ".local" / "bin" / "codex"
        agent.parent.mkdir(parents=True)
        agent.write_text("#!/bin/sh\nset -e\necho said >~/.codex/sessions/talk\n")
        agent.chmod(0o755)
        path = {"PATH": f"{agent.parent}:{task.env['PATH']}"}
        task.siding("-q", "run", "--sandbox", "--", "codex", env=path)
        assert (home / ".codex" / "sessions" / "talk").read_text() == "said\n"

    @bwrap
    def test_what_is_listed_is_there(self, task: Sandbox) -> None:
        home = Path(task.env["HOME"])
        (home / "data").mkdir()
        (home / "notes").mkdir()
        (home / "data" / "in").write_text("in")
        settings(task, "sandbox: {mode: on, read: [~/data], write: [~/notes]}\n")
        script = "cat ~/data/in; echo out >~/notes/out; ! touch ~/data/x 2>/dev/null"
        done = task.siding("-q", "run", "--", "sh", "-c", script)
        assert done.stdout == b"in"
        assert (home / "notes" / "out").read_text() == "out\n"

    def test_an_unknown_profile_is_a_mistake(self, task: Sandbox) -> None:
        done = task.siding("run", "--sandbox=nonsense", "--", "true", status=2)
        assert b"workspace" in done.stderr

    @bwrap
    def test_a_home_behind_a_link(self, seen_inside: Path) -> None:
        (seen_inside / "data").mkdir()
        (seen_inside / "home-is").symlink_to(seen_inside / "data")
        sandbox = Sandbox(seen_inside / "data" / "all")
        linked = seen_inside / "home-is" / "all"
        sandbox.env |= {"HOME": str(linked / "home"), "SIDING_HOME": str(linked / "siding")}
        script = "cd && touch x && cd - && git status && pwd && echo 2 >2"
        sandbox.siding("run", "--sandbox", "--", "sh", "-c", script)
        assert last(sandbox)["diff_stat"]["files"] == 1

    @bwrap
    def test_what_would_run_outside_later_is_guarded(self, task: Sandbox) -> None:
        task.git("config", "core.hooksPath", ".hooks")
        task.git("config", "extensions.worktreeConfig", "true")
        workspace = task.workspace()
        (workspace / ".hooks").mkdir()
        (workspace / ".hooks" / "post-commit").write_text("#!/bin/sh\n")
        (workspace / ".siding").mkdir()
        script = """set -x
        ! touch .hooks/post-commit 2>/dev/null && ! touch .hooks/new 2>/dev/null &&
        ! touch .siding/policy.yaml 2>/dev/null && ! mv .hooks away 2>/dev/null &&
        cd "$(git rev-parse --git-dir)" && ! touch config.worktree 2>/dev/null &&
        ! rm -f commondir 2>/dev/null && ! mv gitdir away 2>/dev/null && touch ORIG_HEAD"""
        task.siding("-q", "run", "--sandbox", "--", "sh", "-c", script)


class TestFlags:
    @bwrap
    def test_a_network_means_a_sandbox(self, task: Sandbox) -> None:
        source = "import socket; socket.socket()"
        task.siding("run", "--network", "off", "--", sys.executable, "-c", source, status=1)
        assert last(task)["sandbox"]["network"] == "off"
        task.siding("run", "--no-sandbox", "--network", "off", "--", "true", status=2)


class TestNoEngine:
    def test_asked_for_it_is_refused_and_recorded(self, task: Sandbox) -> None:
        done = task.siding("run", "--sandbox", "--", "true", status=1, env=bare_path(task))
        assert b"no sandbox works here" in done.stderr
        step = last(task)
        assert (step["status"], step["sandbox"]["engine"]) == ("blocked", None)

    def test_configured_as_on_it_is_a_warning(self, task: Sandbox) -> None:
        settings(task, "sandbox: {mode: on}\n")
        done = task.siding("run", "--", "true", env=bare_path(task))
        assert b"the command runs without" in done.stderr
        assert last(task)["sandbox"]["engine"] is None

    def test_required_it_cannot_be_switched_off(self, task: Sandbox) -> None:
        settings(task, "sandbox: {mode: require}\n")
        task.siding("run", "--", "true", status=1, env=bare_path(task))
        assert task.siding("run", "--no-sandbox", "--", "true", status=2).stderr


class TestSettings:
    @pytest.mark.parametrize(
        ("text", "place"),
        [
            ("sandbox: {mode: maybe}", b"sandbox.mode"),
            ("sandbox: {modes: on}", b"sandbox.modes"),
            ("sandbox: {network: sometimes}", b"sandbox.network"),
            ("sandbox: {profile: nobody}", b"sandbox.profile"),
            ("sandbox: {write: [here]}", b"sandbox.write"),
            ("sandbox: {read: [/a/../b]}", b"sandbox.read"),
            ("sandbox: on", b"sandbox"),
            ("sandbox: {network: off}", b"sandbox.mode"),
            ("limits: {memory: lots}", b"limits.memory"),
            ("limits: {processes: 0}", b"limits.processes"),
            ("limits: {time: soon}", b"limits.time"),
            ("limits: {mem: 1}", b"limits.mem"),
        ],
    )
    def test_a_mistake_names_its_place(self, task: Sandbox, text: str, place: bytes) -> None:
        settings(task, text + "\n")
        assert place in task.siding("run", "--", "true", status=2).stderr

    @bwrap
    def test_a_repository_may_narrow_and_not_widen(self, task: Sandbox) -> None:
        settings(task, "sandbox: {mode: require, network: off}\nlimits: {processes: 50}\n")
        repository_settings(
            task,
            "sandbox: {mode: off, network: on, git: read, write: [~/]}\n"
            "limits: {processes: 500, memory: 3GiB}\n",
        )
        done = task.siding("run", "--", "true")
        assert b"siding trust" in done.stderr
        step = last(task)
        assert step["sandbox"]["mode"] == "require"
        assert step["sandbox"]["network"] == "off"
        assert step["sandbox"]["git"] == "read"
        assert step["limits"] == {"processes": 50, "memory": 3 << 30}
        shown = task.siding("trust").stdout
        assert b"network: on" in shown
        task.siding("-q", "run", "--", "true")
        assert "sandbox" not in last(task)
        repository_settings(task, "sandbox: {mode: off, network: on, git: read}\n")
        task.siding("-q", "run", "--", "true")
        assert last(task)["sandbox"]["network"] == "off"
        task.siding("trust", "--revoke")

    def test_the_repository_alone_can_switch_it_on(self, task: Sandbox) -> None:
        repository_settings(task, "limits: {processes: 5}\n")
        task.siding("-q", "run", "--", "true")
        assert last(task)["limits"] == {"processes": 5}


class TestLimits:
    def ended(self, sandbox: Sandbox, what: str) -> dict[str, Any]:
        step = last(sandbox)
        assert (step["ending"], step["status"], step["exit_code"]) == ("limit", "failed", 125)
        assert what in str(step["reason"])
        return step

    def test_output(self, task: Sandbox) -> None:
        task.siding("run", "--max-output", "100kB", "--", "yes", status=125)
        output = self.ended(task, "it wrote")["output"]
        assert output["stdout_bytes"] > 100_000
        assert output["complete"] is True
        task.siding("verify")

    def test_output_below_it_is_left_alone(self, task: Sandbox) -> None:
        task.siding("run", "--max-output", "100kB", "--", "head", "-c", "99999", "/dev/zero")

    def test_memory(self, task: Sandbox) -> None:
        source = "import time; a = bytearray(300 << 20); time.sleep(60)"
        task.siding("run", "--max-memory", "200MiB", "--", sys.executable, "-c", source, status=125)
        self.ended(task, "bytes, and may take")

    @bwrap
    def test_memory_holds_for_what_lies_in_tmp(self, task: Sandbox) -> None:
        script = "head -c 30000000 /dev/zero >/tmp/big"
        # There is no room for more, or the kernel counts it as the run's before that.
        status = 1 if delegation_here().place is None else 125
        limit = ("--sandbox", "--max-memory", "20MB")
        task.siding("run", *limit, "--", "sh", "-c", script, status=status)
        said = b"No space left" if status == 1 else b"bytes of memory"
        assert said in task.siding("show").stdout

    @pytest.mark.parametrize("flags", [(), pytest.param(("--sandbox",), marks=bwrap)])
    def test_processes(self, task: Sandbox, flags: tuple[str, ...]) -> None:
        script = "for i in 1 2 3 4 5 6 7 8 9; do sleep 60 & done; wait"
        task.siding("run", *flags, "--max-processes", "6", "--", "sh", "-c", script, status=125)
        self.ended(task, "processes")
        three = "for i in 1 2 3; do sleep 0.3 & done; wait"
        task.siding("run", *flags, "--max-processes", "6", "--", "sh", "-c", three)

    def test_disk(self, task: Sandbox) -> None:
        script = "head -c 30000000 /dev/urandom >big; sync big; sleep 60"
        task.siding("run", "--max-disk", "10MB", "--", "sh", "-c", script, status=125)
        assert self.ended(task, "grow")["diff_stat"]["files"] == 1

    @bwrap
    def test_disk_counts_what_is_written_past_the_workspace(self, task: Sandbox) -> None:
        script = 'cd "$(git rev-parse --git-dir)"; head -c 30000000 /dev/urandom >big; sleep 60'
        limited = ("--sandbox", "--max-disk", "10MB")
        task.siding("run", *limited, "--", "sh", "-c", script, status=125)
        self.ended(task, "grow")

    def test_several_at_once_and_in_json(self, task: Sandbox) -> None:
        settings(task, "limits: {time: 1s, output: 1GiB}\n")
        task.siding("run", "--", "sleep", "60", status=124)
        step = last(task)
        assert (step["timeout_s"], step["limits"]) == (1.0, {"output": 1 << 30})

    @pytest.mark.parametrize("flag", ["--max-output=x", "--max-processes=0", "--max-disk=-1"])
    def test_nonsense_is_a_mistake(self, task: Sandbox, flag: str) -> None:
        task.siding("run", flag, "--", "true", status=2)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may look into another user's directory")
@needs_bwrap
def test_a_socket_behind_another_users_door_stops_no_sandbox(sandbox: Sandbox) -> None:
    """Root sees it outside, and is let through as little as anybody inside."""
    with tempfile.TemporaryDirectory(dir="/opt") as directory:
        private = Path(directory) / "private"
        private.mkdir(mode=0o700)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(private / "s"))
            listener.listen()
            os.chmod(directory, 0o755)
            os.chown(private, 65534, 65534)
            sandbox.siding("task", "start", "t")
            sandbox.siding("run", "--sandbox", "--", "true")


@bwrap
def test_a_run_in_the_background_goes_on_if_its_sandbox_failed_at_first(
    task: Sandbox, tmp_path: Path
) -> None:
    """A socket that bwrap is to hide goes just then, so that bwrap has to be started again."""
    began, program = task.workspace() / "began", tmp_path / "bin" / "bwrap"
    program.parent.mkdir()
    with (
        tempfile.TemporaryDirectory(prefix="siding-tests-", dir="/tmp") as shown,
        socket.socket(socket.AF_UNIX) as listener,
    ):
        listener.bind(f"{shown}/s")
        listener.listen()
        goes = f'case "$*" in *{shown}/s*) rm {shown}/s;; esac; exec {shutil.which("bwrap")} "$@"'
        program.write_text(f"#!/bin/sh\n{goes}\n")
        program.chmod(0o755)
        path = {"PATH": os.pathsep.join([str(program.parent), task.env["PATH"]])}
        waits = ("sh", "-c", "touch began; exec sleep 1000")
        task.siding("run", "--detach", "--sandbox", "--read", shown, "--", *waits, env=path)
        for _ in range(6000):
            if began.exists():
                break
            time.sleep(0.01)
        assert not Path(shown, "s").exists()
    task.siding("stop")
    assert last(task)["ending"] == "stopped"


@pytest.mark.skipif(landlock_version() == 0, reason="this kernel has no Landlock")
def test_landlock_works_where_the_home_lies_below_dev(tmp_path: Path) -> None:
    """What is visible beside it has /dev/stdout, which may be a pipe: no rule can name that."""
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("there is no /dev/shm")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        there = Sandbox(Path(directory))
        there.siding("task", "start", "t")
        path = without_bwrap(tmp_path)
        plants = "echo x >mine; for each in $(cat where); do echo x >$each/planted; done; true"
        places = (there.directory, there.directory / "siding", there.repo, Path("/dev/shm"))
        (there.workspace() / "where").write_text(" ".join(map(str, places)))
        there.siding("run", "--sandbox", "--", "sh", "-c", plants, env=path)
        assert there.steps()[-1]["sandbox"]["engine"] == "landlock"
        assert (there.workspace() / "mine").exists()
        assert not [each for each in places if (each / "planted").exists()]


@bwrap
class TestPathsOfTheCommandLine:
    @pytest.fixture
    def data(self, task: Sandbox) -> Path:
        data = Path(task.env["HOME"]) / "data"
        data.mkdir()
        (data / "in.txt").write_text("there\n")
        return data

    def test_a_directory_is_read_or_written_for_one_run(self, task: Sandbox, data: Path) -> None:
        script = f"cat {data}/in.txt; echo out 2>/dev/null >{data}/out.txt"
        assert task.siding("run", "--sandbox", "--", "sh", "-c", script, status=None).stdout == b""
        assert not (data / "out.txt").exists()
        read = ("run", "--read", str(data), "--", "sh", "-c", script)
        assert task.siding(*read, status=None).stdout == b"there\n"
        assert not (data / "out.txt").exists()
        write = ("run", "--write", "~/data", "--", "sh", "-c", script)
        assert task.siding(*write).stdout == b"there\n"
        assert (data / "out.txt").read_text() == "out\n"
        assert last(task)["sandbox"]["engine"] == "bwrap"

    def test_it_is_named_from_where_the_person_stands(self, task: Sandbox, data: Path) -> None:
        where = os.path.relpath(data, task.repo)
        task.siding("run", "--write", where, "--", "touch", f"{data}/made")
        assert (data / "made").exists()

    @pytest.mark.parametrize(
        ("flags", "why"),
        [
            (("--write", "~"), b"would open your whole home"),
            (("--write", "/"), b"would open your whole home"),
            (("--write", "~/no-such-place"), b"there is no"),
            (("--read", "data", "--no-sandbox"), b"--no-sandbox asks for none"),
        ],
    )
    def test_what_would_be_no_sandbox_is_refused(
        self, task: Sandbox, flags: tuple[str, ...], why: bytes
    ) -> None:
        done = task.siding("run", *flags, "--", "true", status=2)
        assert why in done.stderr
        assert task.steps() == []


@pytest.mark.skipif(landlock_version() == 0, reason="this kernel has no Landlock")
def test_with_either_engine_commands_inside_say_that_the_home_is_hidden(task: Sandbox) -> None:
    commands = ("log", "doctor", "run -- true", "inbox", "today", "task list", "inbox --here")
    inside = "; ".join(
        f"{sys.executable} -m siding {words} || echo {words}: $?" for words in commands
    )
    engines = ["landlock"] if bwrap_problem() else ["bwrap", "landlock"]
    for engine in engines:
        env = without_bwrap(task.directory) if engine == "landlock" else {}
        done = task.siding("run", "--sandbox", "--", "sh", "-c", inside, env=env)
        assert done.stdout.decode().splitlines() == [f"{words}: 1" for words in commands]
        told = done.stderr.count(b"a sandbox that hides Siding's home")
        assert told == len(commands), (engine, done)
        assert task.steps()[-1]["sandbox"]["engine"] == engine


@pytest.mark.skipif(landlock_version() == 0, reason="this kernel has no Landlock")
def test_with_landlock_a_run_has_a_home_of_its_own(task: Sandbox) -> None:
    home = Path(task.env["HOME"])
    (home / ".gitconfig").write_text("[user]\n\tname = Ann\n")
    (home / "secret").write_text("secret")
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text("{}")
    (home / ".claude.json").write_text('{"a": 1}\n')
    env = {**without_bwrap(task.directory), "XDG_CACHE_HOME": str(home / ".cache")}
    script = (
        "git config user.name; cat ~/.claude.json; echo 2 >~/.claude.json && mkdir -p ~/.cache/x "
        '"$XDG_CACHE_HOME/y" && touch ~/.claude/projects/a; ls ~/.cache; '
        f"cat ~/secret {home}/secret; echo x >~/.claude/settings.json"
    )
    done = task.siding("run", "--sandbox=claude", "--", "sh", "-c", script, status=None, env=env)
    assert done.stdout.split() == [b"Ann", b'{"a":', b"1}", b"x", b"y"]
    assert done.stderr.count(b"denied") == 2
    assert (home / ".claude.json").read_text() == '{"a": 1}\n'
    assert (home / ".claude" / "settings.json").read_text() == "{}"
    assert (home / ".claude" / "projects" / "a").exists()  # what its profile lets it write
    assert not (home / ".cache").exists()
    assert list(task.project.glob("tasks/*/sandbox/tmp/*")) == []
