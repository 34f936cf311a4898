"""Repositories of every shape: each has an answer, and the answer is the same every time."""

import json
import os
from pathlib import Path

import pytest

from sandbox import Sandbox
from siding.ground.storage.layout import project_dir_name


def run_and_record(sandbox: Sandbox, *, cwd: Path | None = None) -> list[str]:
    """Add a file in a step; return what the step says it changed."""
    sandbox.siding("run", "--", "sh", "-c", "echo new >new.txt", cwd=cwd)
    sandbox.siding("verify", cwd=cwd)
    done = sandbox.siding("log", "--limit", "1", "--format", "json", cwd=cwd)
    (step,) = json.loads(done.stdout)
    assert step["exit_code"] == 0
    found = step["diff_stat"]["file_list"]
    assert isinstance(found, list)
    return found


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    empty = tmp_path / "empty"
    sandbox.git("init", "-q", str(empty))
    done = sandbox.siding("run", "--", "true", cwd=empty, status=1)
    assert b"has no commit yet" in done.stderr
    assert b"make a first commit" in done.stderr


def test_a_repository_whose_configuration_has_a_mistake(sandbox: Sandbox) -> None:
    config = sandbox.repo / ".git/config"
    whole = config.read_text()
    config.write_text(whole + "[core\n")
    said = sandbox.siding("run", "--", "true", status=1).stderr
    assert b"reading the configuration of git" in said
    assert b"bad config line" in said
    assert not (sandbox.directory / "siding/projects").exists(), "no project is made of it"
    config.write_text(whole)
    sandbox.siding("task", "start", "x")
    config.write_text(whole + "[core\n")
    said = sandbox.siding("task", "start", "y", status=1).stderr
    assert b"has no commit yet" not in said
    assert b"bad config line" in said


def test_a_checkout_that_a_run_called_bare(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "x")
    sandbox.siding("run", "--", "git", "config", "core.bare", "true")
    said = sandbox.siding("doctor", status=1).stdout
    assert b"core.bare is true in" in said
    assert f"git -C {sandbox.repo} config core.bare false".encode() in said
    sandbox.siding("run", "--", "sh", "-c", "echo new >new.txt")
    sandbox.siding("apply")
    assert (sandbox.repo / "new.txt").exists()
    sandbox.git("config", "core.bare", "false")
    assert sandbox.siding("doctor").stdout == b"everything agrees\n"


def test_a_directory_that_is_no_repository(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    done = sandbox.siding("run", "--", "true", cwd=tmp_path / "home", status=1)
    assert b"is not in a git repository" in done.stderr


def test_a_bare_repository(sandbox: Sandbox) -> None:
    bare = sandbox.directory / "bare.git"
    sandbox.git("clone", "-q", "--bare", str(sandbox.repo), str(bare))
    assert run_and_record(sandbox, cwd=bare) == ["new.txt"]


@pytest.mark.parametrize("git_dir", [".bare", ".git"])
def test_a_directory_with_a_bare_repository_and_worktrees(sandbox: Sandbox, git_dir: str) -> None:
    around = sandbox.directory / "around"
    sandbox.git("clone", "-q", "--bare", str(sandbox.repo), str(around / git_dir))
    if git_dir != ".git":
        (around / ".git").write_text(f"gitdir: ./{git_dir}\n")
    sandbox.git("worktree", "add", "-q", "main", "main", cwd=around)
    notes = around / "notes"
    notes.mkdir()
    refused = sandbox.siding("task", "start", "c", "--carry", cwd=around, status=2).stderr
    assert b"is bare" in refused
    assert f"{around}/main".encode() in refused
    assert sandbox.json("task", "list", "--all", "--format", "json", cwd=notes) == []
    assert run_and_record(sandbox, cwd=notes) == ["new.txt"]
    for verb in ("status", "today"):
        assert b"1 file" in sandbox.siding(verb, cwd=around).stdout
    sandbox.siding("apply", cwd=around)
    assert (around / "main/new.txt").read_text() == "new\n"
    (around / "main/mine.txt").write_text("mine\n")
    card = sandbox.siding("task", "start", "d", "--carry", cwd=around / "main").stderr
    assert b"1 file +1 -0" in card, "in one of its worktrees the changes are of that one"


def test_a_home_that_took_a_bare_layout_for_a_checkout_opens(sandbox: Sandbox) -> None:
    around = sandbox.directory / "around"
    sandbox.git("clone", "-q", "--bare", str(sandbox.repo), str(around / ".git"))
    sandbox.siding("-q", "task", "start", "x", cwd=around)
    document = sandbox.project / "project.json"
    earlier = {**json.loads(document.read_text()), "repo_root": str(around)}
    document.write_text(json.dumps(earlier))
    sandbox.project.rename(sandbox.project.with_name(project_dir_name(around)))
    assert run_and_record(sandbox, cwd=around) == ["new.txt"]
    assert sandbox.siding("doctor", cwd=around).stdout == b"everything agrees\n"


def test_a_work_tree_that_the_configuration_names(sandbox: Sandbox) -> None:
    real = sandbox.directory / "real"
    real.mkdir()
    sandbox.git("config", "core.worktree", str(real))
    sandbox.git("checkout", "-qf")
    (sandbox.repo / "hello.txt").unlink()
    done = sandbox.siding("task", "start", "x")
    assert b"left out" not in done.stderr
    assert run_and_record(sandbox) == ["new.txt"]
    sandbox.siding("apply")
    assert (real / "new.txt").read_text() == "new\n"
    assert sandbox.git("status", "--short") == ""


def test_a_detached_head(sandbox: Sandbox) -> None:
    sandbox.git("checkout", "-q", "--detach")
    assert run_and_record(sandbox) == ["new.txt"]
    task = sandbox.json("task", "show", "--format", "json")
    assert task["base_ref"] == task["base_commit"] == sandbox.git("rev-parse", "HEAD")


def test_a_linked_worktree_is_the_same_project(sandbox: Sandbox) -> None:
    linked = sandbox.directory / "linked"
    sandbox.git("worktree", "add", "-q", "-b", "side", str(linked))
    (linked / "side.txt").write_text("side\n")
    sandbox.git("add", "-A", cwd=linked)
    sandbox.git("commit", "-qm", "side", cwd=linked)
    assert run_and_record(sandbox, cwd=linked) == ["new.txt"]
    assert (sandbox.workspace() / "side.txt").exists()  # from where one stands
    assert len(list((sandbox.directory / "siding" / "projects").iterdir())) == 1


@pytest.mark.parametrize(
    "name", ["with space", "ünï-码", "-dash", "quo'te\"s", "new\nline", "co:lon"]
)
def test_a_path_of_any_name(tmp_path: Path, name: str) -> None:
    sandbox = Sandbox(tmp_path / name)
    (sandbox.repo / name).write_text("odd\n")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "odd name")
    sandbox.siding("run", "--", "sh", "-c", 'for f in *; do echo x >>"./$f"; done', status=None)
    (step,) = sandbox.steps()
    assert step["diff_stat"]["files"] == 2
    sandbox.siding("verify")
    sandbox.siding("task", "close", "--force")
    sandbox.siding("doctor")


def test_file_names_of_any_bytes(sandbox: Sandbox) -> None:
    code = (
        "import os\n"
        "for name in [b'tab\\there', b'new\\nline', b'bad\\xff', 'é'.encode(), b'-x', b' sp ']:\n"
        "    open(name, 'wb').write(name)\n"
    )
    sandbox.siding("run", "--", "python3", "-c", code)
    (step,) = sandbox.steps()
    assert sorted(step["diff_stat"]["file_list"]) == sorted(
        ['"tab\\there"', '"new\\nline"', '"bad\\377"', "é", "-x", '" sp "']
    )
    patch = sandbox.directory / "odd.patch"
    sandbox.siding("diff", "--step", "1", "--output", str(patch))
    sandbox.git("apply", str(patch))
    assert (Path(os.fsdecode(os.fsencode(sandbox.repo) + b"/bad\xff"))).read_bytes() == b"bad\xff"
    sandbox.siding("log")
    sandbox.siding("show", "1")


def test_submodules(sandbox: Sandbox) -> None:
    library = sandbox.directory / "library"
    sandbox.git("clone", "-q", str(sandbox.repo), str(library))
    sandbox.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "lib")
    sandbox.git("commit", "-qm", "with a library")
    done = sandbox.siding("task", "start", "sub")
    assert b"submodules: lib" in done.stderr
    assert run_and_record(sandbox) == ["new.txt"]
    update = ["git", "-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init"]
    sandbox.siding("run", "--", *update)
    sandbox.siding("run", "--", "sh", "-c", "echo changed >lib/hello.txt")
    step = sandbox.steps()[-1]
    assert step["diff_stat"]["file_list"] == ["lib/hello.txt"]
    assert step["coverage"]["nested"] == ["lib"]


def test_a_repository_inside_the_workspace(sandbox: Sandbox) -> None:
    script = "git init -q inner && cd inner && echo 1 >file && git add -A && git commit -qm inner"
    sandbox.siding("run", "--", "sh", "-c", script)
    (step,) = sandbox.steps()
    assert step["diff_stat"]["file_list"] == ["inner/file"]
    assert step["coverage"] == {"complete": False, "nested": ["inner"]}
    done = sandbox.siding("run", "--", "true")
    assert b"not everything was captured" in done.stderr


def test_large_files_without_git_lfs(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path, files={"README": "x\n"})
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 5\n"
    (sandbox.repo / "big.bin").write_text(pointer)
    sandbox.git("add", "-A")
    (sandbox.repo / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    sandbox.git("add", ".gitattributes")
    sandbox.git("commit", "-qm", "lfs")
    (sandbox.directory / "home" / ".gitconfig").write_text(
        '[filter "lfs"]\n\tclean = no-such-git-lfs clean -- %f\n'
        "\tsmudge = no-such-git-lfs smudge -- %f\n\tprocess = no-such-git-lfs filter-process\n"
        "\trequired = true\n"
    )
    done = sandbox.siding("task", "start", "lfs")
    assert b"files are pointers" in done.stderr
    assert (sandbox.workspace() / "big.bin").read_text() == pointer
    assert run_and_record(sandbox) == ["new.txt"]
    sandbox.siding("run", "--", "sh", "-c", "printf raw >big.bin")
    assert sandbox.steps()[-1]["diff_stat"]["file_list"] == ["big.bin"]


def test_a_sparse_checkout(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path, files={"in/a": "a\n", "out/b": "b\n", "top": "t\n"})
    sandbox.git("sparse-checkout", "set", "in")
    assert not (sandbox.repo / "out").exists()
    done = sandbox.siding("task", "start", "sparse")
    assert b"sparse" in done.stderr
    assert run_and_record(sandbox) == ["new.txt"]
    sandbox.siding("run", "--", "sh", "-c", "rm in/a")
    assert sandbox.steps()[-1]["diff_stat"]["file_list"] == ["in/a"]


@pytest.mark.parametrize("cone", [True, False])
def test_a_workspace_is_as_sparse_as_where_one_stands(tmp_path: Path, cone: bool) -> None:
    """In both directions; a fork is as its task, and one that is brought back as it was."""
    sandbox = Sandbox(tmp_path, files={"in/a": "a\n", "out/b": "b\n", "top": "t\n"})
    narrow = sandbox.directory / "narrow"
    sandbox.git("worktree", "add", "-q", "-b", "narrow", str(narrow))
    kind, rules = ("--cone", "in") if cone else ("--no-cone", "/in/")
    sandbox.git("sparse-checkout", "set", kind, "--sparse-index", rules, cwd=narrow)

    def has_all(task: str) -> bool:
        return (sandbox.workspace(task) / "out/b").exists()

    assert b"  sparse " in sandbox.siding("task", "start", "small", cwd=narrow).stderr
    sandbox.siding("fork", "fork-of-small", "-t", "small")
    assert b"  sparse " not in sandbox.siding("task", "start", "large").stderr
    sandbox.siding("fork", "fork-of-large", "-t", "large", cwd=narrow)
    tasks = ["small", "fork-of-small", "large", "fork-of-large"]
    assert [has_all(each) for each in tasks] == [False, False, True, True]
    for task in tasks:
        run = ("run", "-t", task, "--", "sh", "-c", "echo new >new.txt")
        sandbox.siding(*run)
        assert sandbox.steps(task)[-1]["diff_stat"]["file_list"] == ["new.txt"]
    sandbox.siding("task", "close", "small", "--force")
    sandbox.siding("task", "reopen", "small")
    assert not has_all("small")
    assert (sandbox.workspace("small") / "in/a").exists()
    sandbox.git("sparse-checkout", "set", "in")
    sandbox.git("sparse-checkout", "disable", cwd=narrow)
    sandbox.siding("task", "start", "other", cwd=narrow)
    assert has_all("other")


def test_a_shallow_clone(sandbox: Sandbox) -> None:
    sandbox.git("commit", "-q", "--allow-empty", "-m", "second")
    shallow = sandbox.directory / "shallow"
    sandbox.git("clone", "-q", "--depth", "1", f"file://{sandbox.repo}", str(shallow))
    done = sandbox.siding("task", "start", "shallow", cwd=shallow)
    assert b"this clone has no full history" in done.stderr
    assert run_and_record(sandbox, cwd=shallow) == ["new.txt"]


@pytest.mark.parametrize("autocrlf", ["true", "input", "false"])
def test_line_endings_are_kept_byte_for_byte(tmp_path: Path, autocrlf: str) -> None:
    sandbox = Sandbox(tmp_path, files={".gitattributes": "*.txt text\n", "a.txt": "one\ntwo\n"})
    sandbox.git("config", "core.autocrlf", autocrlf)
    code = "open('a.txt','wb').write(b'one\\r\\ntwo\\r\\n'); open('b.txt','wb').write(b'x\\r\\n')"
    sandbox.siding("run", "--", "python3", "-c", code)
    step = sandbox.steps()[-1]
    store = sandbox.project / "snapshots.git"
    kept = sandbox.git("-C", str(store), "cat-file", "-p", f"{step['snapshot']}:b.txt")
    assert kept == "x"  # stripped by the helper; the bytes are checked below
    size = sandbox.git("-C", str(store), "cat-file", "-s", f"{step['snapshot']}:b.txt")
    assert size == "3"
    assert sandbox.git("-C", str(store), "cat-file", "-s", f"{step['snapshot']}:a.txt") == "10"


def test_files_over_the_limit_are_named_and_left_out(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    config = sandbox.project / "config.yaml"
    config.write_text("snapshot: {max_file_size: 1KiB}\n")
    script = "head -c 4000 /dev/zero >big; echo small >small"
    done = sandbox.siding("run", "--", "sh", "-c", script)
    (step,) = sandbox.steps()
    assert step["diff_stat"]["file_list"] == ["small"]
    assert step["coverage"]["skipped"] == [{"path": "big", "reason": "too large", "size": 4000}]
    assert b"not everything was captured" in done.stderr
    assert b"left out  big: too large" in sandbox.siding("show", "1").stdout


def test_ignored_files_are_recorded_when_that_is_wanted(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path, files={".gitignore": "*.env\ncache/\n"})
    sandbox.siding("init")
    config = sandbox.project / "config.yaml"
    config.write_text("snapshot: {ignored: ['*.env']}\n")
    sandbox.siding("run", "--", "sh", "-c", "echo 1 >dev.env; mkdir cache; echo 2 >cache/x")
    (step,) = sandbox.steps()
    assert step["diff_stat"]["file_list"] == ["dev.env"]
    assert step["coverage"]["ignored"] == ["cache"]


def test_renames_modes_links_and_binaries(tmp_path: Path) -> None:
    text = "".join(f"line {n}\n" for n in range(50))
    sandbox = Sandbox(tmp_path, files={"old.txt": text, "run.sh": "#!/bin/sh\n", "gone": "x\n"})
    script = "mv old.txt new.txt; chmod +x run.sh; rm gone; ln -s run.sh link; printf 'a\\0b' >bin"
    sandbox.siding("run", "--", "sh", "-c", script)
    (step,) = sandbox.steps()
    assert step["diff_stat"]["file_list"] == ["bin", "gone", "link", "new.txt", "run.sh"]
    patch = sandbox.directory / "all.patch"
    sandbox.siding("diff", "--step", "1", "--output", str(patch))
    assert b"rename from old.txt" in patch.read_bytes()
    sandbox.git("apply", "--index", str(patch))
    assert (sandbox.repo / "bin").read_bytes() == b"a\0b"
    assert os.readlink(sandbox.repo / "link") == "run.sh"
    assert os.access(sandbox.repo / "run.sh", os.X_OK)
