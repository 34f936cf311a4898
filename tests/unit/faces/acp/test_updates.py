"""Lines of a story as updates: each is one that the protocol's own schema takes."""

from typing import Any

import pytest
from acp import schema

from siding.chat.pictures import Picture
from siding.chat.state import after
from siding.chat.talk import Talk, Waiting
from siding.faces.acp.blocks import said_in
from siding.faces.acp.diffs import hunks_of
from siding.faces.acp.updates import ClientCan, Update, Updates
from siding.ground.errors import UsageError

WORKSPACE = "/w"


def told(*lines: dict[str, Any], can: dict[str, Any] | None = None) -> list[Update]:
    """Return what a client is told of these lines; the schema takes each."""
    updates = Updates(WORKSPACE, ClientCan(can or {}), lambda _name: b"data")
    talk = Talk()
    found: list[Update] = []
    for number, line in enumerate(lines, start=1):
        before, talk = talk, after(talk, {"seq": number, **line})
        found += updates.told(line, before, echoes=True)
    found += updates.flushed()
    for each in found:
        if each["sessionUpdate"] != "notice":  # the SDK of the tests is older
            schema.SessionNotification.model_validate({"sessionId": "s", "update": each})
    return found


def test_an_edit_is_shown_as_diffs_of_its_hunks_with_where_it_begins() -> None:
    patch = "--- a\n+++ a\n@@ -3,2 +3,2 @@\n same\n-old\n+new\n@@ -9 +9,2 @@\n-x\n+y\n+z\n"
    start = {"event": "tool-started", "call": "c", "name": "Edit", "kind": "edit"}
    (call,) = told({**start, "edits": [{"path": "src/a.py", "patch": patch}]})
    assert call["content"] == [
        {"type": "diff", "path": "/w/src/a.py", "oldText": "same\nold\n", "newText": "same\nnew\n"},
        {"type": "diff", "path": "/w/src/a.py", "oldText": "x\n", "newText": "y\nz\n"},
    ]
    assert call["locations"] == [{"path": "/w/src/a.py", "line": 3}]
    (made,) = told({**start, "edits": [{"path": "/w/b", "new": "all"}]})
    assert made["content"] == [{"type": "diff", "path": "/w/b", "newText": "all"}]


def test_a_file_without_a_last_newline_and_lines_that_look_like_heads() -> None:
    patch = (
        "@@ -1,2 +1,2 @@\n--- a\n-b\n\\ No newline at end of file\n+++ a\n+b\n--- next\n+++ next\n"
    )
    (hunk,) = hunks_of(patch)
    assert (hunk.old, hunk.new) == ("-- a\nb", "++ a\nb\n")


def test_output_goes_out_in_few_updates_and_ends_with_the_call() -> None:
    start = {"event": "tool-started", "call": "c", "name": "Bash", "kind": "execute"}
    pieces = [{"event": "tool-output", "call": "c", "text": "x" * 1000} for _ in range(100)]
    _call, news = told(start, *pieces)
    assert len(news["content"][0]["content"]["text"]) < 40_000
    *_, end = told(start, *pieces, {"event": "tool-ended", "call": "c", "text": "```\nall"})
    assert end["status"] == "completed"
    assert end["content"][0]["content"]["text"].startswith("````\n```\nall")


def test_a_call_that_the_turn_leaves_open_has_failed_and_its_id_is_used_again() -> None:
    start = {"event": "tool-started", "call": "1", "name": "Bash"}
    first, end, second = told(start, {"event": "turn-ended", "how": "done"}, start)
    assert end["status"] == "failed"
    assert first["toolCallId"] == end["toolCallId"] != second["toolCallId"]


def test_messages_are_told_apart_and_pieces_of_one_are_not() -> None:
    said = told(
        {"event": "text", "text": "a"},
        {"event": "text", "text": "b"},
        {"event": "thought", "text": "c"},
        {"event": "turn-ended", "how": "done"},
        {"event": "thought", "text": "d"},
    )
    ids = [each["messageId"] for each in said]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3


def test_what_a_helper_says_is_of_the_call_that_began_it() -> None:
    start = {"event": "tool-started", "call": "c", "name": "Task", "kind": "think"}
    _call, news = told(start, {"event": "text", "text": "I look.", "inside": "c"})
    assert news["content"][0]["content"]["text"] == "I look."


def test_a_prompt_of_another_viewer_is_told_with_its_pictures() -> None:
    queued = {"event": "queued", "prompt": "p", "text": "Look", "files": ["a.png"]}
    title, words, picture = told(queued, {"event": "sending", "prompt": "p"})
    assert title["title"] == "Look"
    assert words["content"]["text"] == "Look"
    assert picture["content"] == {"type": "image", "mimeType": "image/png", "data": "ZGF0YQ=="}


def test_plans_usage_compactions_and_troubles() -> None:
    lines: list[dict[str, Any]] = [
        {"event": "planned", "steps": [{"text": "one", "status": "completed"}, {"text": "two"}]},
        {"event": "used", "context": 10, "window": 100, "dollars": 0.5},
        {"event": "used", "context": 10},
        {"event": "compacted", "seq": 7},
        {"event": "troubled", "trouble": "limit", "message": "Wait\nuntil noon"},
        {"event": "of a later version"},
    ]
    plan, usage, shorter, trouble = told(*lines)
    assert [each["status"] for each in plan["entries"]] == ["completed", "pending"]
    assert (usage["used"], usage["size"], usage["cost"]["amount"]) == (10, 100, 0.5)
    assert "shorter" in shorter["content"]["text"]
    assert trouble["content"]["text"] == "Wait\nuntil noon"
    notice = told(*lines, can={"session": {"notices": {}}})[-1]
    assert (notice["title"], notice["description"]) == ("Wait", "until noon")


def test_what_was_said_on_a_screen_of_its_own_and_who_goes_on() -> None:
    said = told(
        {"event": "handed-over"},
        {"event": "told", "who": "person", "text": "Hi"},
        {"event": "told", "who": "tool", "text": "ls"},
        {"event": "told", "who": "agent", "text": "Hello"},
        {"event": "handed-back"},
        {"event": "switched", "agent": "codex", "program": ["codex"]},
    )
    texts = [each["content"]["text"] for each in said]
    assert texts[1:3] == ["Hi", "Hello"]
    assert [each["sessionUpdate"][:4] for each in said] == ["agen", "user", "agen", "agen", "agen"]
    assert "codex" in texts[-1]


def test_what_a_prompt_says() -> None:
    said = said_in(
        [
            {"type": "text", "text": "Look at "},
            {"type": "resource_link", "uri": "file:///repo/src/a%20b.py#L3", "name": "x"},
            {"type": "text", "text": "and"},
            {"type": "resource_link", "uri": "file:///etc/hosts", "name": "x"},
            {"type": "resource_link", "uri": "https://example.org/x", "name": "x"},
            {"type": "resource", "resource": {"uri": "file:///repo/c.md", "text": "a ``` b"}},
            {"type": "image", "mimeType": "image/png", "data": "R0lGODlh"},
        ],
        "/repo",
    )
    assert said.words == (
        "Look at @src/a b.py:3 and /etc/hosts https://example.org/x\n\n@c.md:\n````\na ``` b\n````"
    )
    assert said.pictures == (Picture(".gif", b"GIF89a"),)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "audio", "data": "", "mimeType": "audio/wav"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "image", "data": "!!", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///a", "blob": "aGk="}},
        "no block",
    ],
)
def test_what_no_agent_takes_is_refused(block: object) -> None:
    with pytest.raises(UsageError):
        said_in([block], "/repo")


def test_a_prompt_that_waits_is_echoed_with_the_words_it_has_then() -> None:
    talk = Talk(queue=(Waiting("p", "as edited"),))
    updates = Updates(WORKSPACE, ClientCan({}), lambda _name: None)
    (said,) = updates.told({"event": "sending", "prompt": "p"}, talk, echoes=True)
    assert said["content"]["text"] == "as edited"
