"""Run one command of Siding and write down what it loaded and called. Started as a program:

    python child.py RESULT SOURCE PARSER WORD ...

RESULT is written at the end: a dictionary, as Python writes one. SOURCE is the directory with the
package, PARSER the function that makes a step of a ledger's line. Nothing is imported here that the
interpreter has not loaded already, because what the command loads is what is measured.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType
    from typing import Any

_OPTIMIZED_AND_NEW_LOCALS = 3  # flags of the code of a function; that of a class has only one
_EVENTS_FD = 199  # out of the way of the descriptors that the command uses
_PACKAGE = "siding"
_MAIN = "siding.__main__"


class Observer:
    """Sees each call in this process, and each process and flush also in those forked from it."""

    def __init__(self, result: str, parser: str) -> None:
        self._result = result
        self._parser = parser
        self._pid = os.getpid()
        self._before = set(sys.modules)
        # By identity: to compare code objects compares all that is in them.
        self._called: dict[int, CodeType] = {}
        self._parsed = 0
        self._patterns: dict[str, int] = {}  # by the module that compiles them
        opened = os.open(result + ".events", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, _EVENTS_FD, inheritable=False)
        os.close(opened)

    def start(self) -> None:
        self._watch_flushes()
        self._watch_threads()
        sys.addaudithook(self._audit)
        real_exit = os._exit

        def leave(status: int) -> None:
            if os.getpid() == self._pid:
                self.finish()
            real_exit(status)

        vars(os)["_exit"] = leave
        sys.setprofile(self._profile)

    def finish(self) -> None:
        """Write the result; later calls write it again, with less."""
        sys.setprofile(None)
        loaded = [name for name in sys.modules if name not in self._before]
        ours = [name for name in loaded if name.partition(".")[0] == _PACKAGE]
        ours = [name for name in ours if name != _MAIN]  # the installed program does without it
        called = {
            (code.co_filename, code.co_firstlineno, code.co_qualname)
            for code in self._called.values()
        }
        modules = {}
        for name in ours:
            loader: Any = getattr(sys.modules[name].__spec__, "loader", None)
            functions = list(_functions(loader.get_code(name)))
            modules[name] = (len(functions), len(called.intersection(functions)))
        with open(self._result, "w", encoding="utf-8") as file:
            file.write(
                repr(
                    {
                        "modules": modules,
                        "others": sum(name.partition(".")[0] != _PACKAGE for name in loaded),
                        "patterns": self._patterns,
                        "parsed": self._parsed,
                    }
                )
            )

    def _profile(self, frame: "FrameType", event: str, _argument: object) -> None:
        if event != "call":
            return
        code = frame.f_code
        self._called[id(code)] = code
        if code.co_name == self._parser:
            self._parsed += _PACKAGE in code.co_filename
        elif code.co_name == "compile" and code.co_filename.endswith(
            (os.sep + "re" + os.sep + "_compiler.py", os.sep + "sre_compile.py")
        ):
            module = _imported_now(frame)
            if module.partition(".")[0] == _PACKAGE:
                self._patterns[module] = self._patterns.get(module, 0) + 1

    def _audit(self, event: str, arguments: "tuple[Any, ...]") -> None:
        if event in ("os.posix_spawn", "os.exec"):
            words = [os.fsdecode(word) for word in arguments[1][:8]]
            program = "git" if any(os.path.basename(word) == "git" for word in words) else "other"
            _note(program)
        elif event == "subprocess.Popen":
            given = arguments[1]
            first = os.fsdecode(given if isinstance(given, str | bytes) else given[0])
            _note("git" if os.path.basename(first) == "git" else "other")

    def _watch_flushes(self) -> None:
        for name in ("fsync", "fdatasync"):
            real = getattr(os, name, None)
            if real is not None:
                setattr(os, name, _noted(real))

    def _watch_threads(self) -> None:
        import _thread

        for name in (
            "start_new_thread",
            "start_new",
            "start_joinable_thread",
            "_start_joinable_thread",
        ):
            real = getattr(_thread, name, None)
            if real is not None:
                setattr(_thread, name, self._profiled(real))

    def _profiled(self, start: "Callable[..., Any]") -> "Callable[..., Any]":
        def started(function: "Callable[..., Any]", *arguments: object, **named: object) -> object:
            def run(*given: object, **more: object) -> object:
                sys.setprofile(self._profile)
                return function(*given, **more)

            return start(run, *arguments, **named)

        return started


def _noted(real: "Callable[[int], None]") -> "Callable[[int], None]":
    def call(descriptor: int) -> None:
        _note("fsync")
        real(descriptor)

    return call


def _note(what: str) -> None:
    try:
        os.write(_EVENTS_FD, what.encode() + b"\n")
    except OSError:
        pass  # a forked process that has closed what it does not need


def _functions(code: "CodeType") -> "Iterator[tuple[str, int, str]]":
    """Yield what tells each function in a code object apart: place, line, name.

    Whatever has code of its own counts: methods, inner functions, and comprehensions, most of which
    have none since Python 3.12.
    """
    for each in code.co_consts:
        if not hasattr(each, "co_code"):
            continue
        flags = each.co_flags & _OPTIMIZED_AND_NEW_LOCALS
        if flags == _OPTIMIZED_AND_NEW_LOCALS:
            yield each.co_filename, each.co_firstlineno, each.co_qualname
        yield from _functions(each)


def _imported_now(frame: "FrameType | None") -> str:
    """Return the module whose top level is executed in a frame or above it, "" for none."""
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            name: str = frame.f_globals.get("__name__", "")
            return "" if name == _MAIN else name  # in which the whole command runs
        frame = frame.f_back
    return ""


def main() -> None:
    result, source, parser, *words = sys.argv[1:]
    sys.path[0] = source  # in place of the folder of this program
    sys.argv = ["siding", *words]
    observer = Observer(result, parser)
    observer.start()
    try:
        __import__(_MAIN)  # wherever the command line is: this runs it, and exits
    finally:
        observer.finish()


if __name__ == "__main__":
    main()
