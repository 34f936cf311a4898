"""Say whether redaction is switched off, and where (`siding doctor`)."""

from siding.record.place.project import Project


def redaction_notes(project: Project) -> list[str]:
    """Return a sentence if secrets are recorded as they are printed; none if they are masked."""
    if project.redaction.enabled:
        return []
    own = project.settings.redaction.enabled is False
    path = project.layout.config_yaml if own else project.app.home.config_path
    return [f"redaction is off ({str(path)!r}): secrets are recorded as they are printed"]
