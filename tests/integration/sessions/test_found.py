"""Sessions in the homes of three clients: listed, shown, searched and exported without import."""

import hashlib
import json
from pathlib import Path

import pytest

from client_homes import bytes_below, fill, put, session_id
from sandbox import Sandbox

CLIENTS = ("claude", "codex", "gemini")
every_client = pytest.mark.parametrize("client", CLIENTS)


def home_of(sandbox: Sandbox) -> Path:
    return sandbox.directory / "home"


def ids(sandbox: Sandbox, *words: str) -> list[str]:
    rows = sandbox.json("session", "list", *words, "--format", "json")
    return [each["id"] for each in rows]


def test_sessions_of_three_clients_are_there_before_init_and_their_homes_stay(
    sandbox: Sandbox,
) -> None:
    home = home_of(sandbox)
    fill(home, 500)
    here = [
        put(home, client, 900 + number, cwd=str(sandbox.repo), prompt=f"zebra of {client}")
        for number, client in enumerate(CLIENTS)
    ]
    before = bytes_below(home)
    rows = sandbox.json("session", "list", "--format", "json")
    assert {each["path"] for each in rows} == {str(path) for path in here}
    assert {each["client"] for each in rows} == set(CLIENTS)
    assert len(ids(sandbox, "--all")) == 503
    table = sandbox.siding("session", "list").stdout.decode()
    assert all(f"zebra of {client}" in table for client in CLIENTS)
    for number, client in enumerate(CLIENTS):
        name = session_id(900 + number)
        shown = sandbox.siding("session", "show", name).stdout.decode()
        assert f"zebra of {client}" in shown
        sandbox.siding("session", "resume", name)
        sandbox.siding("session", "export", name, "--to", client, "-o", "out", "--no-redact")
    assert bytes_below(home) == before
    written = {path.read_bytes() for path in (sandbox.repo / "out").rglob("*.jsonl")}
    assert written == {path.read_bytes() for path in here}
    assert not (sandbox.directory / "siding" / "projects").exists()


def test_the_repository_one_stands_in_is_what_is_listed(sandbox: Sandbox) -> None:
    home = home_of(sandbox)
    other = sandbox.directory / "other worktree"
    sandbox.git("worktree", "add", "-q", "-b", "other", str(other))
    put(home, "claude", 1, cwd=str(sandbox.repo / "src"))
    put(home, "codex", 2, cwd=str(other))
    put(home, "claude", 3, cwd=str(sandbox.repo) + "-beside")
    assert set(ids(sandbox)) == {session_id(1), session_id(2)}
    assert set(ids(sandbox, "--all")) == {session_id(each) for each in (1, 2, 3)}
    assert ids(sandbox, "--client", "codex") == [session_id(2)]
    assert ids(sandbox, "--since", "2026-11-22") == []
    assert len(ids(sandbox, "--since", "2026-11-21")) == 2
    there = Path(str(sandbox.repo) + "-beside")
    there.mkdir()
    assert ids(sandbox, "--project", str(there)) == [session_id(3)]
    assert sandbox.siding("session", "list", "--since", "x", status=2).stderr


def test_a_session_belongs_to_the_task_in_whose_workspace_it_was(sandbox: Sandbox) -> None:
    task = sandbox.json("task", "start", "mend it", "--format", "json")["id"]
    workspace = sandbox.siding("path", task).stdout.decode().strip()
    put(home_of(sandbox), "codex", 1, cwd=workspace)
    put(home_of(sandbox), "claude", 2, cwd=str(sandbox.repo))
    rows = sandbox.json("session", "list", "--format", "json")
    assert {each["id"]: each["task"] for each in rows} == {session_id(1): task, session_id(2): ""}
    assert ids(sandbox, "--task", "mend it") == [session_id(1)]


@every_client
def test_an_imported_session_and_its_file_are_one(client: str, sandbox: Sandbox) -> None:
    path = put(home_of(sandbox), client, 1, cwd=str(sandbox.repo))
    sandbox.siding("session", "import", str(path))
    (row,) = sandbox.json("session", "list", "--format", "json")
    assert (row["stored"], row["source"], row["client"]) == (True, str(path), client)


def test_the_one_of_both_with_the_newer_message_is_read(sandbox: Sandbox) -> None:
    path = put(home_of(sandbox), "claude", 1, cwd=str(sandbox.repo))
    sandbox.siding("session", "import", str(path))
    last = json.loads(path.read_bytes().splitlines()[0])
    with path.open("ab") as file:
        for line in path.read_bytes().splitlines():
            record = json.loads(line)
            last = record if record.get("uuid") else last
        said = {
            "parentUuid": last["uuid"],
            "type": "user",
            "message": {"role": "user", "content": "and the giraffe"},
            "uuid": "0f0f0f0f-0000-4000-8000-000000000000",
            "timestamp": "2026-11-23T00:00:00.000Z",
            "sessionId": session_id(1),
            "cwd": str(sandbox.repo),
        }
        file.write(json.dumps(said, separators=(",", ":")).encode() + b"\n")
    (row,) = sandbox.json("session", "list", "--format", "json")
    assert (row["stored"], row["path"]) == (False, str(path))
    assert b"and the giraffe" in sandbox.siding("session", "show").stdout


@every_client
def test_what_is_added_is_shown_the_next_time(client: str, sandbox: Sandbox) -> None:
    path = put(home_of(sandbox), client, 1, cwd=str(sandbox.repo))
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][:5])  # the last line is being written
    sandbox.siding("session", "show")
    path.write_bytes(whole)
    again = sandbox.siding("session", "show", "--format", "json").stdout
    sandbox.siding("session", "list")
    fresh = Sandbox(sandbox.directory / "fresh")
    put(home_of(fresh), client, 1, cwd=str(fresh.repo))
    shown = json.loads(fresh.siding("session", "show", "--format", "json").stdout)
    assert len(json.loads(again)["records"]) == len(shown["records"])


def test_secrets_in_a_list_that_goes_on_are_masked(sandbox: Sandbox) -> None:
    secret = "ghp_" + "a1B2" * 9
    put(home_of(sandbox), "claude", 1, cwd=str(sandbox.repo), prompt=f"use {secret}")
    assert secret.encode() not in sandbox.siding("session", "list", "--format", "json").stdout
    assert secret.encode() not in sandbox.siding("session", "show").stdout


def test_a_found_session_is_copied_into_the_project_and_its_home_stays(sandbox: Sandbox) -> None:
    path = put(home_of(sandbox), "claude", 1, cwd=str(sandbox.repo))
    before = bytes_below(home_of(sandbox))
    done = sandbox.siding("session", "resume", "--fork")
    assert f"imported {path}".encode() in done.stderr
    assert bytes_below(home_of(sandbox)) == before
    assert len(ids(sandbox)) == 2


@every_client
def test_words_are_found_in_every_clients_sessions(client: str, sandbox: Sandbox) -> None:
    home = home_of(sandbox)
    path = put(home, client, 1, cwd=str(sandbox.repo), prompt="the quagga ran")
    put(home, client, 2, cwd="/elsewhere/project", prompt="another quagga")
    before = bytes_below(home)
    (hit,) = sandbox.json("session", "search", "quagga", "--format", "json")
    assert (hit["session_id"], hit["kind"]) == (session_id(1), "user")
    assert "the quagga ran" in hit["snippet"]
    assert len(sandbox.json("session", "search", "quagga", "--all", "--format", "json")) == 2
    assert bytes_below(home) == before
    path.write_bytes(path.read_bytes().replace(b"quagga", b"okapi of ours"))
    sandbox.siding("session", "search", "quagga", "--session", session_id(1), status=1)


def test_a_damaged_index_is_made_again(sandbox: Sandbox) -> None:
    put(home_of(sandbox), "codex", 1, cwd=str(sandbox.repo), prompt="the quagga ran")
    sandbox.siding("session", "search", "quagga")
    for path in (sandbox.directory / "siding" / "cache" / "sessions").glob("search.sqlite3*"):
        path.write_bytes(b"nonsense" * 1000)
    assert b"the quagga ran" in sandbox.siding("session", "search", "quagga").stdout


def test_what_subagents_said_is_found(sandbox: Sandbox) -> None:
    path = put(home_of(sandbox), "claude", 1, cwd=str(sandbox.repo))
    agent = path.with_suffix("") / "subagents" / "agent-a1.jsonl"
    agent.parent.mkdir(parents=True)
    agent.write_bytes(path.read_bytes().replace(b"Change the greeting", b"count the axolotls"))
    (hit,) = sandbox.json("session", "search", "axolotls", "--format", "json")
    assert (hit["session_id"], hit["agent_id"]) == (session_id(1), "a1")
    assert b"axolotls" in sandbox.siding("session", "show", "--agent", "a1").stdout


def test_a_chat_that_names_only_the_hash_of_its_directory_is_of_this_repository(
    sandbox: Sandbox,
) -> None:
    path = put(home_of(sandbox), "gemini", 1, cwd=str(sandbox.repo))
    (path.parents[1] / ".project_root").unlink()
    hashed = hashlib.sha256(str(sandbox.repo).encode()).hexdigest()
    lines = path.read_bytes().splitlines(keepends=True)
    first = json.loads(lines[0]) | {"projectHash": hashed}
    path.write_bytes(b"".join([json.dumps(first).encode() + b"\n", *lines[1:]]))
    (row,) = sandbox.json("session", "list", "--format", "json")
    assert row["cwd"] == str(sandbox.repo)


def test_a_session_that_a_run_reported_is_one_of_its_task(sandbox: Sandbox) -> None:
    task = sandbox.json("task", "start", "mend it", "--format", "json")["id"]
    sandbox.siding("run", "--", "true")
    ledger = sandbox.project / "tasks" / task / "ledger.jsonl"
    report = {"session": session_id(1), "transcript": "", "prompts": 1, "prompt": "", "judge": ""}
    (line,) = ledger.read_bytes().splitlines()
    ledger.write_bytes(json.dumps(json.loads(line) | {"reported": report}).encode() + b"\n")
    put(home_of(sandbox), "claude", 1, cwd="/somewhere/else")
    (row,) = sandbox.json("session", "list", "--format", "json")
    assert (row["id"], row["task"], row["step"]) == (session_id(1), task, 1)


def test_the_index_of_a_compacted_transcript_is_not_kept_beside_it(sandbox: Sandbox) -> None:
    path = put(home_of(sandbox), "claude", 1, cwd=str(sandbox.repo))
    stamp = {"sessionId": session_id(1), "timestamp": "2026-11-23T00:00:00.000Z"}
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b1", "parentUuid": None}
    summary = {
        "type": "user",
        "uuid": "b2",
        "parentUuid": "b1",
        "isCompactSummary": True,
        "message": {"role": "user", "content": "what was said"},
    }
    with path.open("ab") as file:
        for each in ({"parentUuid": None, **boundary}, summary):
            line = json.dumps({**each, **stamp}, separators=(",", ":"))
            file.write(line.encode() + b"\n")
    before = bytes_below(home_of(sandbox))
    sandbox.siding("session", "resume")
    assert bytes_below(home_of(sandbox)) == before
    caches = sandbox.directory / "siding" / "cache" / "sessions" / "indexes"
    assert [each.parent.name for each in caches.rglob("index.json")] == [session_id(1)]


def test_a_session_is_shown_where_no_copy_can_be_kept(sandbox: Sandbox) -> None:
    put(home_of(sandbox), "codex", 1, cwd=str(sandbox.repo), prompt="the quagga ran")
    caches = sandbox.directory / "siding" / "cache"
    caches.parent.mkdir(exist_ok=True)
    caches.write_text("in the way", encoding="utf-8")
    assert b"the quagga ran" in sandbox.siding("session", "show").stdout
    assert b"the quagga ran" in sandbox.siding("session", "search", "quagga").stdout


def test_a_prompt_that_was_typed_while_the_model_worked_is_shown_and_found(
    sandbox: Sandbox,
) -> None:
    """Claude Code writes it as an attachment, not as a message."""
    path = put(home_of(sandbox), "claude", 1, cwd=str(sandbox.repo), prompt="zebra")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    said = [at for at, record in enumerate(records) if record.get("type") in ("user", "assistant")]
    at = said[1]
    queued = {"type": "queued_command", "commandMode": "prompt", "prompt": "and an okapi"}
    attached = records[at] | {"type": "attachment", "uuid": "queued", "attachment": queued}
    del attached["message"]
    note = {**queued, "commandMode": "task-notification", "prompt": "a shell has ended"}
    noted = attached | {"uuid": "noted", "parentUuid": "queued", "attachment": note}
    attached["parentUuid"] = records[at]["uuid"]
    records[said[2]]["parentUuid"] = "noted"
    records[at + 1 : at + 1] = [attached, noted]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))

    name = session_id(1)
    (row,) = sandbox.json("session", "list", "--format", "json")
    shown = sandbox.siding("session", "show", name).stdout.decode()
    assert "and an okapi" in shown
    assert "a shell has ended" not in shown
    assert shown.index("zebra") < shown.index("and an okapi")
    (hit,) = sandbox.json("session", "search", "okapi", "--format", "json")
    assert hit["session_id"] == name
    sandbox.siding("session", "export", name, "--to", "codex", "-o", "out")
    (written,) = (sandbox.repo / "out").rglob("*.jsonl")
    assert "and an okapi" in written.read_text()
    assert row["messages"] == 4
