"""A cache is believed whole or not at all."""

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from siding.ground.git.cache_file import as_bytes, as_text, keep, load

VALUE: Any = ["a", 1, {"b\udcff": [0o644, True, None]}]


def kept(directory: Path) -> Path:
    path = directory / "cache"
    keep(path, "form-1", lambda _now: VALUE)
    return path


def test_what_was_kept_is_known_again(tmp_path: Path) -> None:
    assert load(kept(tmp_path), "form-1") == VALUE
    assert sorted(each.name for each in tmp_path.iterdir()) == ["cache"]


def test_another_form_or_no_file_is_nothing_known(tmp_path: Path) -> None:
    assert load(kept(tmp_path), "form-2") is None
    assert load(tmp_path / "missing", "form-1") is None
    assert load(tmp_path, "form-1") is None


def test_a_damaged_file_is_nothing_known(tmp_path: Path) -> None:
    """Every byte flipped, every length: a damaged cache may never be taken for a whole one."""
    path = kept(tmp_path)
    whole = path.read_bytes()
    damaged = [whole[:cut] for cut in range(len(whole))]
    for at in range(len(whole)):
        damaged += [whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :] for bit in (1, 32, 128)]
    for content in [*damaged, whole + b"x", b"\x00" * 500, b"[" * 100_000, b"form-1 \n"]:
        path.write_bytes(content)
        assert load(path, "form-1") is None, content[:80]


def test_the_time_is_that_of_the_file_system(tmp_path: Path) -> None:
    times: list[int] = []
    before = tmp_path / "before"
    before.touch()
    keep(tmp_path / "cache", "form-1", times.append)
    assert before.stat().st_mtime_ns <= times[0] <= (tmp_path / "cache").stat().st_ctime_ns


def test_what_cannot_be_written_leaves_what_is_there(tmp_path: Path) -> None:
    directory = tmp_path / "cache"
    (directory / "inside").mkdir(parents=True)
    keep(directory, "form-1", lambda _now: VALUE)
    assert [each.name for each in tmp_path.iterdir()] == ["cache"]
    keep(tmp_path / "nowhere" / "cache", "form-1", lambda _now: VALUE)


@given(st.binary(max_size=40))
def test_a_path_of_any_bytes_comes_back(path: bytes) -> None:
    assert as_bytes(as_text(path)) == path
