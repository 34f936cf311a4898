"""What a person allowed of what a repository brings: ``trust.json``.

Hooks are allowed by the digest of all of them, a policy that loosens by the digest of its bytes,
sandbox settings that widen by the digest of what they ask: a change of a single one asks again.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from siding.storage.documents import read_document_or_none, write_document

if TYPE_CHECKING:
    from siding.app.place.project import Project

TRUST_VERSION = 1
HOOKS, POLICIES, SANDBOXES = "trusted", "policies", "sandboxes"  # digest -> when, and what


def trusted_hooks(path: Path | None) -> dict[str, Any]:
    """Return what was allowed of hooks, by digest."""
    return _section(path, HOOKS)


def trusted_policies(path: Path | None) -> dict[str, Any]:
    """Return which policy files were allowed to loosen, by digest."""
    return _section(path, POLICIES)


def trusted_sandboxes(path: Path | None) -> dict[str, Any]:
    """Return which sandbox settings were allowed to widen, by digest."""
    return _section(path, SANDBOXES)


def add(project: "Project", section: str, digest: str, told: Mapping[str, Any]) -> None:
    """Allow what has this digest, from now on."""
    path = trust_json(project)
    with project.changing("trusting what the repository brings"):
        document = _document(path)
        entries = {**_entries(document, section), digest: {"at": project.app.now(), **told}}
        write_document(path, {**document, "version": TRUST_VERSION, section: entries})


def forget_all(project: "Project") -> int:
    """Allow nothing any more; return how much there was."""
    path = trust_json(project)
    with project.changing("revoking trust"):
        document = _document(path)
        sections = (HOOKS, POLICIES, SANDBOXES)
        count = sum(len(_entries(document, section)) for section in sections)
        nothing: dict[str, Any] = {section: {} for section in sections}
        write_document(path, {**document, "version": TRUST_VERSION, **nothing})
    return count


def trust_json(project: "Project") -> Path:
    """Return where it is kept."""
    return project.layout.root / "trust.json"


def _section(path: Path | None, section: str) -> dict[str, Any]:
    return {} if path is None else _entries(_document(path), section)


def _document(path: Path) -> dict[str, Any]:
    return read_document_or_none(path, what="what is trusted", version=TRUST_VERSION) or {}


def _entries(document: Mapping[str, Any], section: str) -> dict[str, Any]:
    found = document.get(section)
    return dict(found) if isinstance(found, dict) else {}
