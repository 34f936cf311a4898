"""What is gathered before the conversation, from real directories and by a real git."""

import asyncio
import os
from pathlib import Path

import pytest

from siding.assistant.briefing import base_text, context_parts, git_state, system_prompt
from siding.ground.git.command import Git
from siding.ground.git.discovery import find_repository

from .scenes import Scene


def test_an_empty_directory_has_an_environment_and_nothing_else(scene: Scene) -> None:
    found = scene.briefing(shell="/bin/bash")
    assert (found.instructions.files, found.instructions.omitted, found.git) == ((), (), None)
    prompt = system_prompt(found)
    assert prompt.stable == 1
    assert prompt.system[0] == base_text()
    assert len(prompt.system) == 2
    for line in (
        f"Workspace: {scene.root}",
        "In a git repository: no",
        "Shell: /bin/bash",
        "Model: scripted:x",
        f"Platform: {os.uname().sysname}",
    ):
        assert f"\n{line}" in prompt.system[1]


def test_the_state_of_git_is_told(scene: Scene) -> None:
    scene.write("a", "1")
    scene.commit()
    scene.commit("second\n\nwith a body")
    scene.write("a", "22")
    scene.write("new/file", "x")
    git = scene.briefing(task="Fix it", base="main").git
    assert git is not None
    assert (git.branch, git.task, git.base, git.problem) == ("main", "Fix it", "main", "")
    assert (git.status, git.more) == ((" M a", "?? new/"), 0)
    assert [each.partition(" ")[2] for each in git.commits] == ["second", "first"]
    scene.git("checkout", "-q", "--detach")
    detached = scene.briefing().git
    assert detached is not None
    assert (detached.branch, detached.commits) == ("", git.commits)


def test_a_repository_without_a_commit_has_a_branch(scene: Scene) -> None:
    scene.git("init", "-q", "-b", "begun")
    scene.write("a", "1")
    git = scene.briefing().git
    assert git is not None
    assert (git.branch, git.status, git.commits, git.problem) == ("begun", ("?? a",), (), "")


def test_without_git_the_rest_is_told(scene: Scene) -> None:
    scene.commit()
    scene.write("AGENTS.md", "said")
    place = scene.facts.place._replace(env={**scene.env, "PATH": "/nowhere"})
    found = scene.briefing(place=place)
    assert found.git is None
    assert found.environment.is_repository
    assert [each.text for each in found.instructions.files] == ["said"]


def test_nothing_of_the_repository_runs(scene: Scene, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    scene.write("a", "1")
    scene.write(".gitattributes", "* filter=evil diff=evil\n")
    scene.commit()
    evil = scene.write("evil", f"#!/bin/sh\necho $0 $@ >>{ran}\ncat\n")
    evil.chmod(0o755)
    for setting in ("core.fsmonitor", "core.pager", "filter.evil.clean", "filter.evil.smudge"):
        scene.git("config", setting, str(evil))
    for setting in (
        "filter.evil.process",
        "diff.evil.textconv",
        "gpg.program",
        "core.alternateRefsCommand",
    ):
        scene.git("config", setting, str(evil))
    scene.git("config", "log.showSignature", "true")
    scene.git("config", "filter.evil.required", "true")
    for hook in ("post-index-change", "reference-transaction", "fsmonitor-watchman"):
        path = scene.root / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(evil.read_bytes())
        path.chmod(0o755)
    scene.write("a", "2")
    git = scene.briefing().git
    assert git is not None
    assert git.status == (" M a", "?? evil")
    assert not ran.exists()


def test_a_git_that_does_not_answer_is_not_waited_for(scene: Scene) -> None:
    """git opens an ignore file, and waits for whoever would write into a pipe in its place."""
    scene.commit()
    os.mkfifo(scene.root / ".gitignore")
    git = Git.find(scene.env)
    state = asyncio.run(git_state(git, find_repository(scene.root), task="", base="", wait_s=0.2))
    assert state.branch == "main"
    assert len(state.commits) == 1
    assert "took longer than 0.2 s" in state.problem


def test_a_broken_repository_is_said_and_stops_nothing(scene: Scene) -> None:
    scene.commit()
    (scene.root / ".git" / "index").write_bytes(b"no index")
    scene.write("AGENTS.md", "said")
    found = scene.briefing()
    assert found.git is not None
    assert found.git.problem.startswith("Status: not known: ")
    assert "\n" not in found.git.problem
    assert [each.text for each in found.instructions.files] == ["said"]
    assert found.git.problem in system_prompt(found).system[-1]


def test_the_way_begins_at_the_root_of_the_repository(scene: Scene) -> None:
    scene.commit()
    for directory in (".", "a", "a/b", "a/c"):
        scene.write(f"{directory}/AGENTS.md", f"in {directory}")
    found = scene.briefing(
        place=scene.facts.place._replace(workspace=scene.root / "a"),
        directory=scene.root / "a" / "b",
    )
    assert [each.text for each in found.instructions.files] == ["in .", "in a", "in a/b"]
    assert "Directory that the person stands in" in system_prompt(found).system[-1]


def test_two_worktrees_of_a_project_share_what_lasts(scene: Scene) -> None:
    scene.write("AGENTS.md", "See @docs/x.md and @~/secret")
    scene.write("docs/x.md", "x")
    scene.write("~/.claude/CLAUDE.md", "own @~/y.md")
    scene.write("~/y.md", "y")
    scene.write("CLAUDE.local.md", "private")
    scene.write(".gitignore", "CLAUDE.local.md\n")
    scene.commit()
    prompts = []
    for name in ("one", "two"):
        path = scene.root.parent / name
        scene.git("worktree", "add", "-q", "-b", name, str(path))
        place = scene.facts.place._replace(workspace=path)
        found = scene.briefing(place=place, task=name)
        assert [each.text for each in found.instructions.files] == [
            "own @~/y.md",
            "y",
            "See @docs/x.md and @~/secret",
            "x",
            "private",
        ]
        prompts.append(system_prompt(found))
    one, two = prompts
    assert one.stable == two.stable == 2
    assert one.system[:2] == two.system[:2]
    assert one.system[2] != two.system[2]


def test_the_same_day_gives_the_same_prompt(scene: Scene) -> None:
    scene.commit()
    first = system_prompt(scene.briefing())
    assert system_prompt(scene.briefing()) == first
    scene.tomorrow()
    later = system_prompt(scene.briefing())
    assert later.system[: later.stable] == first.system[: first.stable]
    assert later.system != first.system


def test_options_replace_the_base_and_add_to_it(scene: Scene) -> None:
    scene.write("AGENTS.md", "said")
    found = scene.briefing()
    assert system_prompt(found, base="Be a poet.").system[0] == "Be a poet."
    assert (
        system_prompt(found, base="Be a poet.", more="Rhyme.").system[0] == "Be a poet.\n\nRhyme."
    )
    assert system_prompt(found, more="Rhyme.").system[0] == f"{base_text()}\n\nRhyme."
    empty = system_prompt(found, base="")
    assert empty.stable == 1
    assert empty.system[0].startswith("# Instructions")


def test_what_the_context_consists_of(scene: Scene) -> None:
    scene.write("AGENTS.md", "€" * 50_000 + "\n@../out.md")
    scene.write("CLAUDE.md", "@../out.md")
    found = scene.briefing()
    parts = context_parts(found, more="Rhyme.")
    assert [(each.name, each.origin, each.size) for each in parts] == [
        ("system prompt", "Siding", None),
        ("added to it", "the person's options", None),
        ("AGENTS.md", "the repository", 150_011),
        ("CLAUDE.md", "the repository", 10),
        ("../out.md", "the repository", None),
        ("environment", "Siding", None),
    ]
    assert [bool(each.note) for each in parts] == [False, False, True, False, True, False]
    shown = sum(map(len, system_prompt(found, more="Rhyme.").system))
    assert 0 < shown - sum(each.characters for each in parts) < 1500  # what is said around files
    for each in parts:
        assert each.tokens == each.characters // 4


@pytest.mark.parametrize("config", ["", "relative", "/absolute"])
def test_the_persons_settings_are_where_the_environment_says(scene: Scene, config: str) -> None:
    scene.write("~/.config/siding/AGENTS.md", "usual")
    other = scene.write("~/other/siding/AGENTS.md", "other").parents[1]
    env = {**scene.env, "XDG_CONFIG_HOME": str(other) if config == "/absolute" else config}
    found = scene.briefing(place=scene.facts.place._replace(env=env))
    wanted = "other" if config == "/absolute" else "usual"
    assert [each.text for each in found.instructions.files] == [wanted]
