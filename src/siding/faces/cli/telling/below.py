"""The verbs below a verb, on its page of help."""

from siding.faces.cli.table import BELOW


def list_below(verb: str, about: str) -> str:
    """Return the verbs below a verb as they stand at the end of its page of help."""
    lines = [f"  {name:<16} {does}" for name, (_place, does) in BELOW[verb].items()]
    return "\n".join([f"{about}:", *lines])
