"""What a sandboxed run writes for git: nothing but its commits, index and reflog gets out."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from bwrap import needs_bwrap
from integration.escapes.world import SOURCE, landlock_version, without_bwrap
from sandbox import Sandbox

PLANTS = {
    "settings": 'printf "[core]\\n\\tfsmonitor = touch %s;false\\n" "$F" >"$d/config.worktree"',
    "a rebase": 'mkdir "$d/rebase-merge"; echo "exec touch $F" >"$d/rebase-merge/git-rebase-todo"; '
    'echo refs/heads/x >"$d/rebase-merge/head-name"; git rev-parse HEAD | tee '
    '"$d/rebase-merge/onto" >"$d/rebase-merge/orig-head"; : >"$d/rebase-merge/interactive"',
    "an am": 'mkdir "$d/rebase-apply"; touch "$d/rebase-apply/applying"',
    "a sequence": 'mkdir "$d/sequencer"; echo "pick HEAD" >"$d/sequencer/todo"',
    "another branch": 'echo "ref: refs/heads/main" >"$d/HEAD"',
    "a missing branch": 'echo "ref: refs/heads/nowhere" >"$d/HEAD"',
    "no HEAD": 'rm "$d/HEAD"; mkdir "$d/HEAD"',
    "an unknown commit": 'echo 1234567890123456789012345678901234567890 >"$d/HEAD"',
    "another repository": 'mkdir -p x; echo "$PWD/x" >"$d/commondir"; true',
    "another place": 'echo "$PWD/x/.git" >"$d/gitdir"; true',
    "hooks": 'mkdir "$d/hooks"; echo "touch $F" >"$d/hooks/post-commit"',
    "info": 'mkdir "$d/info"; echo "* filter=x" >"$d/info/attributes"; '
    'echo "/*" >"$d/info/sparse-checkout"',
    "a submodule": 'mkdir -p "$d/modules/x/hooks"',
    "heads": "for n in MERGE ORIG FETCH CHERRY_PICK REVERT BISECT; do git rev-parse HEAD "
    '>"$d/${n}_HEAD"; done',
    "its own refs": 'mkdir -p "$d/refs/worktree" "$d/refs/bisect"; git rev-parse HEAD | tee '
    '"$d/refs/worktree/x" >"$d/refs/bisect/bad"; echo x >"$d/BISECT_LOG"',
    "anything": 'echo x >"$d/gitk.cache"; mkfifo "$d/pipe"; ln -s /etc "$d/link"; '
    'touch "$d/locked"',
    "logs": 'rm -rf "$d/logs"; ln -s /etc "$d/logs"',
    "an index": 'rm -f "$d/index"; ln -s /etc/passwd "$d/index"',
    "a lock": 'touch "$d/index.lock" "$d/HEAD.lock"',
}

# What git writes goes into a pack whose id is made up, or into an object with a made-up name.
JUNK = {
    "a pack of nonsense": "head -c 4096 /dev/urandom >$o/pack/pack-$(printf %040d 1).pack",
    "a pack without an index": "echo HEAD^{tree} | git pack-objects -q --revs $o/pack/pack; "
    "rm -f $o/pack/*.idx; for p in $o/pack/*.pack; do chmod 600 $p; head -c 40 $p >$o/x; "
    "cp $o/x $p; done",
    "an object of nonsense": "mkdir -p $o/12; head -c 99 /dev/urandom >$o/12/$(printf %038d 3)",
    "a directory for an object": "mkdir -p $o/12/$(printf %038d 3)",
    "links": "ln -s /etc/passwd $o/pack/pack-$(printf %040d 2).pack; ln -sfn / $o/34; "
    "rm -rf $o/info; ln -s /etc $o/info",
    "other objects": 'mkdir -p x/objects; echo "$PWD/x/objects" >$o/info/alternates',
    "closed directories": "mkdir -p $o/56; touch $o/56/$(printf %038d 3); chmod 0 $o/56 $o/pack",
    "a branch that is a pipe": "rm -f $h/pipe; mkfifo $h/pipe; mkdir $h/folder; "
    "ln -s /etc/passwd $h/link; echo nonsense >$h/words",
    "a branch without a commit": "printf '%040d\\n' 7 >$h/hollow",
    "a reflog of lies": 'printf "%040d %040d a <a> 1 +0000\\tlie\\n" 0 7 >>"$d/logs/HEAD"',
    "a huge object": "mkdir -p $o/78; truncate -s 3G $o/78/$(printf %038d 3)",
    "replaced objects": 'mkdir -p "$d/refs/replace"; s=$(git rev-parse HEAD); '
    'echo x >"$d/refs/replace/$s"; echo $s >"$d/shallow"; echo $s >"$d/info-grafts"',
}
APART = (
    "a pack of nonsense",
    "an object of nonsense",
    "closed directories",
    "a branch without a commit",
    "a reflog of lies",
)
MAKE_INDEX = """
import hashlib, struct, subprocess, sys
name, path = sys.argv[1].encode(), sys.argv[2]
blob = subprocess.run(["git", "hash-object", "-w", "--stdin"], input=b"x", capture_output=True)
entry = struct.pack(">10I", 0, 0, 0, 0, 0, 0, 0o100644, 0, 0, 1)
entry += bytes.fromhex(blob.stdout.decode().strip()) + struct.pack(">H", len(name)) + name
entry += b"\\0" * (8 - len(entry) % 8)
data = b"DIRC" + struct.pack(">II", 2, 1) + entry
open(path, "wb").write(data + hashlib.sha1(data).digest())
"""
WHERE = (
    'd=$(git rev-parse --absolute-git-dir); c=$(cd "$(git rev-parse --git-common-dir)" && pwd); '
    "o=$c/objects; h=$c/refs/heads; "
)


# These spoil git for what comes after them: each has a run of its own.
ALONE = ("another branch", "a missing branch", "no HEAD", "an unknown commit", "logs", "an index")


def plants(fired: Path) -> list[str]:
    """Return scripts that plant everything, in few runs."""
    together = "; ".join(text for name, text in PLANTS.items() if name not in ALONE)
    return [f"F={fired}; {each}" for each in (together, *(PLANTS[name] for name in ALONE))]


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "walled")
    return sandbox


def git_dir(sandbox: Sandbox) -> Path:
    return Path(sandbox.git("rev-parse", "--absolute-git-dir", cwd=sandbox.workspace()))


def listing(directory: Path) -> dict[str, str]:
    """Return everything below a directory, with what files hold."""
    found = {}
    for path in directory.rglob("*"):
        name = str(path.relative_to(directory))
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        else:
            found[name] = path.read_bytes().hex() if path.is_file() else "(no file)"
    return found


def inside(sandbox: Sandbox, script: str, **more: object) -> str:
    """Run a script in the sandbox; return what Siding said."""
    done = sandbox.siding("run", "--sandbox", "--", "sh", "-c", WHERE + script, **more)  # type: ignore[arg-type]
    return done.stderr.decode()


def sound(sandbox: Sandbox) -> None:
    """Everything that git's own checks and its tidying look at is there."""
    workspace = sandbox.workspace()
    sandbox.git("fsck", "--strict")
    sandbox.git("status", cwd=workspace)
    sandbox.git("log", "--oneline", cwd=workspace)
    sandbox.git("gc", "-q")


@needs_bwrap
class TestNothingIsPlanted:
    def test_in_the_workspaces_git_directory(self, task: Sandbox) -> None:
        fired = task.directory / "fired"
        place, branches = git_dir(task), task.git("branch", "--list")
        before = listing(place)
        for script in plants(fired):
            inside(task, script, status=None)
            assert listing(place) == before, script
        task.git("config", "extensions.worktreeConfig", "true")
        task.git("status", cwd=task.workspace())
        main = task.git("rev-parse", "main")
        task.siding("run", "--", "git", "commit", "--allow-empty", "-qm", "plain")
        assert task.git("rev-parse", "main") == main
        assert task.git("branch", "--list") == branches
        assert not fired.exists()

    def test_what_is_left_behind_is_named(self, task: Sandbox) -> None:
        said = inside(task, f"F=x; {PLANTS['settings']}; {PLANTS['another branch']}")
        assert "config.worktree" in said
        assert "'main'" in said
        assert "config.worktree" in " ".join(task.steps()[-1]["notes"])

    def test_a_branch_of_a_worktree_that_failed(self, task: Sandbox) -> None:
        before = task.git("branch", "--list")
        said = inside(task, "git worktree add ../w2; git worktree add -b w3 /tmp/w3; git branch w4")
        assert task.git("branch", "--list") == before
        assert "'w4'" in said
        inside(
            task,
            "git rev-parse --verify w4 && git commit --allow-empty -qm more && "
            "git branch -f w4 HEAD && git reset -q --hard HEAD~1",
        )
        assert task.git("log", "-1", "--format=%s", "w4") == "more"

    def test_a_repositorys_own_worktree_settings_are_not_touched(self, task: Sandbox) -> None:
        task.git("config", "extensions.worktreeConfig", "true")
        place = git_dir(task)
        before = listing(place)
        inside(task, "git status; git config --worktree core.pager x", status=None)
        assert {**listing(place), "index": ""} == {**before, "index": ""}


@needs_bwrap
class TestGitGoesOn:
    def test_an_unfinished_rebase_in_the_next_run(self, task: Sandbox) -> None:
        script = """set -e
        echo a >f; git add f; git commit -qm a; echo b >f; git commit -qam b
        git checkout -q -b other HEAD~1; echo c >f; git commit -qam c
        git checkout -q -; git rebase other || test -d "$d/rebase-merge" """
        said = inside(task, script)
        assert "unfinished" in said
        assert not (git_dir(task) / "rebase-merge").exists()
        inside(task, "echo bc >f; git add f; GIT_EDITOR=true git rebase --continue")
        branch = task.json("task", "show", "--format", "json")["branch"]
        assert task.git("log", "--format=%s", branch).split() == ["b", "c", "a", "first"]
        assert task.git("symbolic-ref", "--short", "HEAD", cwd=task.workspace()) == branch
        sound(task)

    def test_an_interactive_rebase_and_a_merge(self, task: Sandbox) -> None:
        script = """set -e
        for n in 1 2 3; do echo $n >$n; git add $n; git commit -qm $n; done
        GIT_SEQUENCE_EDITOR="sed -i 2s/pick/fixup/" git rebase -q -i HEAD~3
        git checkout -q --detach; git commit -q --allow-empty -m detached"""
        inside(task, script)
        workspace = task.workspace()
        assert task.git("log", "-1", "--format=%s", cwd=workspace) == "detached"
        subjects = task.git("log", "--format=%s", "HEAD~1", cwd=workspace).split()
        assert subjects == ["3", "1", "first"]
        assert "detached" in task.git("reflog", cwd=workspace)
        sound(task)

    def test_what_is_staged_with_every_form_of_an_index(self, task: Sandbox) -> None:
        script = """set -e
        git update-index --index-version 4; git update-index --split-index
        mkdir -p a/b; echo 1 >a/b/c; echo 2 >a/d; ln -s a e; git add -A; echo 3 >n; git add -N n"""
        inside(task, script)
        status = task.git("status", "--porcelain", cwd=task.workspace())
        assert status.splitlines() == ["A  a/b/c", "A  a/d", "A  e", " A n"]
        sound(task)


@needs_bwrap
class TestJunkCostsThatRunAlone:
    def test_good_commits_are_taken_over_beside_it(self, task: Sandbox) -> None:
        workspace = task.workspace()
        for junk in APART:
            commit = f"echo {len(junk)} >>2; git add 2; git commit -qm '{junk}'"
            said = inside(task, f"{commit}; {JUNK[junk]}", status=None)
            assert "read-only" not in said
            assert task.git("log", "-1", "--format=%s", cwd=workspace) == junk
            task.git("fsck", "--strict")
        sound(task)

    def test_all_of_it_at_once(self, task: Sandbox) -> None:
        commit = "echo 2 >2; git add 2; git commit -qm good; git commit -q --allow-empty -m better"
        inside(task, "; ".join((commit, *JUNK.values())), status=None)
        assert task.git("log", "-1", "--format=%s", cwd=task.workspace()) == "better"
        sound(task)

    @pytest.mark.parametrize("gone", ["HEAD^{tree}", "HEAD:2"])
    def test_a_commit_that_is_not_complete(self, task: Sandbox, gone: str) -> None:
        before = task.git("rev-parse", "HEAD", cwd=task.workspace())
        script = f"""echo 2 >2; git add 2; git commit -qm bad; s=$(git rev-parse {gone})
        rm -f $o/$(echo $s | cut -c1-2)/$(echo $s | cut -c3-)"""
        said = inside(task, script)
        assert "not complete" in said
        assert task.git("rev-parse", "HEAD", cwd=task.workspace()) == before
        sound(task)
        found = json.loads(task.siding("doctor", "--format", "json", status=None).stdout)
        assert "refused" in json.dumps(found)
        assert "gc" in json.dumps(found)
        assert "read-only" not in inside(task, "git commit -q --allow-empty -m next")
        assert task.git("log", "-1", "--format=%s", cwd=task.workspace()) == "next"
        task.siding("gc")
        task.siding("doctor")

    def test_an_index_of_nonsense(self, task: Sandbox) -> None:
        write = "printf DIRCxxxx >$d/index; head -c 300 /dev/urandom >>$d/index"
        inside(task, f"echo 2 >2; git add 2; git commit -qm good; {write}")
        workspace = task.workspace()
        assert task.git("log", "-1", "--format=%s", cwd=workspace) == "good"
        assert task.git("status", "--porcelain", cwd=workspace) == ""
        sound(task)

    def test_an_index_that_names_what_is_not_there(self, task: Sandbox) -> None:
        add = "git update-index --add --cacheinfo 100644,$(printf %040d 9),x"
        said = inside(task, f"echo 2 >2; git add 2; git commit -qm good; {add}")
        assert "index" in said
        assert task.git("status", "--porcelain", cwd=task.workspace()) == ""
        sound(task)

    def test_an_index_that_leads_out(self, task: Sandbox) -> None:
        place = git_dir(task)
        before = (place / "index").read_bytes()
        (task.workspace() / "make.py").write_text(MAKE_INDEX)
        for name in ("../outside", "a/../../b", "/etc/x", "x/.GIT/config"):
            said = inside(task, f"python3 make.py {name} $d/index")
            assert "index was not taken over" in said
            assert (place / "index").read_bytes() == before


@needs_bwrap
@pytest.mark.parametrize("by", ["the next run", "doctor"])
def test_a_home_whose_quarantine_can_never_be_taken_over(task: Sandbox, by: str) -> None:
    """As an earlier version left it: the index and the reflog name what is nowhere."""
    task.siding("-q", "run", "--sandbox", "--", "true")
    (root,) = task.project.glob("tasks/*/sandbox")
    place, workspace = git_dir(task), task.workspace()
    head = task.git("rev-parse", "HEAD", cwd=workspace)
    branch = task.json("task", "show", "--format", "json")["branch"]
    pack = root / "taken" / "pack" / f"pack-{1:040d}.pack"
    pack.parent.mkdir(parents=True)
    pack.write_bytes(os.urandom(500))
    (root / "heads").mkdir(exist_ok=True)
    told = {"before": {branch: head, "main": head}, "own": {branch: head}}
    (root / "quarantine.json").write_text(json.dumps(told))
    add = ("update-index", "--add", "--cacheinfo", f"100644,{9:040d},x")
    task.git(*add, cwd=workspace)
    with (place / "logs" / "HEAD").open("a") as log:
        log.write(f"{head} {7:040d} A <a@b> 1 +0000\tcommit: lost\n")
    assert subprocess.run(
        ["git", "fsck"], cwd=task.repo, env=task.env, check=False, capture_output=True
    ).returncode
    if by == "doctor":
        assert b"git gc" in task.siding("doctor", "--check", status=None).stdout
        task.siding("doctor", status=None)
        sound(task)
    said = inside(task, "echo 3 >3; git add 3; git commit -qm next")
    assert "read-only" not in said
    assert task.git("log", "-1", "--format=%s", cwd=workspace) == "next"
    sound(task)


@pytest.mark.skipif(landlock_version() == 0, reason="this kernel has no Landlock")
def test_landlock_lets_nothing_be_planted(task: Sandbox) -> None:
    place, path = git_dir(task), without_bwrap(task.directory)
    before = listing(place)
    inside(task, "; ".join(plants(task.directory / "fired")), status=None, env=path)
    assert task.steps()[-1]["sandbox"]["engine"] == "landlock"
    assert task.steps()[-1]["sandbox"]["git"] == "read"
    assert listing(place) == before
    before = listing(task.repo / ".git")
    junk = "; ".join((*JUNK.values(), "git worktree add ../w2; git branch w3; git commit -qam x"))
    inside(task, junk, status=None, env=path)
    assert listing(task.repo / ".git") == before


class TestSeenWithoutASandbox:
    """What the isolation check says of a step that does it in the open."""

    def alarms(self, task: Sandbox, script: str) -> str:
        task.siding("run", "--", "sh", "-c", WHERE + script, status=None)
        found = task.steps()[-1]["isolation"]["changes"]
        return json.dumps([each for each in found if each["weight"] == "alarm"])

    def test_a_workspace_that_is_on_somebody_elses_branch(self, task: Sandbox) -> None:
        assert "main" in self.alarms(task, 'echo "ref: refs/heads/main" >$d/HEAD')
        assert b"symbolic-ref HEAD" in task.siding("doctor", status=None).stdout

    def test_settings_of_its_own(self, task: Sandbox) -> None:
        assert "config.worktree" in self.alarms(task, "F=fired; " + PLANTS["settings"])

    def test_a_rebase_that_waits_with_a_command(self, task: Sandbox) -> None:
        assert "rebase" in self.alarms(task, "F=fired; " + PLANTS["a rebase"])

    def test_ordinary_work_is_no_alarm(self, task: Sandbox) -> None:
        script = "git commit -q --allow-empty -m x; git checkout -q -b mine; git checkout -q -"
        assert self.alarms(task, script) == "[]"


@needs_bwrap
class TestWhatIsHiddenIsSaid:
    def test_that_sidings_home_is_hidden(self, task: Sandbox) -> None:
        config = task.directory / "siding" / "config.yaml"
        config.write_text(f"sandbox: {{mode: on, read: [{SOURCE}]}}\n")
        commands = ("status", "task list", "task start x", "run -- true", "policy check -- true")
        # Without a broker nothing can be said but this.
        script = "; ".join(f"siding {each} 2>&1; echo next" for each in commands)
        script = f"unset SIDING_SOCKET; {script}"
        done = task.siding("run", "--", "sh", "-c", script, status=None)
        said = done.stdout.decode().split("next\n")[:-1]
        assert len(said) == len(commands)
        for each in said:
            assert "hides Siding's home" in each
            assert "siding init" not in each
            assert "no policy is switched on" not in each
