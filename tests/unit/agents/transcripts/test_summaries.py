"""Summaries of found transcripts: what they say, and that only what changed is read."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from client_homes import fill, put, session_id
from siding.agents.transcripts.homes import found
from siding.agents.transcripts.summaries import Summary, summarised


def summaries(home: Path) -> dict[Path, Summary]:
    listed = summarised(home / "cache" / "homes.json", found({}, home))
    return {each.transcript.path: each.summary for each in listed}


def line_of(number: int, **more: object) -> bytes:
    record = {
        "parentUuid": None,
        "type": "user",
        "message": {"role": "user", "content": f"prompt {number}"},
        "uuid": f"u{number}",
        "timestamp": f"2026-11-22T00:00:{number % 60:02d}.000Z",
    }
    return json.dumps(record | more).encode() + b"\n"


@pytest.mark.parametrize("client", ["claude", "codex", "gemini"])
def test_what_a_real_client_wrote_is_summed_up(client: str, tmp_path: Path) -> None:
    path = put(tmp_path, client, 7, cwd="/work/app", prompt="Mend the größte 牛")
    (summary,) = summaries(tmp_path).values()
    assert summary.id == session_id(7)
    assert (summary.prompt, summary.cwd) == ("Mend the größte 牛", "/work/app")
    assert summary.messages >= 2
    assert summary.covered == path.stat().st_size
    assert summary.spoken_at is not None
    assert not summary.hidden


def test_unchanged_files_are_not_opened_again(tmp_path: Path) -> None:
    paths = fill(tmp_path, 30)
    before = summaries(tmp_path)
    for path in paths:
        status = path.stat()
        path.write_bytes(b"x" * status.st_size)  # whoever opened it would see nothing in it
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert summaries(tmp_path) == before


def test_of_a_file_that_grew_only_the_new_lines_are_read(tmp_path: Path) -> None:
    path = put(tmp_path, "claude", 1)
    before = summaries(tmp_path)[path]
    *lines, last = path.read_bytes().splitlines(keepends=True)
    # Lines of the same length that say nothing: they are not looked at a second time.
    blank = b"".join(b" " * (len(line) - 1) + b"\n" for line in lines)
    path.write_bytes(blank + last + line_of(9))
    after = summaries(tmp_path)[path]
    assert (after.prompt, after.messages) == (before.prompt, before.messages + 1)


def test_a_file_that_became_another_one_is_read_anew(tmp_path: Path) -> None:
    path = put(tmp_path, "claude", 1, prompt="the old one")
    summaries(tmp_path)
    path.write_bytes(line_of(1) + line_of(2) + b" " * 9000 + b"\n")
    assert summaries(tmp_path)[path].prompt == "prompt 1"
    assert summaries(tmp_path)[path].messages == 2


def test_a_torn_last_line_counts_when_it_is_whole(tmp_path: Path) -> None:
    path = put(tmp_path, "claude", 1)
    before = summaries(tmp_path)[path].messages
    torn = line_of(9)
    with path.open("ab") as file:
        file.write(torn[:40])
        file.flush()
        assert summaries(tmp_path)[path].messages == before
        file.write(torn[40:])
    assert summaries(tmp_path)[path].messages == before + 1


ODD: list[object] = [[], {}, 5, None, "x", [1], {"content": 5}, "\ud800"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(ODD), min_size=3, max_size=3), st.integers(0, 2), st.data())
def test_lines_of_any_shape_stop_nothing(
    tmp_path_factory: pytest.TempPathFactory, values: list[object], which: int, data: st.DataObject
) -> None:
    home = tmp_path_factory.mktemp("home")
    client = ("claude", "codex", "gemini")[which]
    path = put(home, client, 3)
    key = data.draw(st.sampled_from(["message", "payload", "timestamp", "cwd", "$set", "type"]))
    damaged = [
        line_of(1, **{key: values[0]}),
        json.dumps({"type": "response_item", "payload": values[1]}).encode() + b"\n",
        json.dumps({"id": "a", "type": "user", "content": values[2]}).encode() + b"\n",
        b'{"type": "user", \x00\n',
    ]
    before = summaries(home)[path]
    prompt, messages = before.prompt, before.messages
    path.write_bytes(b"".join(damaged) + path.read_bytes())
    after = summaries(home)[path]
    assert after.messages >= messages
    assert prompt == after.prompt or after.messages > messages


CACHES = [
    b"",
    b"{",
    b'{"version": 99, "entries": {}}',
    b'{"version": 1, "entries": {"a": 5}}',
    b"\xff" * 100,
]


@pytest.mark.parametrize("data", CACHES)
def test_a_damaged_cache_is_made_again(data: bytes, tmp_path: Path) -> None:
    fill(tmp_path, 9)
    whole = summaries(tmp_path)
    cache = tmp_path / "cache" / "homes.json"
    good = cache.read_bytes()
    cache.write_bytes(data)
    assert summaries(tmp_path) == whole
    assert cache.read_bytes() == good


def test_a_home_that_cannot_be_written_lists_all_the_same(tmp_path: Path) -> None:
    fill(tmp_path, 3)
    (tmp_path / "cache").write_text("in the way", encoding="utf-8")
    assert len(summaries(tmp_path)) == 3
