"""What a run sees: pure planning over disks that exist only as sets of names."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.places import AgentPlaces
from siding.sandbox.engines.values import (
    BindMount,
    GitAccess,
    Kind,
    Network,
    Places,
    Quarantine,
    SandboxRequirements,
    View,
    is_within,
)
from siding.sandbox.engines.view import ALTERNATE, DiskLook, plan_view

PLACES = Places(
    workspace="/home/ada/.siding/projects/p/workspaces/t",
    common_dir="/home/ada/code/app/.git",
    git_dir="/home/ada/code/app/.git/worktrees/t",
    checkout="/home/ada/code/app",
    state="/home/ada/.siding",
    homes=("/home/ada",),
    programs=("/usr/bin", "/home/ada/.nvm/versions/v20/bin", "/home/ada/bin"),
    program="/usr/bin/true",
)
PLAIN = SandboxRequirements()
AGENT = AgentPlaces(
    sessions=(".bot/projects",), readable=(".bot/settings.json",), copied=(".bot.json",)
)
QUARANTINE = Quarantine(objects="/q/objects", heads="/q/heads", git_dir="/q/own")


def disk(*names: str, links: dict[str, str] | None = None) -> DiskLook:
    """Return a disk with these names, and the directories above them."""
    known = {"/home", "/root", "/tmp", "/var/tmp", "/run", *PLACES[:3]}
    known |= {PLACES.checkout or "", PLACES.state, *PLACES.homes, *PLACES.programs, *names}
    followed = links or {}

    def real(path: str) -> str:
        return followed.get(path, path)

    return DiskLook(
        exists=lambda path: real(path) in known or path in known,
        real=real,
        is_link=lambda path: path in followed,
    )


def view(
    demand: SandboxRequirements = PLAIN,
    look: DiskLook | None = None,
    agent: AgentPlaces | None = None,
    **more: object,
) -> View:
    return plan_view(PLACES, demand, agent=agent, look=look or disk(), **more)  # type: ignore[arg-type]


def test_only_the_workspace_is_writable_of_what_is_there() -> None:
    found = view()
    assert [m.path for m in found.mounts if m.kind is Kind.WRITE] == [PLACES.workspace]


def test_homes_state_and_checkout_are_empty() -> None:
    found = view()
    for path in ("/home/ada/.ssh/id", "/home/eve", "/root/x", "/run/docker.sock", "/tmp/x"):
        assert found.kind_of(path) in (Kind.EMPTY, Kind.BLANK), path
    for path in ("/home/ada/.siding/config.yaml", "/home/ada/code/app/.env"):
        assert found.kind_of(path) is Kind.BLANK, path
    assert found.kind_of("/usr/bin/true") is Kind.SHOW


@pytest.mark.parametrize(
    ("names", "kind"), [(["tracing"], Kind.BLANK), ([], Kind.SHOW), (None, Kind.SHOW)]
)
def test_what_debugs_the_kernel_is_hidden_where_we_could_see_it(
    names: list[str] | None, kind: Kind
) -> None:
    def listed(_path: str) -> list[str]:
        if names is None:
            raise PermissionError
        return names

    found = view(look=disk("/sys/kernel/debug")._replace(listed=listed))
    assert found.kind_of("/sys/kernel/debug/tracing") is kind


def test_git_is_shown_and_the_git_file_is_guarded() -> None:
    found = view(look=disk(f"{PLACES.workspace}/.git", f"{PLACES.workspace}/.siding"))
    for path in (
        f"{PLACES.common_dir}/config",
        f"{PLACES.workspace}/.git",
        f"{PLACES.workspace}/.siding/policy.yaml",
    ):
        assert found.kind_of(path) is Kind.SHOW, path


def test_committing_opens_only_what_is_ours() -> None:
    own = PLACES.git_dir
    found = view(look=disk("/q/own/commondir", f"{own}/modules"), quarantine=QUARANTINE)
    sources = {m.path: m.origin for m in found.mounts if m.kind is Kind.WRITE}
    assert sources == {
        f"{PLACES.common_dir}/objects": "/q/objects",
        f"{PLACES.common_dir}/refs/heads": "/q/heads",
        own: "/q/own",
        PLACES.workspace: PLACES.workspace,
    }
    for path in ("hooks/x", "config", "packed-refs", "refs/tags/v1", "worktrees/other/HEAD"):
        assert found.kind_of(f"{PLACES.common_dir}/{path}") is Kind.SHOW, path
    assert found.kind_of(f"{own}/commondir") is Kind.SHOW
    assert found.kind_of(f"{own}/modules/sub/hooks/x") is Kind.SHOW
    assert found.kind_of(ALTERNATE) is Kind.SHOW


def test_reading_git_opens_nothing() -> None:
    found = view(SandboxRequirements(git=GitAccess.READ), quarantine=QUARANTINE)
    assert [m.path for m in found.mounts if m.kind is Kind.WRITE] == [PLACES.workspace]


def test_programs_of_the_search_path_are_shown_with_what_they_need() -> None:
    found = view(look=disk("/home/ada/.nvm/versions/v20"))
    assert found.kind_of("/home/ada/.nvm/versions/v20/lib/node_modules/x") is Kind.SHOW
    assert found.kind_of("/home/ada/bin/tool") is Kind.SHOW
    assert found.kind_of("/home/ada/other") is Kind.EMPTY


def test_a_program_of_node_gets_all_its_modules() -> None:
    modules = "/home/ada/agents/node_modules"
    places = PLACES._replace(programs=(f"{modules}/.bin",))
    look = disk(modules, f"{modules}/.bin")
    found = plan_view(places, SandboxRequirements(), agent=None, look=look)
    assert found.kind_of(f"{modules}/@a/b/bin/x") is Kind.SHOW
    assert found.kind_of("/home/ada/agents/.env") is Kind.EMPTY


def test_a_search_path_in_the_checkout_does_not_show_the_checkout() -> None:
    places = PLACES._replace(programs=("/home/ada/code/app/bin",))
    look = disk("/home/ada/code/app/bin")
    found = plan_view(places, SandboxRequirements(), agent=None, look=look)
    assert found.kind_of("/home/ada/code/app/bin/x") is Kind.SHOW
    assert found.kind_of("/home/ada/code/app/.env") is Kind.BLANK


def test_a_virtual_environment_in_the_checkout_works() -> None:
    places = PLACES._replace(programs=("/home/ada/code/app/.venv/bin",))
    look = disk("/home/ada/code/app/.venv/bin", "/home/ada/code/app/.venv")
    found = plan_view(places, SandboxRequirements(), agent=None, look=look)
    assert found.kind_of("/home/ada/code/app/.venv/lib/x") is Kind.SHOW


def test_siding_itself_is_shown_wherever_it_lies_but_never_what_holds_private_places() -> None:
    own = ("/tmp/venv", "/home/ada/src/siding/src", "/usr", "/home/ada", "/home/ada/code")
    places = PLACES._replace(own=own)
    found = plan_view(places, SandboxRequirements(), agent=None, look=disk(*own))
    assert found.kind_of("/tmp/venv/lib/x") is found.kind_of(f"{own[1]}/siding/x") is Kind.SHOW
    assert not [mount for mount in found.mounts if mount.path == "/usr"]
    assert found.kind_of("/tmp/other") is found.kind_of("/home/ada/notes") is Kind.EMPTY
    assert found.kind_of("/home/ada/code/app/.env") is Kind.BLANK
    assert found.kind_of("/home/ada/code/other") is Kind.EMPTY


def test_an_agents_settings_are_never_writable() -> None:
    home = "/home/ada"
    look = disk(f"{home}/.bot/settings.json", f"{home}/.bot/projects", f"{home}/.bot.json")
    found = view(look=look, agent=AGENT)
    assert found.kind_of(f"{home}/.bot/settings.json") is Kind.SHOW
    assert found.kind_of(f"{home}/.bot/projects/a/b") is Kind.WRITE
    assert found.kind_of(f"{home}/.bot.json") is Kind.COPY
    assert found.kind_of(f"{home}/.bot/hooks/new") is Kind.EMPTY  # not there: made and gone


def test_a_writable_home_gets_no_copies_and_state_stays_hidden() -> None:
    look = disk("/home/ada/.bot.json")
    found = view(SandboxRequirements(write=("/home/ada",)), look, agent=AGENT)
    assert found.kind_of("/home/ada/.bot.json") is Kind.WRITE
    assert found.kind_of("/home/ada/.siding/config.yaml") is Kind.BLANK
    assert found.kind_of(f"{PLACES.common_dir}/config") is Kind.SHOW


def test_a_link_in_the_workspace_is_not_followed() -> None:
    guarded = f"{PLACES.workspace}/.siding"
    found = view(look=disk("/home/ada/.ssh", links={guarded: "/home/ada/.ssh"}))
    assert guarded not in {m.path for m in found.mounts}
    assert "/home/ada/.ssh" not in {m.origin for m in found.mounts}


def test_a_home_behind_a_link_keeps_its_name() -> None:
    places = PLACES._replace(homes=("/data/ada",), names=("/home/ada", "/home/ada/x"))
    look = disk("/data/ada", links={"/home/ada": "/data/ada"})
    found = plan_view(places, SandboxRequirements(), agent=None, look=look)
    (link,) = [mount for mount in found.mounts if mount.kind is Kind.LINK]
    assert (link.path, link.source) == ("/home/ada", "/data/ada")
    assert found.kind_of("/data/ada/.ssh") is Kind.EMPTY


def test_sockets_that_can_be_seen_are_masked() -> None:
    sockets = ["/var/lib/db.sock", "/run/docker.sock", f"{PLACES.workspace}/own.sock"]
    found = view(sockets=sockets)
    assert [m.path for m in found.mounts if m.kind is Kind.MASK] == ["/var/lib/db.sock"]


def test_a_home_that_is_the_whole_system_is_not_hidden() -> None:
    found = plan_view(
        PLACES._replace(homes=("/",)), SandboxRequirements(), agent=None, look=disk("/")
    )
    assert found.kind_of("/usr/bin/true") is Kind.SHOW


def test_names_are_only_looked_up_with_a_network() -> None:
    look = disk("/run/resolve/stub", links={"/etc/resolv.conf": "/run/resolve/stub"})
    assert view(look=look).kind_of("/run/resolve/stub") is Kind.SHOW
    off = view(SandboxRequirements(network=Network.OFF), look=look)
    assert off.kind_of("/run/resolve/stub") is Kind.EMPTY


@given(
    read=st.lists(st.sampled_from(["/home/ada/a", "/home/ada/.siding", "/data", "/home"])),
    write=st.lists(st.sampled_from(["/home/ada/a/b", "/home/ada", "/home/ada/code", "/opt/x"])),
    agent=st.sampled_from([None, AGENT]),
    commits=st.booleans(),
)
def test_whatever_is_listed_parents_come_first_and_the_guarded_stays(
    read: list[str], write: list[str], agent: AgentPlaces | None, commits: bool
) -> None:
    look = disk(*read, *write, f"{PLACES.workspace}/.git", f"{PLACES.git_dir}/commondir")
    found = plan_view(
        PLACES,
        SandboxRequirements(read=tuple(read), write=tuple(write)),
        agent=agent,
        look=look,
        quarantine=QUARANTINE if commits else None,
    )
    paths = [mount.path for mount in found.mounts]
    assert len(paths) == len(set(paths))
    for index, path in enumerate(paths):
        assert not any(is_within(path, later) for later in paths[index + 1 :])
    assert found.kind_of(f"{PLACES.workspace}/.git") is Kind.SHOW
    assert found.kind_of(f"{PLACES.workspace}/file") is Kind.WRITE
    assert found.kind_of(f"{PLACES.common_dir}/hooks/post-commit") is Kind.SHOW
    assert found.kind_of("/home/ada/.siding/projects/p/tasks") in (Kind.BLANK, Kind.SHOW)
    assert all(os.path.normpath(path) == path for path in paths)


def test_the_nearest_mount_decides() -> None:
    found = View(mounts=(BindMount(Kind.BLANK, "/a"), BindMount(Kind.WRITE, "/a/b")))
    assert [found.kind_of(path) for path in ("/a", "/a/b/c", "/ab")] == [
        Kind.BLANK,
        Kind.WRITE,
        Kind.SHOW,
    ]
