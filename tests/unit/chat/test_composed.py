"""What is typed for an agent: pastes and pictures are labels in it."""

from pathlib import Path

import pytest

from siding.chat.composed import Labels, picture_named
from siding.ground.errors import UsageError

PNG = b"\x89PNG\r\n\x1a\n"
LINES = "\n".join(f"line {n}" for n in range(12))


def test_many_pasted_lines_are_a_label_and_one_prompt(tmp_path: Path) -> None:
    labels = Labels()
    assert labels.paste("one\ntwo") == "one\ntwo"
    first, again = labels.paste(LINES), labels.paste(LINES.replace("\n", "\r\n"))
    assert (first, again) == ("[12 pasted lines]", "[12 pasted lines, 2]")
    assert labels.paste("x" * 1001) == "[1,001 pasted characters]"
    prompt = labels.prompt(f"look at {again} and {first}", tmp_path)
    assert prompt.words == f"look at {LINES} and {LINES}"
    assert labels.prompt("[12 pasted line", tmp_path).words == "[12 pasted line"


def test_a_label_within_a_paste_is_text(tmp_path: Path) -> None:
    labels = Labels()
    first = labels.paste(LINES)
    second = labels.paste(f"{LINES}\n{first}")
    assert labels.prompt(second, tmp_path).words == f"{LINES}\n{first}"


def test_a_picture_goes_along_as_long_as_its_label_is_there(tmp_path: Path) -> None:
    (tmp_path / "a b.png").write_bytes(PNG)
    for typed in ("a b.png", "'a b.png'", "a\\ b.png", f"file://{tmp_path}/a b.png\n"):
        assert picture_named(typed, tmp_path).endswith("a b.png"), typed
    for typed in ("no.png", "a b.png\nmore", "look at a b.png", "a b"):
        assert picture_named(typed, tmp_path) == ""
    labels = Labels()
    label = labels.picture("a b.png")
    prompt = labels.prompt(f"{label} why is this red?", tmp_path)
    assert (prompt.words, len(prompt.pictures)) == ("why is this red?", 1)
    assert labels.prompt("why is this red?", tmp_path).pictures == ()
    (tmp_path / "a b.png").unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        labels.prompt(label, tmp_path)
