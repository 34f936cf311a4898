"""Who can write a file, or put another one in its place."""

from pathlib import Path

from siding.ground.files.attributes import only_root_writes


def test_of_root_is_what_lies_in_directories_of_root_alone(tmp_path: Path) -> None:
    assert only_root_writes("/etc/passwd")
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o700)
    shared.chmod(0o777)
    (shared / "s.json").write_text("{}")
    (shared / "link").symlink_to("/etc/passwd")
    for name in ("s.json", "link", "not there"):
        assert not only_root_writes(str(shared / name))
