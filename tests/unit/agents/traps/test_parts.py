"""Which part of a file counts as what is run."""

import json

import pytest

from siding.agents.traps.parts import LARGEST, part_of
from siding.agents.traps.table import TABLE

SCRIPTS = "json:scripts,husky"


def package(**more: object) -> bytes:
    return json.dumps({"name": "x", "version": "1", **more}).encode()


def test_only_the_values_below_the_keys_count() -> None:
    one, other = package(scripts={"a": "b"}), package(scripts={"a": "b"}, dependencies={"y": "1"})
    assert part_of(one, SCRIPTS) == part_of(other, SCRIPTS)
    assert part_of(one, SCRIPTS) != part_of(package(scripts={"a": "c"}), SCRIPTS)
    assert part_of(package(), SCRIPTS) == b""


@pytest.mark.parametrize("content", [b"{", b"[1]", b"\xff", b"[" * 100_000, b"nul"])
def test_what_cannot_be_parsed_counts_as_a_whole(content: bytes) -> None:
    assert part_of(content, SCRIPTS) == content
    if content != b"[1]":  # which is a table
        assert part_of(content, "toml:build-system") == content


def test_a_large_file_counts_as_a_whole() -> None:
    content = package(scripts={"a": "x" * LARGEST})
    assert part_of(content, SCRIPTS) == content


def test_of_attributes_only_the_lines_that_name_a_driver() -> None:
    (part,) = [row.part for row in TABLE if ".gitattributes" in row.patterns]
    assert part_of(b"* text=auto\n*.png binary\n", part) == b""
    assert part_of(b"* text\n*.bin filter=lfs diff=lfs\n", part) == b"*.bin filter=lfs diff=lfs"
    assert part_of(b"[attr]big merge=mine\n", part) == b"[attr]big merge=mine"


def test_of_toml_the_tables_below_the_keys() -> None:
    (part,) = [row.part for row in TABLE if "pyproject.toml" in row.patterns]
    plain = b'[project]\nname = "x"\nversion = "1"\n'
    assert part_of(plain, part) == b""
    assert part_of(plain + b'[build-system]\nrequires = ["y"]\n', part) != b""


def test_every_part_of_the_table_can_be_read() -> None:
    for row in TABLE:
        part_of(b"{}", row.part)
        part_of(b"\xff = x", row.part)
