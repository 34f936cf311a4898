"""Which mount a path is on, and whether promises can be kept there."""

from pathlib import Path

import pytest

from siding.ground.storage.filesystem import Mount, mount_of, unsupported_reason

TABLE = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:25 / /proc rw - proc proc rw
31 22 0:40 / /home rw - nfs4 server:/home rw
32 31 0:41 / /home/me rw master:1 shared:7 - ext4 /dev/vdb rw
33 32 0:42 / /home/me/remote\\040disk rw - fuse.sshfs host: rw
34 22 0:43 / /mnt rw - ext4 /dev/vdc rw
35 22 0:44 / /mnt rw - cifs //server/share rw
damaged line
36 22 - short
"""


@pytest.mark.parametrize(
    ("path", "point", "kind"),
    [
        ("/", "/", "ext4"),
        ("/etc/x", "/", "ext4"),
        ("/homely", "/", "ext4"),
        ("/home", "/home", "nfs4"),
        ("/home/you", "/home", "nfs4"),
        ("/home/me/.siding", "/home/me", "ext4"),
        ("/home/me/remote disk/x", "/home/me/remote disk", "fuse.sshfs"),
        ("/mnt/x", "/mnt", "cifs"),
    ],
)
def test_a_path_is_on_the_nearest_and_latest_mount(path: str, point: str, kind: str) -> None:
    assert mount_of(path, TABLE) == Mount(point=point, kind=kind)


def test_no_table_no_mount() -> None:
    assert mount_of("/home", "") is None


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "mountinfo"
    path.write_text(TABLE)
    return path


@pytest.mark.parametrize("path", ["/home/you/.siding", "/home/me/remote disk", "/mnt/deep/er"])
def test_where_promises_cannot_be_kept_the_reason_is_said(table: Path, path: str) -> None:
    reason = unsupported_reason(Path(path), table=table)
    assert reason
    assert path in reason


@pytest.mark.parametrize("path", ["/nowhere/yet", "/home/me/.siding"])
def test_where_they_can_there_is_no_reason(table: Path, path: str) -> None:
    assert unsupported_reason(Path(path), table=table) is None


def test_links_are_followed_to_where_the_data_is(table: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/mnt/x")
    assert unsupported_reason(tmp_path / "link" / "y", table=table)


def test_without_a_mount_table_nothing_is_reported(tmp_path: Path) -> None:
    assert unsupported_reason(tmp_path, table=tmp_path / "missing") is None


def test_the_machines_own_table_is_understood(tmp_path: Path) -> None:
    text = Path("/proc/self/mountinfo").read_text()
    assert mount_of("/proc/self", text) == Mount(point="/proc", kind="proc")
    assert mount_of(str(tmp_path), text)
