"""Found sessions that are branched, rewound and compacted: where they are kept, what is written."""

import json
from pathlib import Path

import pytest

from client_homes import bytes_below, put, session_id
from sandbox import Sandbox

from .test_opening import stand_ins

CLIENTS = ("claude", "codex", "gemini")
NAME = session_id(1)


def home_of(sandbox: Sandbox) -> Path:
    return sandbox.directory / "home"


@pytest.mark.parametrize("client", CLIENTS)
def test_it_is_imported_and_the_clients_file_stays(client: str, sandbox: Sandbox) -> None:
    path = put(home_of(sandbox), client, 1, cwd=str(sandbox.repo))
    before = bytes_below(home_of(sandbox))
    told = sandbox.siding("session", "rewind", NAME[:8], "1").stderr.decode()
    assert f"imported {path}" in told
    assert "imported" not in sandbox.siding("session", "rewind", NAME, "1").stderr.decode()
    assert bytes_below(home_of(sandbox)) == before
    (row,) = sandbox.json("session", "list", "--format", "json")
    assert (row["id"], row["stored"], row["client"]) == (NAME, True, client)
    line = sandbox.siding("session", "open", NAME, "--print").stdout.decode()
    assert line == f"siding -C {sandbox.repo} session open {NAME}\n"
    assert bytes_below(home_of(sandbox)) == before  # printing writes nothing
    stand_ins(sandbox)
    line = sandbox.siding("session", "open", NAME).stdout.decode()
    assert line.startswith(f"started {client} ")
    assert NAME not in line
    written = set(bytes_below(home_of(sandbox))) - set(before)
    assert len(written) == 1
    assert bytes_below(home_of(sandbox)).items() >= before.items()
    rows = sandbox.json("session", "list", "--format", "json")
    assert {each["client"] for each in rows} == {client}
    assert len(rows) == 2


def test_one_of_another_repository_is_kept_there(sandbox: Sandbox) -> None:
    other = Sandbox(sandbox.directory / "other")
    put(home_of(sandbox), "claude", 1, cwd=str(other.repo))
    branch = sandbox.siding("session", "branch", NAME).stdout.decode().strip()
    shown = sandbox.siding("session", "list", "--format", "json", cwd=other.repo)
    assert branch in {each["id"] for each in json.loads(shown.stdout)}


def test_what_nobody_changed_goes_on_as_it_is(sandbox: Sandbox) -> None:
    path = put(home_of(sandbox), "codex", 1, cwd=str(sandbox.repo))
    sandbox.siding("session", "import", str(path))
    before = bytes_below(home_of(sandbox))
    line = sandbox.siding("session", "open", NAME, "--print").stdout.decode()
    assert line.endswith(f"codex resume {NAME}\n")
    assert bytes_below(home_of(sandbox)) == before


def test_a_directory_that_is_gone_leaves_no_copy_behind(sandbox: Sandbox) -> None:
    put(home_of(sandbox), "claude", 1, cwd=str(sandbox.repo / "gone"))
    sandbox.siding("session", "rewind", NAME, "1")
    before = bytes_below(home_of(sandbox))
    refused = sandbox.siding("session", "open", NAME, status=1)
    assert b"is gone" in refused.stderr
    assert bytes_below(home_of(sandbox)) == before
