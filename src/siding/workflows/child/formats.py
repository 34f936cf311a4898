"""`format` of texts, which reads no attribute that leads out of the script."""

import re
import string
from typing import Any

_ATTRIBUTE = re.compile(r"\.([^.\[]+)")
_parse = string.Formatter().parse


def format_of(value: Any, name: str) -> Any:
    """Return ``value.format`` or ``value.format_map``; if it is a text's, for fields that may be.

    Raises AttributeError for others.
    """
    if isinstance(value, str):
        _refuse_fields(value)
    elif isinstance(value, type) and issubclass(value, str):
        return lambda text, *words, **names: format_of(text, name)(*words, **names)
    return getattr(value, name)


def _refuse_fields(text: str) -> None:
    for _literal, field, spec, _conversion in _parse(text):
        for attribute in _ATTRIBUTE.findall(field or ""):
            if attribute.startswith("_"):
                raise AttributeError(f"a format in a workflow has no attribute {attribute!r}")
        if spec:
            _refuse_fields(spec)
