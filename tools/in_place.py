"""Give the functions of a loaded module the code of a changed source, without loading it again.

Tests and whatever stands on the module go on with the functions that they have. What is computed
when a module is loaded (a constant, a default, a field of a class) cannot be replaced so:
`replaceable` tells, and such a change needs a fresh interpreter.
"""

import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any


def codes(source: bytes, path: str) -> dict[str, CodeType]:
    """Return the code of each function of a source that is no part of another one, by its name."""
    found: dict[str, CodeType] = {}
    for code in _below(compile(source, path, "exec", dont_inherit=True)):
        name, number = code.co_qualname, 2
        while name in found:  # a function that is defined twice: an overload, a property's setter
            name, number = f"{code.co_qualname} {number}", number + 1
        found[name] = code
    return found


def replaceable(module: ModuleType, old: bytes, new: bytes) -> bool:
    """Return whether all that differs is in functions that can be found in the loaded module."""
    path = str(module.__file__)
    before, after = codes(old, path), codes(new, path)
    differing = [name for name in before if not _same(before[name], after[name])]
    found = {function.__code__.co_qualname for function in functions(module)}
    return bool(differing) and all(
        name in found and before[name].co_freevars == after[name].co_freevars for name in differing
    )


def replace(module: ModuleType, new: bytes) -> None:
    """Replace the code of every function of the module that the new source has."""
    after = codes(new, str(module.__file__))
    for function in functions(module):
        code = after.get(function.__code__.co_qualname)
        if code is not None and code.co_freevars == function.__code__.co_freevars:
            function.__code__ = code


def functions(module: ModuleType) -> Iterator[FunctionType]:
    """Yield the functions that the module's source defines, also those behind a decorator."""
    path = str(module.__file__)
    for value in list(vars(module).values()):
        inside = list(vars(value).values()) if _is_class_of(value, module) else ()
        for each in (value, *inside):
            for function in _behind(each):
                if function.__code__.co_filename == path:
                    yield function


def _is_class_of(value: Any, module: ModuleType) -> bool:
    return inspect.isclass(value) and value.__module__ == module.__name__


def _behind(value: Any) -> Iterator[FunctionType]:
    """Yield the functions that a value of a module or a class stands for."""
    if isinstance(value, property):
        for part in (value.fget, value.fset):
            yield from _behind(part)
        return
    while value is not None:
        if isinstance(value, FunctionType):
            yield value
        known = getattr(value, "__dict__", {})
        value = known.get("__wrapped__") or known.get("func") or getattr(value, "__func__", None)


def _below(code: CodeType) -> Iterator[CodeType]:
    """Yield the functions that a module's or a class's own code makes."""
    for each in code.co_consts:
        if not isinstance(each, CodeType):
            continue
        if each.co_flags & inspect.CO_OPTIMIZED:
            yield each
        else:
            yield from _below(each)


def _same(one: CodeType, other: CodeType) -> bool:
    """Compare what two functions do; lines of the source do not count."""
    ours, theirs = (
        [each for each in code.co_consts if isinstance(each, CodeType)] for code in (one, other)
    )
    return (
        one.co_code == other.co_code
        and one.co_names == other.co_names
        and _plain(one) == _plain(other)
        and len(ours) == len(theirs)
        and all(map(_same, ours, theirs))
    )


def _plain(code: CodeType) -> list[str]:
    return [repr(each) for each in code.co_consts if not isinstance(each, CodeType)]
