"""How Codex is started to be held, and what its rollout proves of a prompt."""

import json
import os
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from siding.agents.codex.talking import TALKING
from siding.agents.talking.port import Hold, Opening, Proof, Sent
from unit.agents.codex.scenes import sent_by


def hold(tmp_path: Path, *options: str, settings: str = "", **fields: Any) -> Hold:
    home, workspace = tmp_path / "home", tmp_path / "w"
    (home / ".codex").mkdir(parents=True, exist_ok=True)
    workspace.mkdir(exist_ok=True)
    if settings:
        (home / ".codex" / "config.toml").write_text(settings)
    env = {"HOME": str(home)}
    made = Hold(program=("codex",), cwd=workspace, env=env, options=options)
    return made._replace(**fields)


def projects(opening: Opening) -> Mapping[str, Any]:
    *_, flag, setting = opening.argv
    assert flag == "-c"
    found: Mapping[str, Any] = tomllib.loads(setting)["projects"]
    return found


def thread(opening: Opening) -> Mapping[str, Any]:
    """Return what the thread is started with."""
    talker = opening.talker
    talker.to_send()
    talker.receive(b'{"id": 1, "result": {}}\n')
    _initialized, start = sent_by(talker)
    assert start["method"] == "thread/start"
    params: Mapping[str, Any] = start["params"]
    return params


def test_a_workspace_is_trusted_only_if_the_person_trusts_it(tmp_path: Path) -> None:
    there = str(tmp_path / "w")
    for level, settings in (
        ("untrusted", ""),
        ("untrusted", "[projects.'/elsewhere']\ntrust_level = 'trusted'\n"),
        ("trusted", f"[projects.'{there}']\ntrust_level = 'trusted'\n"),
        ("untrusted", f"[projects.'{there}']\ntrust_level = 'untrusted'\n"),
        ("untrusted", "this is no TOML"),
    ):
        opening = TALKING.opened(hold(tmp_path, settings=settings))
        assert projects(opening) == {there: {"trust_level": level}}
        assert not opening.why_not


def test_the_trust_in_a_checkout_counts_in_its_worktrees(tmp_path: Path) -> None:
    checkout, worktree = tmp_path / "repo", tmp_path / "w"
    checkout.mkdir()
    for words in ("init", "commit --allow-empty -m one", f"worktree add {worktree}"):
        who = ("-c", "user.name=A", "-c", "user.email=a@b")
        done = ["git", *who, *words.split()]
        subprocess.run(done, cwd=checkout, check=True, capture_output=True)
    said = f"[projects.'{checkout}']\ntrust_level = 'trusted'\n"
    opening = TALKING.opened(hold(tmp_path, settings=said))
    assert projects(opening) == {str(worktree): {"trust_level": "trusted"}}


def test_what_the_flags_say_of_projects_is_kept(tmp_path: Path) -> None:
    said = 'projects={"/other"={trust_level="trusted"}}'
    opening = TALKING.opened(hold(tmp_path, "-c", said))
    levels = {path: each["trust_level"] for path, each in projects(opening).items()}
    assert levels == {"/other": "trusted", str(tmp_path / "w"): "untrusted"}


def test_odd_names_of_directories_are_quoted(tmp_path: Path) -> None:
    workspace = tmp_path / "a \"b\" 'c' =é"
    workspace.mkdir()
    opening = TALKING.opened(hold(tmp_path, cwd=workspace))
    assert list(projects(opening)) == [str(workspace)]


def test_a_link_is_followed_as_codex_does(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "w")
    opening = TALKING.opened(hold(tmp_path, cwd=link))
    assert list(projects(opening)) == [str(tmp_path / "w")]
    assert thread(opening)["cwd"] == str(tmp_path / "w")


def test_flags_of_the_screen_become_fields_of_the_thread(tmp_path: Path) -> None:
    words = ("-m", "one", "--sandbox=read-only", "-a", "never", "--enable", "x", "-c", "a=1")
    opening = TALKING.opened(hold(tmp_path, *words))
    assert opening.argv[:6] == ("codex", "app-server", "--enable", "x", "-c", "a=1")
    params = thread(opening)
    assert (params["model"], params["sandbox"], params["approvalPolicy"]) == (
        *("one", "read-only", "never"),
    )
    opening = TALKING.opened(
        hold(tmp_path, *words, model="two", mode="auto", effort="low", text="x")
    )
    params = thread(opening)
    assert (params["model"], params["sandbox"], params["approvalPolicy"]) == (
        *("two", "workspace-write", "on-request"),
    )
    assert params["config"] == {"model_reasoning_effort": "low"}
    assert params["developerInstructions"] == "x"
    params = thread(TALKING.opened(hold(tmp_path, "--yolo")))
    assert (params["sandbox"], params["approvalPolicy"]) == ("danger-full-access", "never")


@pytest.mark.parametrize("flag", ["--search", "--profile=x", "-i", "a prompt"])
def test_a_flag_that_the_server_does_not_take_is_said(tmp_path: Path, flag: str) -> None:
    why_not = TALKING.opened(hold(tmp_path, flag)).why_not
    assert f"takes no {flag.partition('=')[0]};" in why_not


def test_its_own_screen_opens_the_conversation(tmp_path: Path) -> None:
    assert TALKING.own_screen(hold(tmp_path)) == ()
    words = TALKING.own_screen(hold(tmp_path, "-c", "a=1", session="an-id", model="m"))
    assert words == ("codex", "resume", "-c", "a=1", "-m", "m", "an-id")


# -- Proof -----------------------------------------------------------------------------------------

SENT = Sent(prompt="p1", text="Say it", turn=0, session="an-id")


def item(client_id: str) -> dict[str, Any]:
    said = {"type": "UserMessage", "client_id": client_id, "content": []}
    return {"type": "event_msg", "payload": {"type": "item_completed", "item": said}}


def message(words: str, role: str = "user") -> dict[str, Any]:
    content = [{"type": "input_text", "text": words}]
    return {
        "type": "response_item",
        "payload": {"type": "message", "role": role, "content": content},
    }


ROLLOUTS: Mapping[str, tuple[list[Any], Proof]] = {
    "nothing": ([], Proof.NOT_TAKEN),
    "its id": ([message("Say it"), item("p1"), message("Said.", "assistant")], Proof.TAKEN),
    "another's id": ([message("Say it"), item("p0")], Proof.NOT_TAKEN),
    "its text and no id yet": ([message("Say"), item("p0"), message("Say it\n")], Proof.UNSURE),
    "another text": ([message("Say"), item("p0"), message("Say so")], Proof.NOT_TAKEN),
    "its id in a text": ([message('{"client_id": "p1"}'), item("p0")], Proof.NOT_TAKEN),
    "what it said": ([message("Say it", "assistant")], Proof.NOT_TAKEN),
    "odd lines": (["[]", "{", '{"payload": 1, "client_id"}', item("p1")], Proof.TAKEN),
    "cut in its id": ([message("Say it"), json.dumps(item("p1"))[:-20]], Proof.UNSURE),
    "cut in its text": ([json.dumps(message("Say it"))[:-20]], Proof.NOT_TAKEN),
}


def written(tmp_path: Path, lines: list[Any], directory: str = "sessions/2026/11/28") -> None:
    place = tmp_path / "home" / ".codex" / directory
    place.mkdir(parents=True)
    text = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in lines)
    is_cut = bool(lines) and isinstance(lines[-1], str)
    path = place / f"rollout-2026-11-28T08-48-33-{SENT.session}.jsonl"
    path.write_text(text + ("" if is_cut or not lines else "\n"))


@pytest.mark.parametrize("case", list(ROLLOUTS))
def test_what_a_rollout_proves(tmp_path: Path, case: str) -> None:
    lines, proof = ROLLOUTS[case]
    made = hold(tmp_path)
    assert TALKING.proof(SENT, made) is Proof.NOT_TAKEN  # there is no rollout
    written(tmp_path, lines)
    before = sorted(os.walk(tmp_path))
    assert TALKING.proof(SENT, made) is proof
    assert TALKING.proof(SENT._replace(session=""), made) is Proof.NOT_TAKEN
    assert sorted(os.walk(tmp_path)) == before


def test_a_rollout_in_the_archive_proves_and_one_that_cannot_be_read_does_not(
    tmp_path: Path,
) -> None:
    made = hold(tmp_path)
    written(tmp_path, [message("Say it"), item("p1")], "archived_sessions")
    assert TALKING.proof(SENT, made) is Proof.TAKEN
    (path,) = tmp_path.glob("home/.codex/archived_sessions/*")
    path.unlink()
    path.mkdir()
    assert TALKING.proof(SENT, made) is Proof.UNSURE
