"""Settings are read with their types, and a mistake is refused with its place."""

import re
from pathlib import Path

import pytest

from siding.ground.errors import UsageError
from siding.record.place.quantities import bytes_in
from siding.record.place.settings import DEFAULT_TEXT, Settings
from siding.record.place.settings_files import hooks_in, read_settings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.yaml"


def test_no_file_an_empty_one_and_the_one_we_write_are_the_defaults(file: Path) -> None:
    assert read_settings(file) == Settings()
    for text in ("", DEFAULT_TEXT, DEFAULT_TEXT + "# by hand\n"):
        file.write_text(text, encoding="utf-8")
        assert read_settings(file) == Settings()


def test_what_is_given_counts_and_the_rest_keeps_its_default(file: Path) -> None:
    file.write_text("snapshot: {max_file_size: 2kB}\nhooks: {pre_run: [make]}\nx: 1\n")
    found = read_settings(file)
    assert (found.max_file_size, found.pre_run) == (2000, ("make",))
    told = {str(file): "x"}
    assert found == Settings(max_file_size=2000, pre_run=("make",), unknown=told)


def test_what_is_said_for_all_projects_counts_where_the_project_says_nothing(
    file: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home.yaml"
    home.write_text("snapshot: {ignored: [.env], max_file_size: 2kB}\nhooks: {notify: [bell]}\n")
    for text in (None, "", DEFAULT_TEXT, "snapshot:\noutput: {verbose: false}\n"):
        if text is not None:
            file.write_text(text)
        found = read_settings(file, home)
        assert found == Settings(ignored=(".env",), max_file_size=2000, notify=("bell",))
    file.write_text("snapshot: {ignored: []}\nhooks: {notify: null}\n")
    assert read_settings(file, home) == Settings(max_file_size=2000, notify=("bell",))
    home.write_text("snapshot: {ignored: .env}\n")
    with pytest.raises(UsageError) as caught:
        read_settings(file.with_name("none"), home)
    assert f"snapshot.ignored in {str(home)!r} should be a list of texts" in caught.value.message


def test_a_mistake_names_the_file_and_the_place(file: Path) -> None:
    for text, complaint in (
        ("git: [", "is not valid YAML"),
        ("- git", "should hold settings, and holds list"),
        ("version: 99", "has version 99; this Siding knows 1"),
        ("git: x", "git in "),
        ("git: {default_base: 1}", "git.default_base in "),
        ("output: {color: maybe}", "output.color in "),
        ("hooks: {post_run: make}", "hooks.post_run in "),
        ("snapshot: {max_file_size: big}", "snapshot.max_file_size in "),
        ("isolation: {files: often}", "should be one of auto, always, never, and is 'often'"),
        ("redaction: {extra: {a: 1}}", "redaction.extra in "),
    ):
        file.write_text(text)
        with pytest.raises(UsageError) as caught:
            read_settings(file)
        assert complaint in caught.value.message
        assert str(file) in caught.value.message


def test_gates_of_a_repository_are_hooks_as_well(file: Path) -> None:
    file.write_text("phases: {names: [a, b], gates: {a: [make]}}\nhooks: {notify: [bell]}\n")
    assert hooks_in(file) == {"notify": ("bell",), "gate a": ("make",)}
    file.write_text("phases: {names: [a], gates: {z: [make]}}\n")
    with pytest.raises(UsageError, match=r"phases\.gates\.z in "):
        hooks_in(file)


def test_sizes() -> None:
    told = {"4096": 4096, "1.5k": 1536, "100MiB": 100 << 20, "5 GB": 5 * 10**9, "0": 0}
    assert {text: bytes_in(text) for text in told} == told
    assert [bytes_in(text) for text in ("", "MiB", "5 apples", "1..2")] == [None] * 4


def test_what_has_no_meaning_is_named_by_its_file(tmp_path: Path) -> None:
    own, wider = tmp_path / "own.yaml", tmp_path / "wider.yaml"
    own.write_text("git: {branch_prefix: x/, colour: 1}\nui: {a: 1}\nagent: {anything: 1}\n")
    wider.write_text("version: 1\noutput: {color: true, emoji: true}\ngc: {background: on}\n")
    found = read_settings(own, wider)
    assert found.unknown == {str(own): "ui, git.colour", str(wider): "output.emoji"}
    assert found.branch_prefix == "x/"


def test_every_section_of_the_page_has_a_meaning(file: Path) -> None:
    page = Path(__file__).parents[3] / "docs/reference/settings.md"
    sections = re.findall(r"^- \*\*`([a-z]+)`\*\*", page.read_text("utf-8"), re.MULTILINE)
    assert len(sections) > 15
    file.write_text("".join(f"{each}: {{}}\n" for each in sections))
    assert not read_settings(file).unknown


def test_every_setting_of_the_file_that_we_write_has_a_meaning(file: Path) -> None:
    file.write_text(re.sub(r"^# ?(?=( *[a-z_]+:))", "", DEFAULT_TEXT, flags=re.MULTILINE))
    found = read_settings(file)
    assert not found.unknown
    assert "branch_prefix: " in file.read_text()
