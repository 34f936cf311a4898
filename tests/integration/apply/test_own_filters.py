"""Filters and merge drivers that the repository's own configuration names (git-crypt, transcrypt,
`git lfs install --local`): off, named and refused until a person trusts exactly these commands."""

import pytest

from sandbox import Sandbox

from .conftest import Stage

# It encrypts about as well as a test needs: what is stored is never the word on disk.
ROT13 = "tr a-zA-Z n-za-mN-ZA-M"
WORD, STORED = "hunter", "uhagre"


@pytest.fixture
def crypt(sandbox: Sandbox) -> Stage:
    """A repository whose own configuration encrypts `secret.*`; the checkout has them decoded."""
    stage = Stage(sandbox)
    configure(stage, "clean", ROT13)
    configure(stage, "smudge", ROT13)
    (stage.repo / ".gitattributes").write_text("secret.* filter=crypt\n")
    (stage.repo / "secret.env").write_text(f"{WORD}\n")
    stage.git("add", "-A")
    stage.git("commit", "-qm", "secrets")
    assert stage.show("secret.env") == f"{STORED}\n"
    (stage.repo / "secret.env").touch()  # so git has to compare it, by the filter
    return stage


def configure(stage: Stage, key: str, command: str) -> None:
    stage.git("config", f"filter.crypt.{key}", command)


def trust(stage: Stage) -> str:
    return stage.box.siding("trust").stdout.decode()


def test_what_would_be_stored_in_clear_is_refused_until_the_filter_is_trusted(crypt: Stage) -> None:
    said = crypt.box.siding("task", "start", "x", "--carry").stderr.decode()
    crypt.task = str(crypt.box.json("task", "show", "--format", "json")["id"])
    assert "crypt: secret.* (1 file)" in said
    assert "left out" not in said
    assert "carried   " not in said
    assert "not carried: secret.env, whose filter is off" in said
    crypt.git("worktree", "add", "-q", "-b", "mine", "../mine")
    adopt = crypt.box.siding("worktree", "adopt", "../mine", status=5)
    assert b"'crypt'" in adopt.stderr  # else each decoded file would count as changed
    crypt.agent("echo word >secret.new; echo more >>hello.txt")
    before = crypt.everything()
    remote = crypt.repo.parent / "remote.git"
    crypt.git("init", "-q", "--bare", str(remote))
    crypt.git("remote", "add", "origin", str(remote))
    for command in (
        ("apply",),
        ("apply", "--dry-run"),
        ("apply", "--mode", "patch"),
        ("apply", "--mode", "patch", "--output", "-"),
        ("apply", "--if", "true"),
        ("pr",),
        ("phase", "start", "impl", "begun"),
    ):
        done = crypt.box.siding(*command, status=5)
        assert b"secret.new goes through the filter 'crypt'" in done.stderr, command
        assert b"siding trust" in done.stderr
    assert crypt.everything() == before
    inside = crypt.box.siding("run", "--", "siding", "trust", status=None)
    assert b"a person's to allow" in inside.stdout + inside.stderr
    assert f"clean: {ROT13}" in trust(crypt)
    crypt.apply()
    assert crypt.show("secret.new") == "jbeq\n"
    assert (crypt.repo / "secret.new").read_text() == "word\n"
    assert crypt.status() == []


def test_a_changed_command_is_off_again_and_nothing_is_written_in_its_stored_form(
    crypt: Stage,
) -> None:
    crypt.start()
    trust(crypt)
    crypt.start()  # a workspace that was made with the filter
    assert (crypt.workspace / "secret.env").read_text() == f"{WORD}\n"
    crypt.agent("echo two >>secret.env")
    crypt.apply("--no-close")
    assert crypt.show("secret.env") == f"{STORED}\ngjb\n"
    assert (crypt.repo / "secret.env").read_text() == f"{WORD}\ntwo\n"
    configure(crypt, "clean", f"{ROT13}; true")
    done = crypt.box.siding("undo", status=5)
    assert b"through the filter" in done.stderr
    assert (crypt.repo / "secret.env").read_text() == f"{WORD}\ntwo\n"
    trust(crypt)
    crypt.box.siding("undo")
    assert (crypt.repo / "secret.env").read_text() == f"{WORD}\n"
    crypt.box.siding("trust", "--revoke")
    assert "not allowed yet" in crypt.box.siding("trust", "--show").stdout.decode()


def test_a_workspace_from_before_the_trust_has_the_stored_form(crypt: Stage) -> None:
    crypt.start()
    assert (crypt.workspace / "secret.env").read_text() == f"{STORED}\n"
    trust(crypt)
    crypt.agent("echo two >>secret.env; cp secret.env secret.copy")
    said = crypt.apply(status=1)
    assert "secret.env was changed in the form in which the filter 'crypt' stores it" in said
    crypt.agent("git show HEAD:secret.env >secret.copy; mv secret.copy secret.moved; rm secret.env")
    crypt.apply("--no-close")  # as it is stored: not a second time through the filter
    assert crypt.show("secret.moved") == f"{STORED}\n"
    assert (crypt.repo / "secret.moved").read_text() == f"{WORD}\n"
    crypt.agent("echo written anew >secret.env")
    crypt.apply()
    assert crypt.show("secret.env") == "jevggra narj\n"
    assert crypt.status() == []


def test_what_the_branch_brings_in_waits_as_well(crypt: Stage) -> None:
    crypt.start()
    crypt.agent("echo more >>hello.txt")
    (crypt.repo / "secret.env").write_text("changed\n")
    (crypt.repo / "hello.txt").write_text("other\nhello\n")
    crypt.git("commit", "-qam", "on")
    for command in (("sync", "--dry-run"), ("sync",)):
        assert b"secret.env goes" in crypt.box.siding(*command, status=5).stderr, command
    trust(crypt)
    crypt.box.siding("sync")
    assert (crypt.workspace / "secret.env").read_text() == "changed\n"
    assert crypt.box.siding("diff", "--stat").stdout.split()[-1:] == [b"-0"]
    crypt.apply()
    assert crypt.show("secret.env") == "punatrq\n"
    assert crypt.show("hello.txt") == "other\nhello\nmore\n"


def test_a_filter_that_fails_stores_nothing_even_if_it_is_not_required(crypt: Stage) -> None:
    """git stores a file as it is where such a filter fails; Siding does not."""
    configure(crypt, "clean", 'test -n "$KEY" && tr a-z n-za-m')
    trust(crypt)
    crypt.start()
    crypt.agent("echo word >secret.new")
    assert "filter" in crypt.apply(status=1)
    crypt.apply(env={"KEY": "1"})
    assert crypt.show("secret.new") == "jbeq\n"


def test_a_program_that_an_agent_wrote_is_never_the_filter(crypt: Stage) -> None:
    """A bare repository has no checkout in which a relative command would mean the person's own."""
    for key in ("clean", "smudge"):
        configure(crypt, key, "./rot13")
    (crypt.repo / "rot13").write_text(f"#!/bin/sh\n{ROT13}\n")
    (crypt.repo / "rot13").chmod(0o755)
    crypt.git("add", "rot13")
    crypt.git("commit", "-qm", "its program")
    fired = crypt.repo.parent / "fired"
    plant = f"printf '#!/bin/sh\\ntouch {fired}; cat\\n' >rot13; echo word >secret.new"
    trust(crypt)
    crypt.start()
    crypt.agent(plant)
    crypt.apply("--paths", "secret.new")
    assert crypt.show("secret.new") == "jbeq\n"
    bare = crypt.repo.parent / "bare"
    crypt.git("clone", "-q", "--bare", ".", str(bare))
    for key in ("clean", "smudge"):
        crypt.git("-C", str(bare), "config", f"filter.crypt.{key}", "./rot13")
    crypt.box.siding("trust", cwd=bare)
    for command in (("task", "start", "y"), ("run", "--", "sh", "-c", plant), ("apply",)):
        crypt.box.siding(*command, cwd=bare, status=None)
    assert "gjb" not in crypt.git("-C", str(bare), "log", "-p", "main")
    assert not fired.exists()


PLANTED = {
    "on a condition": 'git config includeIf.onbranch:siding/**.path "$HOME/inc"',
    "of the worktree": "git config extensions.worktreeConfig true;"
    ' git config --worktree filter.x.clean "$FIRE"',
    "with an equals sign": 'git config "filter.a=b.clean" "$FIRE"',
    "merge driver": 'git config merge.x.driver "$FIRE"',
}


@pytest.mark.parametrize("how", PLANTED)
def test_nothing_that_was_planted_runs(stage: Stage, how: str) -> None:
    (stage.repo / "text.txt").write_text((stage.repo / "text.txt").read_text() + "theirs\n")
    stage.git("commit", "-qam", "theirs")
    home = stage.repo.parent / "home"
    fire = f"touch {home}/fired; cat"
    (home / "inc").write_text(f'[filter "x"]\n\tclean = "{fire}"\n')
    plant = f"export HOME={home} FIRE='{fire}'; {PLANTED[how]}"
    driver = {"with an equals sign": "filter=a=b", "merge driver": "merge=x"}
    line = f"* {driver.get(how, 'filter=x')}"
    stage.agent(f"{plant}; echo '{line}' >\"$(git rev-parse --git-common-dir)/info/attributes\"")
    stage.agent("sed -i 's/line 1$/mine/' text.txt")
    stage.box.siding("phase", "start", "impl", "begun", status=None)
    stage.box.siding("phase", "next-step", "went on", status=None)
    done = stage.box.siding("apply", "-t", stage.task, status=None)
    assert not (home / "fired").exists()
    if how != "of the worktree":  # to git in the checkout there is no such filter
        assert b"of this repository's own configuration" in done.stderr
