"""Record what a person has trusted of the files of a repository, in ``trust.json``.

Trust is stored by digest: for hooks, of all hooks together; for a policy that permits more, of its
bytes; for settings of sandboxes or of the built-in agent that permit more, of these settings; for a
workflow, of its script; for a file that a run left and another program runs, of its path and
content; for a filter or merge driver of the repository's git configuration, of its commands. After
any change the digest differs, and the person is asked again.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.record.place.project import DRIVERS, TRUST_VERSION

if TYPE_CHECKING:
    from siding.record.place.project import Project

# Sections: digest -> details.
HOOKS, POLICIES, SANDBOXES, WORKFLOWS = "trusted", "policies", "sandboxes", "workflows"
TRAPS, AGENTS = "traps", "agents"
_SECTIONS = (HOOKS, POLICIES, SANDBOXES, WORKFLOWS, TRAPS, AGENTS, DRIVERS)


def trusted_hooks(path: Path | None) -> dict[str, Any]:
    """Return the trusted sets of hooks, by digest."""
    return _section(path, HOOKS)


def trusted_policies(path: Path | None) -> dict[str, Any]:
    """Return the trusted policy files, by digest."""
    return _section(path, POLICIES)


def trusted_sandboxes(path: Path | None) -> dict[str, Any]:
    """Return the trusted sandbox settings, by digest."""
    return _section(path, SANDBOXES)


def trusted_workflows(path: Path | None) -> dict[str, Any]:
    """Return the trusted scripts of workflows, by digest."""
    return _section(path, WORKFLOWS)


def trusted_agents(path: Path | None) -> dict[str, Any]:
    """Return the trusted settings of the built-in agent, by digest."""
    return _section(path, AGENTS)


def trusted_traps(path: Path | None) -> dict[str, Any]:
    """Return the files seen that other programs run, by digest."""
    return _section(path, TRAPS)


def add(project: "Project", section: str, digest: str, told: Mapping[str, Any]) -> None:
    """Trust this digest in a section from now on. `told` is stored with it, for people."""
    add_all(project, section, {digest: told})


def add_all(project: "Project", section: str, told: Mapping[str, Mapping[str, Any]]) -> None:
    """Trust these digests in a section from now on, each with what is stored for people."""
    path = trust_json(project)
    with project.changing("trusting what the repository brings"):
        document, at = _document(path), project.app.now()
        new = {digest: {"at": at, **each} for digest, each in told.items()}
        entries = {**_entries(document, section), **new}
        write_document(path, {**document, "version": TRUST_VERSION, section: entries})


class AskedDriver(NamedTuple):
    """A filter or merge driver that git's configuration of the repository names; its commands."""

    kind: str
    name: str
    commands: tuple[str, ...]
    state: str
    trusted: bool


def asked_drivers(project: "Project") -> list[AskedDriver]:
    """Return the filters and merge drivers that run only if a person trusts them."""
    found = []
    for each in project.user_settings.drivers:
        state = "allowed" if each.trusted else "not allowed yet"
        if "=" in each.name:
            state = "cannot be allowed with '=' in its name"
        commands = [f"{key}: {command}" for key, command in each.commands]
        if each.required:
            commands.append("required: true")
        found.append(AskedDriver(each.kind, each.name, tuple(commands), state, each.trusted))
    return found


def trust_drivers(project: "Project") -> None:
    """Let the repository's filters and merge drivers run, exactly as they were read."""
    off = project.user_settings.off
    if off:
        told = {each.digest: {"kind": each.kind, "name": each.name} for each in off}
        add_all(project, DRIVERS, told)


def forget_all(project: "Project") -> int:
    """Revoke all trust; return the number of entries that were removed."""
    path = trust_json(project)
    with project.changing("revoking trust"):
        document = _document(path)
        count = sum(len(_entries(document, section)) for section in _SECTIONS)
        nothing: dict[str, Any] = {section: {} for section in _SECTIONS}
        write_document(path, {**document, "version": TRUST_VERSION, **nothing})
    return count


def trust_json(project: "Project") -> Path:
    """Return the path of the project's ``trust.json``."""
    return project.layout.root / "trust.json"


def _section(path: Path | None, section: str) -> dict[str, Any]:
    return {} if path is None else _entries(_document(path), section)


def _document(path: Path) -> dict[str, Any]:
    return read_document_or_none(path, what="what is trusted", version=TRUST_VERSION) or {}


def _entries(document: Mapping[str, Any], section: str) -> dict[str, Any]:
    found = document.get(section)
    return dict(found) if isinstance(found, dict) else {}
