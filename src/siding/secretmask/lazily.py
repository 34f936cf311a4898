"""Patterns that are compiled at their first use: a command uses few of those that it loads."""

import re
from typing import Any, AnyStr, cast


class _Lazy:
    """Stands for a compiled pattern. What is used of it is kept here."""

    def __init__(self, pattern: object, flags: int) -> None:
        self._made_of = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__
        if "_compiled" not in known:  # by two threads at once it is compiled twice
            known["_compiled"] = re.compile(*known["_made_of"])
        found = known[name] = getattr(known["_compiled"], name)
        return found


def lazily(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what can be used as ``re.compile(pattern, flags)`` can, by its methods.

    A mistake in the pattern shows at its first use: a test compiles them all.
    """
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, flags))
