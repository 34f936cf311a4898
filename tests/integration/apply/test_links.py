"""Repositories inside the workspace that the agent has committed: a link without `.gitmodules` does
not go in, and a submodule does."""

from .conftest import Stage

NESTED = "git init -q app; echo a >app/i; git -C app add -A; git -C app commit -qm i"
SCAFFOLD = f"{NESTED}; git add -A 2>&1; echo more >>hello.txt; git commit -qam scaffold"


def test_a_link_that_no_gitmodules_names_is_left_out_in_every_mode(stage: Stage) -> None:
    stage.agent(SCAFFOLD)
    stage.agent(
        "git config -f .gitmodules submodule.app.path elsewhere;"
        " git config -f .gitmodules submodule.app.url ../app"
    )
    preview = stage.apply("--dry-run")
    assert "left out  app  (the agent committed a link" in preview
    assert "A  app" not in preview
    stage.git("init", "-q", "--bare", "../remote.git")
    stage.git("remote", "add", "origin", "../remote.git")
    said = stage.box.siding("pr").stderr.decode()
    assert "left out: app (the agent committed a link" in said
    branch = stage.git("branch", "--show-current", cwd=stage.workspace)
    pushed = stage.git("rev-parse", f"refs/remotes/origin/{branch}")
    assert "app" not in stage.files(pushed)
    assert "160000" not in stage.git("log", "--raw", "--no-abbrev", "--format=", pushed)
    merging = stage.box.siding("apply", "--mode", "merge", status=1).stderr.decode()
    assert "link to app, a repository that no .gitmodules names" in merging
    assert "--mode squash leave the link out" in merging
    for mode in ("commit", "squash"):
        said = stage.apply("--mode", mode)
        assert "`git add` its files" in said
        assert "stays open" in said
        assert "app" not in stage.files()
        stage.git("submodule", "status")
        stage.box.siding("undo")
    stage.apply("--mode", "commit")
    (scaffold,) = (s for s in stage.git("log", "--format=%h %s").splitlines() if "scaffold" in s)
    assert "app" not in stage.files(scaffold.split()[0])
    (stage.repo / "theirs").write_text("theirs\n")
    stage.git("add", "theirs")
    stage.git("commit", "-qm", "theirs")
    stage.box.siding("sync")
    assert "160000" in stage.git("ls-files", "-s", "app", cwd=stage.workspace)
    stage.agent("rm -rf app/.git; git rm -q --cached app; git add app; git commit -qm files")
    stage.apply()
    assert "app/i" in stage.files()


def test_a_link_of_a_commit_in_between_goes_in_with_no_mode(stage: Stage) -> None:
    """The agent has noticed, and has taken it away again: its earlier commit still has it."""
    stage.agent(f"{SCAFFOLD}; echo b >app/i; git -C app commit -qam ii; git commit -qam moved")
    stage.agent("rm -rf app/.git; git rm -q --cached app; git add app; git commit -qm files")
    stage.box.siding("apply", "--mode", "merge", status=1)
    stage.git("init", "-q", "--bare", "../remote.git")
    stage.git("remote", "add", "origin", "../remote.git")
    said = stage.box.siding("pr").stderr.decode()
    assert "left out: app (a commit links to this repository" in said
    branch = stage.git("branch", "--show-current", cwd=stage.workspace)
    pushed = stage.git("rev-parse", f"refs/remotes/origin/{branch}")
    assert "160000" not in stage.git("log", "--raw", "--no-abbrev", "--format=", pushed)
    assert "app/i" in stage.files(pushed)
    stage.apply("--mode", "commit", "--no-close")
    subjects = stage.git("log", "--format=%s").split()
    assert subjects[:2] == ["files", "scaffold"]
    for commit in ("HEAD", "HEAD~1"):
        assert "160000" not in stage.git("ls-tree", "-r", commit)
    assert stage.show("app/i") == "b\n"


def test_a_submodule_that_the_agent_added_goes_in_and_the_task_is_closed(stage: Stage) -> None:
    lib = stage.repo.parent / "lib"
    stage.git("init", "-q", str(lib))
    stage.git("commit", "-q", "--allow-empty", "-m", "lib", cwd=lib)
    add = f"git -c protocol.file.allow=always submodule --quiet add {lib} lib"
    stage.agent(f"{add}; git commit -qm lib; echo more >>hello.txt")
    assert "left out" not in stage.apply("--dry-run")
    merged = stage.apply("--mode", "merge", "--no-close")
    assert "left out" not in merged
    stage.box.siding("undo")
    said = stage.apply()
    assert "left out" not in said
    assert "closed task" in said
    assert f"160000 {stage.git('rev-parse', 'HEAD', cwd=lib)}" in stage.git("ls-files", "-s", "lib")
    assert stage.status() == []


def test_files_that_were_there_before_a_repository_was_begun_around_them(stage: Stage) -> None:
    stage.agent(
        "cd src; git init -q; echo changed >a.py; echo new >b.py; git add -A; git commit -qm i;"
        " cd ..; git rm -rq --cached src; git add -A 2>&1; git commit -qm link"
    )
    assert "160000" in stage.git("ls-files", "-s", "src", cwd=stage.workspace)
    assert "left out" not in stage.apply()
    assert (stage.show("src/a.py"), stage.show("src/b.py")) == ("changed\n", "new\n")
    assert stage.status() == []
