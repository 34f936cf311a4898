"""JSON with comments, as agents read their settings. Pure."""

import re

_TEXT_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def without_comments(raw: str) -> str:
    """Return JSON without its comments; what is in a text stays as it is."""
    return _TEXT_OR_COMMENT.sub(lambda hit: hit[1] or "", raw)
