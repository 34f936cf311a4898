"""What a script may use of Python, as tables. The checker names it, the child hands it out.

A script gives the same calls in each run only if it depends on nothing but its arguments and the
results of its calls. So there is no clock, no randomness without a seed, no environment, no file,
no network and no thread. This guards against mistakes. It is no wall against malice: the sandbox
is.
"""

from collections.abc import Mapping

# Modules of the standard library, and the names of each that scripts do not get.
MODULES: Mapping[str, frozenset[str]] = {
    "asyncio": frozenset(),  # `gather` and `sleep` of our own
    "base64": frozenset({"main", "test", "encode", "decode"}),
    "bisect": frozenset(),
    "collections": frozenset(),
    "collections.abc": frozenset(),
    "copy": frozenset(),
    "dataclasses": frozenset({"make_dataclass"}),
    "datetime": frozenset(),
    "decimal": frozenset(),
    "difflib": frozenset(),
    "enum": frozenset(),
    "fractions": frozenset(),
    "functools": frozenset({"singledispatchmethod"}),
    "hashlib": frozenset({"file_digest"}),
    "heapq": frozenset(),
    "itertools": frozenset(),
    "json": frozenset({"load", "dump"}),
    "math": frozenset(),
    "operator": frozenset({"attrgetter", "methodcaller"}),
    "random": frozenset(),  # `Random` with a seed, and nothing else
    "re": frozenset({"template", "Scanner"}),
    "statistics": frozenset({"NormalDist", "kde_random"}),
    "string": frozenset({"Formatter"}),
    "textwrap": frozenset(),
    "typing": frozenset({"get_type_hints", "ForwardRef", "get_overloads"}),
}

# The names that a script has without an import.
INJECTED = (
    "agent",
    "parallel",
    "pipeline",
    "phase",
    "log",
    "workflow",
    "ask",
    "sleep",
    "run",
    "bring_back",
    "args",
    "budget",
)

_CLOCK = "pass the time in as an argument of the run"
_FILES = "let an agent read or write files, or pass contents in as an argument"
_CODE = "write the code into the script"
_INSIDE = "it reaches into Python itself; a workflow needs only plain values"

# Built-in functions that scripts do not have, and what to do without them.
REFUSED_NAMES: Mapping[str, str] = {
    "open": _FILES,
    "input": "ask a person with `await ask(…)`",
    "eval": _CODE,
    "exec": _CODE,
    "compile": _CODE,
    "globals": _INSIDE,
    "locals": _INSIDE,
    "vars": _INSIDE,
    "dir": _INSIDE,
    "id": "it is another number in each run; compare with `is`",
    "hash": "it may be another number in each run; use hashlib",
    "breakpoint": "write to the log with `log(…)`",
    "help": _INSIDE,
    "exit": "end with `return`",
    "quit": "end with `return`",
    "memoryview": _INSIDE,
    "delattr": _INSIDE,
    "BaseException": "use Exception",
    "BaseExceptionGroup": "use ExceptionGroup",
    "SystemExit": "end with `return`",
    "KeyboardInterrupt": "use Exception",
    "GeneratorExit": "use Exception",
    "__import__": _INSIDE,
    "__builtins__": _INSIDE,
    "__loader__": _INSIDE,
    "__spec__": _INSIDE,
}

# Attributes with two underscores that plain classes need.
DUNDER_ATTRIBUTES = frozenset(
    {
        "__init__",
        "__post_init__",
        "__str__",
        "__repr__",
        "__eq__",
        "__len__",
        "__iter__",
        "__next__",
    }
    | {"__enter__", "__exit__", "__aenter__", "__aexit__", "__name__", "__doc__", "__call__"}
    | {"__add__", "__lt__", "__contains__", "__getitem__", "__setitem__"}
)

# Attributes by which a running function leads out of the script.
REFUSED_ATTRIBUTES = frozenset(
    {"gi_frame", "gi_code", "gi_yieldfrom", "cr_frame", "cr_code", "cr_await", "cr_origin"}
    | {"ag_frame", "ag_code", "ag_await", "f_globals", "f_locals", "f_builtins", "f_back", "f_code"}
    | {"tb_frame", "tb_next", "tb_lasti", "func_globals", "func_code", "co_code", "mro"}
)

# Modules that people reach for, and what to do without them.
MODULE_REMEDIES: Mapping[str, str] = {
    "time": _CLOCK + ", or wait with `await sleep(seconds)`",
    "os": _FILES,
    "sys": _INSIDE,
    "pathlib": _FILES,
    "io": _FILES,
    "shutil": _FILES,
    "glob": _FILES,
    "tempfile": _FILES,
    "subprocess": "let an agent run commands",
    "socket": "let an agent use the network",
    "urllib": "let an agent use the network",
    "http": "let an agent use the network",
    "requests": "let an agent use the network",
    "httpx": "let an agent use the network",
    "secrets": "use `random.Random(seed)` with a seed from the arguments",
    "uuid": "use hashlib over what makes the thing unique",
    "threading": "use `parallel` or `pipeline`",
    "multiprocessing": "use `parallel` or `pipeline`",
    "concurrent": "use `parallel` or `pipeline`",
    "logging": "write to the log with `log(…)`",
    "inspect": _INSIDE,
    "importlib": _INSIDE,
    "ctypes": _INSIDE,
    "gc": _INSIDE,
    "pickle": "use json",
}


def refused_attribute(name: str) -> bool:
    """Tell whether a script may not use an attribute of this name."""
    if name in REFUSED_ATTRIBUTES:
        return True
    return name.startswith("__") and name not in DUNDER_ATTRIBUTES
