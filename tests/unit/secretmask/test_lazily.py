"""Patterns that are compiled at their first use are those that were written."""

import pkgutil
import re
from importlib import import_module

import pytest

import siding.secretmask
from siding.secretmask.lazily import _Lazy, lazily


def test_each_pattern_of_the_library_can_be_compiled() -> None:
    modules = [
        import_module(f"siding.secretmask.{each.name}")
        for each in pkgutil.iter_modules(siding.secretmask.__path__)
    ]
    lazy = [each for module in modules for each in vars(module).values() if type(each) is _Lazy]
    assert len(lazy) > 50
    assert all(each.pattern and each.groups >= 0 for each in lazy)


def test_it_is_compiled_once_and_used_as_any() -> None:
    pattern = lazily(rb"(?P<word>A+)b", re.IGNORECASE)
    assert "_compiled" not in vars(pattern)
    found = pattern.search(b"xAaB")
    assert found is not None
    assert found["word"] == b"Aa"
    assert vars(pattern)["search"] == vars(pattern)["_compiled"].search
    assert (pattern.groups, pattern.sub(b"-", b"aab")) == (1, b"-")
    with pytest.raises(re.error):
        lazily(rb"(").match(b"")
    assert not hasattr(pattern, "no_such_method")
