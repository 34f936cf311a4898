"""Pages of many sessions, and the index over them."""

import json
import re
from pathlib import Path

from client_homes import bytes_below, put, session_id
from sandbox import Sandbox


def test_each_session_has_a_page_and_the_index_leads_to_it(sandbox: Sandbox) -> None:
    home = sandbox.directory / "home"
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for number, client in enumerate(("claude", "codex", "gemini")):
        prompt = f"<b>use {secret} of {client}</b>"
        put(home, client, number, cwd=str(sandbox.repo), prompt=prompt)
    put(home, "claude", 9, cwd="/somewhere/else")
    agents = home / ".claude" / "projects"
    (main,) = agents.rglob(f"{session_id(0)}.jsonl")
    below = main.with_suffix("") / "subagents"
    below.mkdir(parents=True)
    (below / "agent-abc.jsonl").write_bytes(main.read_bytes())
    about = {"agentType": "general-purpose", "description": f"count with {secret}"}
    (below / "agent-abc.meta.json").write_text(json.dumps(about))
    before = bytes_below(home)
    shown = sandbox.siding("session", "show", session_id(0)).stderr.decode()
    assert "abc (general-purpose: count with [redacted" in shown
    done = sandbox.siding("session", "pages", "-o", "pages")
    assert b"3 sessions in" in done.stderr
    pages = sandbox.repo / "pages"
    index = (pages / "index.html").read_text()
    links = re.findall(r'href="([^"]+)"', index)
    assert sorted(links) == sorted(
        path.name for path in pages.iterdir() if path.name != "index.html"
    )
    assert len(links) == 4
    assert f"{session_id(0)}.abc.html" in links
    for path in pages.iterdir():
        text = path.read_text()
        assert secret not in text
        assert "<b>use" not in text
        assert "<script" not in text
    assert "&lt;b&gt;use [redacted" in index
    assert "subagent abc (general-purpose: count with [redacted" in index
    assert bytes_below(home) == before
    sandbox.siding("session", "pages", "-o", "pages", "--no-redact")  # replaces them
    assert secret in (pages / "index.html").read_text()


def test_an_index_of_somebody_else_is_not_replaced(sandbox: Sandbox) -> None:
    put(sandbox.directory / "home", "claude", 1, cwd=str(sandbox.repo))
    index = sandbox.repo / "index.html"
    index.write_text("<h1>My site</h1>")
    done = sandbox.siding("session", "pages", "-o", ".", status=2)
    assert b"was not written by Siding" in done.stderr
    assert index.read_text() == "<h1>My site</h1>"
    assert [path.name for path in sandbox.repo.glob("*.html")] == ["index.html"]


def test_what_cannot_be_read_stops_no_other(sandbox: Sandbox) -> None:
    home = sandbox.directory / "home"
    put(home, "claude", 1, cwd=str(sandbox.repo))
    bad: Path = put(home, "codex", 2, cwd=str(sandbox.repo))
    lines = bad.read_bytes().splitlines(keepends=True)
    bad.write_bytes(lines[0])  # a conversation that has just begun
    (sandbox.repo / "out").mkdir()
    done = sandbox.siding("session", "pages", "-o", "out", status=None)
    names = {path.name for path in (sandbox.repo / "out").iterdir()}
    assert f"{session_id(1)}.html" in names
    assert "index.html" in names
    assert done.returncode == (0 if f"{session_id(2)}.html" in names else 1)
