"""What arrives: kinds of files, conversions of the person's git, submodules, shallow clones."""

import os
import subprocess
from pathlib import Path

import pytest

from sandbox import Sandbox

from .conftest import Stage


def restage(stage: Stage, message: str = "again") -> None:
    """Commit what is there and begin a task upon it."""
    stage.git("add", "-A")
    stage.git("commit", "-qm", message)
    stage.start()


def test_binary_mode_and_links(stage: Stage) -> None:
    stage.agent("printf '\\0\\1\\377' >bin.dat; chmod +x run.sh; ln -s run.sh link; rm src/a.py")
    stage.apply()
    assert stage.show("bin.dat") == "\0\1\xff"
    listed = [line.split() for line in stage.git("ls-tree", "-r", "main").splitlines()]
    modes = {words[3]: words[0] for words in listed}
    assert modes["run.sh"] == "100755"
    assert modes["link"] == "120000"
    assert "src/a.py" not in modes
    assert stage.status() == []
    assert os.readlink(stage.repo / "link") == "run.sh"


def test_binary_changed_on_both_sides_is_a_conflict(stage: Stage) -> None:
    (stage.repo / "bin.dat").write_bytes(b"\0one")
    restage(stage)
    stage.agent("printf '\\0two' >bin.dat")
    (stage.repo / "bin.dat").write_bytes(b"\0three")
    stage.git("commit", "-qam", "three")
    assert "conflict  bin.dat" in stage.apply(status=1)


def test_rename_here_edit_there(stage: Stage) -> None:
    stage.agent("git mv text.txt renamed.txt; git commit -qm renamed")
    path = stage.repo / "text.txt"
    path.write_text(path.read_text().replace("line 5\n", "mine\n"))
    stage.git("commit", "-qam", "mine")
    stage.apply()
    assert "mine\n" in stage.show("renamed.txt")
    assert "text.txt" not in stage.files()
    assert stage.status() == []


def test_a_file_becomes_a_directory_and_back(stage: Stage) -> None:
    stage.agent("rm hello.txt; mkdir hello.txt; echo in >hello.txt/in; rm -r src; echo f >src")
    stage.apply()
    assert stage.show("hello.txt/in") == "in\n"
    assert stage.show("src") == "f\n"
    assert stage.status() == []


def test_names_of_any_bytes(stage: Stage) -> None:
    names = [b"new\nline", b"tab\t", b"\xff\xfe", b"-dash", b'q"uote', b" space "]
    for name in names:
        with open(os.fsencode(stage.workspace) + b"/" + name, "wb") as file:
            file.write(b"x\n")
        directory = os.fsencode(stage.workspace) + b"/d" + name
        os.mkdir(directory)
        with open(directory + b"/" + name, "wb") as file:
            file.write(b"y\n")
    stage.apply()
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "-z", "--name-only", "main"],
        cwd=stage.repo,
        env=stage.box.env,
        capture_output=True,
        check=True,
    ).stdout.split(b"\0")
    assert {*names, *(b"d" + name + b"/" + name for name in names)} <= set(listed)
    assert stage.status() == []


@pytest.mark.parametrize("how", ["autocrlf", "attributes"])
def test_line_endings_are_stored_as_git_would(sandbox: Sandbox, how: str) -> None:
    """The snapshot holds CRLF, as it is on disk; the commit must not."""
    stage = Stage(sandbox)
    (stage.repo / "text.txt").write_bytes(b"1\n2\n3\n")
    (stage.repo / "old.txt").write_bytes(b"kept\r\nas it is\r\n")
    stage.git("add", "-A")
    stage.git("commit", "-qm", "as it is")
    if how == "autocrlf":
        stage.git("config", "--global", "core.autocrlf", "true")
    else:
        (stage.repo / ".gitattributes").write_text("text.txt text=auto eol=crlf\nnew.txt text\n")
        stage.git("add", "-A")
        stage.git("commit", "-qm", "attributes")
    stage.git("rm", "-q", "--cached", "text.txt")
    stage.git("reset", "-q", "--hard")
    assert (stage.repo / "text.txt").read_bytes() == b"1\r\n2\r\n3\r\n"
    stage.start()
    assert (stage.workspace / "text.txt").read_bytes() == b"1\r\n2\r\n3\r\n"
    stage.agent("printf '4\\r\\n' >>text.txt; printf 'a\\r\\nb\\r\\n' >new.txt")
    stage.agent("printf 'more\\r\\n' >>old.txt")
    said = stage.apply("--dry-run")
    assert "+1 -0" in said or "+4 -0" in said
    stage.apply()
    assert stage.show("text.txt") == "1\n2\n3\n4\n"
    assert stage.show("new.txt") == "a\nb\n"
    assert stage.show("old.txt") == "kept\r\nas it is\r\nmore\r\n"
    assert stage.status() == []
    assert (stage.repo / "text.txt").read_bytes() == b"1\r\n2\r\n3\r\n4\r\n"


def test_the_agents_own_attributes_count(stage: Stage) -> None:
    stage.agent("echo '*.win text eol=crlf' >.gitattributes; printf 'a\\r\\nb\\r\\n' >x.win")
    stage.apply()
    assert stage.show("x.win") == "a\nb\n"
    assert (stage.repo / "x.win").read_bytes() == b"a\r\nb\r\n"
    assert stage.status() == []


LFS = """#!/bin/sh
# What git-lfs does, without a server: the content aside, a pointer into the commit.
store="$HOME/lfs"; mkdir -p "$store"
case "$1" in
clean) cat >"$store/in.$$"; oid=$(sha256sum <"$store/in.$$" | cut -d' ' -f1)
  size=$(wc -c <"$store/in.$$"); mv "$store/in.$$" "$store/$oid"
  printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize %s\\n' "$oid" "$size";;
smudge) oid=$(sed -n 's/^oid sha256://p'); cat "$store/$oid";;
esac
"""


def install_lfs(stage: Stage) -> Path:
    tool = Path(stage.box.env["HOME"]) / "bin" / "lfs-of-the-test"
    tool.parent.mkdir()
    tool.write_text(LFS)
    tool.chmod(0o755)
    stage.box.env["PATH"] = f"{tool.parent}:{stage.box.env['PATH']}"
    for key, value in (
        ("clean", f"{tool.name} clean"),
        ("smudge", f"{tool.name} smudge"),
        ("required", "true"),
    ):
        stage.git("config", "--global", f"filter.lfs.{key}", value)
    (stage.repo / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    (stage.repo / "big.bin").write_bytes(b"big\r\n" * 1000)
    restage(stage, "lfs")
    return tool


def test_lfs_files_go_in_as_pointers(stage: Stage) -> None:
    install_lfs(stage)
    assert (stage.workspace / "big.bin").read_bytes() == b"big\r\n" * 1000
    stage.agent("printf 'small\\r\\n' >new.bin; printf 'more' >>big.bin")
    stage.apply()
    assert stage.show("new.bin").startswith("version https://git-lfs")
    assert stage.show("big.bin").startswith("version https://git-lfs")
    assert (stage.repo / "new.bin").read_bytes() == b"small\r\n"
    assert (stage.repo / "big.bin").read_bytes() == b"big\r\n" * 1000 + b"more"
    assert stage.status() == []


def test_a_missing_filter_is_no_reason_to_commit_the_content(stage: Stage) -> None:
    tool = install_lfs(stage)
    stage.agent("printf 'small\\r\\n' >new.bin; echo x >x.txt")
    tool.unlink()
    before = stage.everything()[1:]
    assert "'lfs'" in stage.apply(status=1)
    assert stage.everything()[1:] == before
    stage.apply("--paths", "x.txt")
    assert stage.show("x.txt") == "x\n"


def test_a_submodule_that_moved(stage: Stage, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "one"]):
        stage.git(*command, cwd=library)
    stage.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "lib")
    restage(stage, "with a library")
    stage.agent(
        "git -c protocol.file.allow=always submodule update -q --init; cd lib; "
        "echo in >in.txt; git add .; git commit -qm 'in the library'; cd ..; echo x >x.txt"
    )
    moved = stage.git("rev-parse", "HEAD", cwd=stage.workspace / "lib")
    said = stage.apply("--no-close")
    assert "submodule 'lib'" in said
    assert moved in stage.git("ls-tree", "main", "lib")
    assert stage.show("x.txt") == "x\n"
    assert "lib/in.txt" not in stage.files()


def test_a_repository_inside_is_left_out_and_said(stage: Stage) -> None:
    stage.agent(
        "git init -q inner; cd inner; echo i >i; git add .; git commit -qm inner; cd ..; echo x >x"
    )
    said = stage.apply()
    assert "left out: inner" in said
    assert "stays open" in said
    assert stage.files() == ["hello.txt", "run.sh", "src/a.py", "text.txt", "x"]
    assert stage.workspace.exists()


def test_a_shallow_clone(sandbox: Sandbox, tmp_path: Path) -> None:
    for number in range(3):
        (sandbox.repo / "hello.txt").write_text(f"{number}\n")
        sandbox.git("commit", "-qam", f"commit {number}")
    clone = tmp_path / "clone"
    sandbox.git("clone", "-q", "--depth=1", f"file://{sandbox.repo}", str(clone), cwd=tmp_path)
    sandbox.repo = clone
    stage = Stage(sandbox)
    stage.start()
    stage.agent("echo agent >>hello.txt; git commit -qam agent; echo rest >rest")
    (clone / "mine").write_text("mine\n")
    stage.git("add", "mine")
    stage.git("commit", "-qm", "mine")
    stage.apply()
    assert stage.subjects()[:3] == ["Fix the parser", "agent", "mine"]
    assert stage.show("hello.txt") == "2\nagent\n"
    assert stage.git("fsck", "--no-dangling") == "", "the task's branch is gone"


def test_a_bare_repository(sandbox: Sandbox, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    sandbox.git("clone", "-q", "--bare", str(sandbox.repo), str(bare), cwd=tmp_path)
    sandbox.repo = bare
    stage = Stage(sandbox)
    stage.start("--base", "main")
    stage.agent("echo agent >>hello.txt")
    stage.apply()
    assert stage.show("hello.txt") == "hello\nagent\n"


def test_merge_drivers_of_attributes_are_used(stage: Stage) -> None:
    (stage.repo / ".gitattributes").write_text("CHANGES merge=union text\n")
    (stage.repo / "CHANGES").write_text("first\n")
    restage(stage)
    stage.agent("echo agent >>CHANGES")
    (stage.repo / "CHANGES").write_text("first\nmine\n")
    stage.git("commit", "-qam", "mine")
    stage.apply()
    assert sorted(stage.show("CHANGES").split()) == ["agent", "first", "mine"]


def test_what_took_the_place_of_a_committed_file_goes_in(stage: Stage) -> None:
    """Committed as a file, then a directory; committed in a directory, then behind a link."""
    stage.agent(
        "mkdir d; echo 1 >d/x; echo 2 >f; git add .; git commit -qm both; "
        "rm -r d f; mkdir f; echo in >f/x; ln -s f d"
    )
    stage.apply()
    assert {"d", "f/x"} < set(stage.files())
    assert not {"d/x", "f"} & set(stage.files())
    assert stage.show("f/x") == "in\n"
    assert stage.show("d") == "f"
