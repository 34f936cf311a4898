"""Reading, writing and editing files, through the tools."""

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siding.assistant.tools.files.texts import Text, decoded, replaced
from siding.assistant.tools.place import Place
from siding.ground.files import exchange
from unit.assistant.tools.setting import Bench, place_in, with_tools


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return place_in(tmp_path)


def test_read_numbers_lines_and_goes_on_with_an_offset(place: Place) -> None:
    (place.workspace / "a b\n.txt").write_text("".join(f"line {n}\n" for n in range(1, 3001)))

    async def act(at: Bench) -> None:
        first = await at.text("Read", file_path="a b\n.txt")
        assert first.startswith("     1\tline 1\n     2\tline 2\n")
        assert first.endswith("(Lines 1 to 2000 of 3000. To go on, read with offset 2001.)")
        last = await at.text("Read", file_path=str(at.root / "a b\n.txt"), offset=2999)
        assert last == "  2999\tline 2999\n  3000\tline 3000"
        result = await at.call("Read", file_path="a b\n.txt", offset=2, limit=1)
        assert result.details["file"] == {
            "filePath": str(at.root / "a b\n.txt"),
            "content": "line 2",
            "numLines": 1,
            "startLine": 2,
            "totalLines": 3000,
        }
        assert "3,000 lines" in await at.text("Read", file_path="a b\n.txt", offset=4000)

    with_tools(place, act)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"", "(The file is there and empty.)"),
        (b"one", "     1\tone"),
        (b"one\r\ntwo\r\n", "     1\tone\n     2\ttwo"),
        (b"\xef\xbb\xbfone\n", "     1\tone"),
        ("ä\n".encode("utf-16"), "     1\tä"),
        ("ä\n".encode("latin-1"), "     1\tä"),
        (b"\n\n", "     1\t\n     2\t"),
        (b"x" * 2500, f"     1\t{'x' * 2000}… (500 more characters)"),
    ],
)
def test_read_shows_texts_of_all_kinds(place: Place, data: bytes, shown: str) -> None:
    (place.workspace / "f").write_bytes(data)
    with_tools(place, lambda at: _is(at.text("Read", file_path="f"), shown))


async def _is(text: Any, expected: str) -> None:
    assert await text == expected


def test_read_says_what_cannot_be_read(place: Place) -> None:
    work = place.workspace
    (work / "prog").write_bytes(b"\x7fELF\0\0\0")
    (work / "blob").write_bytes(b"some\0thing")
    (work / "dir").mkdir()
    (work / "main.py").write_text("x")
    os.mkfifo(work / "pipe")
    (work / "loop").symlink_to("loop")

    async def act(at: Bench) -> None:
        for path, words in {
            "prog": "a program or library (ELF) (7 bytes), not text",
            "blob": "a binary file",
            "dir": "is a directory",
            "pipe": "a pipe or a device",
            "loop": "circle",
            "gone": "gone does not exist.",
            "main.ts": "Did you mean main.py?",
            "dir/none/x": "does not exist",
            "nul\0": "NUL",
        }.items():
            assert words in await at.error("Read", file_path=path)

    with_tools(place, act)


def test_read_shows_pictures_documents_and_notebooks(place: Place) -> None:
    work = place.workspace
    png = b"\x89PNG\r\n\x1a\n" + bytes(20)
    (work / "p.png").write_bytes(png)
    (work / "large.png").write_bytes(png + bytes(4_000_000))
    (work / "d.pdf").write_bytes(b"%PDF-1.7\n\0")
    cells = [
        {"cell_type": "markdown", "source": ["# T\n", "x"], "id": "m"},
        {
            "cell_type": "code",
            "source": "1+1",
            "outputs": [
                {"output_type": "stream", "text": ["a\n"]},
                {"output_type": "execute_result", "data": {"text/plain": "2", "image/png": "aGk="}},
                {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t"]},
            ],
        },
    ]
    (work / "n.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}))

    async def act(at: Bench) -> None:
        image = (await at.call("Read", file_path="p.png")).content
        assert image[0]["source"]["media_type"] == "image/png"  # type: ignore[index]
        blocks = (await at.call("Read", file_path="d.pdf")).content
        assert blocks[1]["type"] == "document"  # type: ignore[index]
        assert "at most 3,750,000" in await at.error("Read", file_path="large.png")
        shown = (await at.call("Read", file_path="n.ipynb")).content
        texts = [each.get("text") for each in shown]  # type: ignore[union-attr]
        assert texts[0] == '<cell id="m" type="markdown"># T\nx</cell>'
        assert texts[1] == (
            '<cell id="cell-1" type="code">1+1</cell>\n<output>\na\n2\nE: v\nt\n</output>'
        )
        assert shown[2]["source"]["data"] == "aGk="  # type: ignore[index]

    with_tools(place, act)


def test_a_huge_file_is_read_in_pieces(place: Place) -> None:
    with (place.workspace / "huge").open("wb") as file:
        file.write(b"first\n")
        file.write(b"y" * (33 << 20))
        file.write(b"\nlast \xc3\xa4\r\n")

    async def act(at: Bench) -> None:
        shown = await at.text("Read", file_path="huge")
        first, second, third = shown.split("\n")
        assert (first, third) == ("     1\tfirst", "     3\tlast ä")
        assert second.startswith("     2\tyyy")
        assert len(second) < 2100

    with_tools(place, act)


def test_a_file_is_changed_only_as_it_was_read(place: Place) -> None:
    file = place.workspace / "f"
    file.write_text("one\n")

    async def act(at: Bench) -> None:
        edit = {"file_path": "f", "old_string": "one", "new_string": "two"}
        assert "has not been read" in await at.error("Edit", **edit)
        assert "has not been read" in await at.error("Write", file_path="f", content="x")
        await at.text("Read", file_path="f")
        os.utime(file, ns=(1, 1))  # touched: it holds the same
        await at.text("Edit", **edit)
        assert file.read_text() == "two\n"
        await at.text("Write", file_path="f", content="three\n")  # it knows what it wrote
        file.write_text("four\n")
        assert "changed on disk" in await at.error("Write", file_path="f", content="x")
        assert file.read_text() == "four\n"

    with_tools(place, act)


@pytest.mark.parametrize(
    ("data", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc", "a\nb", "x\ny", b"x\r\ny\r\nc"),
        (b"a\r\nb\nc\n", "b\nc", "x\ny", b"a\r\nx\ny\n"),
        (b"\xef\xbb\xbfa\n", "a", "\xe4", b"\xef\xbb\xbf\xc3\xa4\n"),
        (b"\xe4 b\r\n", "b", "\xf6", b"\xe4 \xf6\r\n"),
        ("a b".encode("utf-16-le"), "x", "", None),
        (b"\xff\xfea\0", "a", "\xe4", b"\xff\xfe\xe4\0"),
        (b"no newline", "newline", "end", b"no end"),
    ],
)
def test_an_edit_keeps_the_bytes_around_it(
    place: Place, data: bytes, old: str, new: str, after: bytes | None
) -> None:
    file = place.workspace / "f"
    file.write_bytes(data)
    file.chmod(0o751)

    async def act(at: Bench) -> None:
        await at.call("Read", file_path="f")
        result = await at.call("Edit", file_path="f", old_string=old, new_string=new)
        assert result.is_error == (after is None)
        assert file.read_bytes() == (data if after is None else after)
        assert stat.S_IMODE(file.stat().st_mode) == 0o751

    with_tools(place, act)


def test_an_edit_says_what_it_found(place: Place) -> None:
    (place.workspace / "f").write_text("def a():\n\treturn 1\n\ndef b():\n\treturn 1\n")

    async def act(at: Bench) -> None:
        await at.text("Read", file_path="f")

        async def told(old: str, **more: Any) -> str:
            return await at.error("Edit", file_path="f", old_string=old, new_string="x", **more)

        assert "is there 2 times" in await told("\treturn 1")
        assert "lines 1 to 2 (it differs in blanks or tabs only)" in await told(
            "def a():\n    return 1"
        )
        assert "Most like it is line 4" in await told("def bb():")
        assert "line numbers" in await told("     1\tdef a():")
        assert "the same" in await told("x")
        assert (await told("zzzzqqqq")).endswith("old_string is not in it.")
        await at.text(
            "Edit", file_path="f", old_string="return 1", new_string="return 2", replace_all=True
        )

    with_tools(place, act)
    assert (place.workspace / "f").read_text().count("return 2") == 2


def test_an_edit_tells_programs_what_changed(place: Place) -> None:
    (place.workspace / "f").write_text("".join(f"{n}\n" for n in range(1, 30)))

    async def act(at: Bench) -> None:
        await at.text("Read", file_path="f")
        result = await at.call("Edit", file_path="f", old_string="15\n", new_string="a\nb\n")
        assert result.details["filePath"] == str(at.root / "f")
        assert (result.details["oldString"], result.details["newString"]) == ("15\n", "a\nb\n")
        assert result.details["structuredPatch"] == [
            {
                "oldStart": 12,
                "oldLines": 7,
                "newStart": 12,
                "newLines": 8,
                "lines": [" 12", " 13", " 14", "-15", "+a", "+b", " 16", " 17", " 18"],
            }
        ]
        assert result.shown == "+2 -1"

    with_tools(place, act)


def test_several_edits_are_all_or_none(place: Place) -> None:
    file = place.workspace / "f"
    file.write_text("a b\n")

    async def act(at: Bench) -> None:
        await at.text("Read", file_path="f")
        steps = [{"old_string": "a", "new_string": "c"}, {"old_string": "c b", "new_string": "d"}]
        missing = {"old_string": "zzz", "new_string": ""}
        error = await at.error("MultiEdit", file_path="f", edits=[*steps, missing])
        assert "(edit 3 of 3)" in error
        assert file.read_text() == "a b\n"
        await at.text("MultiEdit", file_path="f", edits=steps)
        assert file.read_text() == "d\n"

    with_tools(place, act)


def test_write_makes_files_and_keeps_line_ends(place: Place) -> None:
    work = place.workspace

    async def act(at: Bench) -> None:
        result = await at.call("Write", file_path="new/deep/f", content="a\nb\n")
        assert result.details["type"] == "create"
        assert (work / "new/deep/f").read_bytes() == b"a\nb\n"
        (work / "w").write_bytes(b"\xef\xbb\xbfa\r\n")
        await at.text("Read", file_path="w")
        await at.text("Write", file_path="w", content="b\nc\n")
        assert (work / "w").read_bytes() == b"\xef\xbb\xbfb\r\nc\r\n"

    with_tools(place, act)


def test_nothing_is_written_outside_the_workspace(tmp_path: Path) -> None:
    outside = Path(os.path.realpath(tmp_path)) / "outside"
    extra = outside.parent / "extra"
    for each in (outside, extra):
        each.mkdir()
    place = place_in(tmp_path, extra=(extra,))
    work = place.workspace
    (outside / "f").write_text("one")
    (work / "file").symlink_to(outside / "f")
    (work / "dir").symlink_to(outside)
    (work / "dangling").symlink_to(outside / "new")
    (work / "inner").symlink_to("real")
    (work / "real").write_text("one")

    async def act(at: Bench) -> None:
        for path in (
            "../outside/x", "file", "dir/x", "dangling", "~/x", "/", ".", str(outside / "f"),
            "dir/../x", f"{at.root}/../outside/x",
        ):  # fmt: off
            error = await at.error("Write", file_path=path, content="x")
            assert "cannot be changed" in error, path
        assert "one" in await at.text("Read", file_path="file")
        edit = {"old_string": "one", "new_string": "two"}
        assert "cannot be changed" in await at.error("Edit", file_path="file", **edit)
        assert sorted(os.listdir(outside)) == ["f"]
        await at.text("Write", file_path=str(extra / "x"), content="x")
        await at.text("Read", file_path="inner")
        await at.text("Edit", file_path="inner", **edit)
        assert (work / "inner").is_symlink()
        assert (work / "real").read_text() == "two"

    with_tools(place, act)
    assert (outside / "f").read_text() == "one"


def test_a_link_that_is_exchanged_after_the_judgement_is_not_followed(place: Place) -> None:
    work, secret = place.workspace, place.home / "secret"
    secret.write_text("secret")
    (work / "plain").write_text("plain")
    (work / "link").symlink_to("plain")

    async def act(at: Bench) -> None:
        tool = at.tools["Read"]
        given = {"file_path": "link"}
        use = tool.use(given)
        assert use.touches is not None
        assert use.touches.touches[0][1] == str(work / "plain")
        (work / "link").unlink()
        (work / "link").symlink_to(secret)
        result = await tool.run(_call(given))
        assert result.is_error
        assert "leads elsewhere" in str(result.content)

    with_tools(place, act)


def _call(given: dict[str, Any]) -> Any:
    from siding.assistant.tools.port import Call

    return Call("toolu_x", "Read", given)


@pytest.fixture(params=["exchanged in one step", "exchanged in several steps"])
def _exchanging(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param.endswith("several steps"):

        def cannot(*_: object) -> None:
            raise OSError(38, "no such system call")

        monkeypatch.setattr(exchange, "_renameat2", cannot)


@pytest.mark.usefixtures("_exchanging")
@pytest.mark.parametrize("how", ["in place", "renamed"])
def test_what_another_program_writes_in_that_moment_is_not_lost(
    place: Place, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    file = place.workspace / "f"
    file.write_text("one\n")
    real = exchange.put
    calls = 0

    def rival(new: exchange.Entry, into: exchange.Entry) -> bool:
        """Another program writes right before the names are exchanged."""
        nonlocal calls
        calls += 1
        if calls == 1 and how == "in place":
            file.write_text("theirs\n")
        elif calls == 1:
            (place.workspace / "other").write_text("theirs\n")
            (place.workspace / "other").replace(file)
        return real(new, into)

    monkeypatch.setattr("siding.assistant.tools.files.contents.put", rival)

    async def act(at: Bench) -> None:
        await at.text("Read", file_path="f")
        error = await at.error("Edit", file_path="f", old_string="one", new_string="two")
        assert "another program wrote it" in error

    with_tools(place, act)
    assert file.read_text() == "theirs\n"
    assert os.listdir(place.workspace) == ["f"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell of writers")
def test_a_file_that_is_open_for_writing_is_not_exchanged(place: Place) -> None:
    file = place.workspace / "f"
    file.write_text("one\n")

    async def act(at: Bench) -> None:
        await at.text("Read", file_path="f")
        with file.open("a") as writer:
            error = await at.error("Edit", file_path="f", old_string="one", new_string="two")
            assert "open for writing" in error
            writer.write("more\n")
        assert file.read_text() == "one\nmore\n"

    with_tools(place, act)


def test_input_that_does_not_fit_is_explained(place: Place) -> None:
    async def act(at: Bench) -> None:
        assert "the field `file_path` is missing" in await at.error("Read")
        wrong = await at.error("Read", file_path="f", limit="10")
        assert '`limit`: expected integer, got "10"' in wrong
        assert "there is no field `path`" in await at.error("Read", file_path="f", path="f")
        nested = await at.error("MultiEdit", file_path="f", edits=[{"old_string": "x"}])
        assert "`edits[0]`: the field `new_string` is missing" in nested
        assert "not a JSON object" in await at.error("Read", _invalid='{"file')

    with_tools(place, act)


_LINES = st.lists(st.sampled_from(["a", "b", "", "\r", "ä"]), max_size=6)
_ENDS = st.lists(st.sampled_from(["\n", "\r\n"]), min_size=6, max_size=6)


@settings(max_examples=150, deadline=None)
@given(_LINES, _ENDS, st.data())
def test_what_an_edit_does_not_name_stays_byte_for_byte(
    lines: list[str], ends: list[str], data: st.DataObject
) -> None:
    text = Text("".join(line + end for line, end in zip(lines, ends, strict=False)))
    start = data.draw(st.integers(0, len(text.seen)))
    end = data.draw(st.integers(start, len(text.seen)))
    old = text.seen[start:end]
    if not old:
        return
    after, count = replaced(text, old, "NEW", everywhere=True)
    assert count >= 1
    assert after.seen == text.seen.replace(old, "NEW")
    if "\r" not in lines:
        back, _ = replaced(after, "NEW", old, everywhere=True)
        assert back.seen == text.seen
    assert decoded(text.encoded()) == text
