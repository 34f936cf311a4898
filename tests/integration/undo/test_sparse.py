"""What a sparse checkout keeps off the disk is not written there by going back."""

import pytest

from sandbox import Sandbox

WRITES = (  # after `git status` the index has the file like any other one
    "mkdir -p src && echo theirs >src/a.py && echo new >src/new && git status -s"
)
COMMITS = f"{WRITES} && git add --sparse src && git commit -qm theirs && echo more >src/a.py"
REMOVES = "git rm -q --sparse --cached src/a.py"


def on_disk(sandbox: Sandbox) -> set[str]:
    root = sandbox.workspace()
    return {str(p.relative_to(root)) for p in root.rglob("*") if p.name != ".git"}


def flags(sandbox: Sandbox) -> list[str]:
    """The tracked paths, each with git's letter; `S` is kept off the disk."""
    return sandbox.git("ls-files", "-t", cwd=sandbox.workspace()).splitlines()


@pytest.mark.parametrize("script", [WRITES, COMMITS, REMOVES])
def test_what_the_base_did_not_have_on_disk_goes(sandbox: Sandbox, script: str) -> None:
    sandbox.git("sparse-checkout", "set", "--no-cone", "/hello.txt")
    sandbox.siding("-q", "task", "start", "x")
    base = (on_disk(sandbox), flags(sandbox))
    assert base[0] == {"hello.txt"}
    assert "S src/a.py" in base[1]
    sandbox.siding("-q", "run", "--", "sh", "-c", script)
    theirs = (on_disk(sandbox), flags(sandbox))
    assert b"write" not in sandbox.siding("rollback", "--base", "--dry-run").stdout
    for words, state in (
        (("rollback", "--base"), base),
        (("undo",), theirs),
        (("redo",), base),
        (("undo",), theirs),
        (("undo",), base),
    ):
        assert b"not as planned" not in sandbox.siding(*words).stderr
        assert (on_disk(sandbox), flags(sandbox)) == state, words
        if state is base:
            assert sandbox.git("status", "--porcelain", cwd=sandbox.workspace()) == ""
            assert sandbox.siding("diff", "--stat").stdout == b"no change\n"
        elif script != REMOVES:
            content = (sandbox.workspace() / "src/a.py").read_text()
            assert content == ("more\n" if script == COMMITS else "theirs\n")
    assert b"is whole" in sandbox.siding("verify").stdout


def test_a_file_that_was_there_with_other_content_comes_back(sandbox: Sandbox) -> None:
    sandbox.git("sparse-checkout", "set", "--no-cone", "/hello.txt")
    sandbox.siding("-q", "task", "start", "x")
    for text in ("one", "two"):
        sandbox.siding("-q", "run", "--", "sh", "-c", f"mkdir -p src && echo {text} >src/a.py")
    sandbox.siding("-q", "rollback", "--step", "1")
    assert (sandbox.workspace() / "src/a.py").read_text() == "one\n"
    sandbox.siding("-q", "rollback", "--base", "--files")  # the index stays, and has it
    assert (sandbox.workspace() / "src/a.py").exists()
