"""Who can write a file, or put another one in its place."""

import os
from pathlib import Path

from siding.ground.files.attributes import Attributes, attributes_of, only_root_writes


def test_of_root_is_what_lies_in_directories_of_root_alone(tmp_path: Path) -> None:
    assert only_root_writes("/etc/passwd")
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o700)
    shared.chmod(0o777)
    (shared / "s.json").write_text("{}")
    (shared / "link").symlink_to("/etc/passwd")
    for name in ("s.json", "link", "not there"):
        assert not only_root_writes(str(shared / name))


def test_what_is_not_there_has_no_attribute_and_what_is_knows_its_mount(tmp_path: Path) -> None:
    nothing = attributes_of(os.fsencode(tmp_path / "missing"))
    assert nothing == Attributes(immutable=False, append_only=False, is_mount=False, mount=0)
    assert nothing == Attributes()
    there = attributes_of(os.fsencode(tmp_path))
    assert (there.immutable, there.append_only) == (False, False)
