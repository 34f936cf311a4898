"""What agents are told about workflows: when one is worth it, and how to write it."""

from importlib.resources import files


def guide() -> str:
    """Return the guide, in Markdown."""
    return (files("siding.workflows") / "GUIDE.md").read_text(encoding="utf-8")
