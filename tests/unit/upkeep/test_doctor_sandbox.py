"""What `siding doctor --sandbox` says about control groups."""

from pathlib import Path

import pytest

from siding.sandbox.engines.cgroup import Delegation
from siding.upkeep.sandbox import kernel_limits

SESSION = "0::/user.slice/user-1000.slice/session-3.scope\n"
MANAGED = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope\n"
NONE = Delegation(None, "no part is writable")


def detail(tmp_path: Path, own: str, groups: Delegation = NONE) -> str:
    return kernel_limits({"XDG_RUNTIME_DIR": str(tmp_path)}, groups, own).detail


@pytest.fixture
def manager(tmp_path: Path) -> Path:
    (tmp_path / "systemd").mkdir()
    (tmp_path / "systemd/private").touch()
    return tmp_path


def test_a_session_beside_the_user_s_manager_is_told_the_way(manager: Path) -> None:
    told = detail(manager, SESSION)
    assert "no part is writable" in told
    assert "systemd-run --user --scope" in told


def test_without_a_manager_there_is_no_way(tmp_path: Path) -> None:
    assert "systemd-run" not in detail(tmp_path, SESSION)
    assert "samples" in kernel_limits({}, NONE, SESSION).detail


def test_below_the_manager_it_is_no_other_scope_that_is_missing(manager: Path) -> None:
    assert "systemd-run" not in detail(manager, MANAGED)


def test_where_there_is_a_place_it_is_named(manager: Path) -> None:
    proof = kernel_limits({}, Delegation(manager), SESSION)
    assert proof.holds
    assert proof.detail == str(manager)
