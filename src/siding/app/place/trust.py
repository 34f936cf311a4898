"""Record what a person has trusted of the files of a repository, in ``trust.json``.

Trust is stored by digest: for hooks, of all hooks together; for a policy that permits more, of its
bytes; for sandbox settings that permit more, of these settings; for a workflow, of its script.
After any change the digest differs, and the person is asked again.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from siding.storage.documents import read_document_or_none, write_document

if TYPE_CHECKING:
    from siding.app.place.project import Project

TRUST_VERSION = 1
# Sections: digest -> details.
HOOKS, POLICIES, SANDBOXES, WORKFLOWS = "trusted", "policies", "sandboxes", "workflows"


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


def add(project: "Project", section: str, digest: str, told: Mapping[str, Any]) -> None:
    """Trust this digest in a section from now on. `told` is stored with it, for people."""
    path = trust_json(project)
    with project.changing("trusting what the repository brings"):
        document = _document(path)
        entries = {**_entries(document, section), digest: {"at": project.app.now(), **told}}
        write_document(path, {**document, "version": TRUST_VERSION, section: entries})


def forget_all(project: "Project") -> int:
    """Revoke all trust; return the number of entries that were removed."""
    path = trust_json(project)
    with project.changing("revoking trust"):
        document = _document(path)
        sections = (HOOKS, POLICIES, SANDBOXES, WORKFLOWS)
        count = sum(len(_entries(document, section)) for section in sections)
        nothing: dict[str, Any] = {section: {} for section in sections}
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
