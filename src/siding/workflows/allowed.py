"""What a script may use of Python, as tables. The checker names it, the child hands it out.

A script gives the same calls in each run only if it depends on nothing but its arguments and the
results of its calls. So there is no clock, no randomness without a seed, no environment, no file,
no network and no thread. This guards against mistakes. It is no wall against malice: the sandbox
is.
"""

from collections.abc import Mapping

# Modules of the standard library, and the names of each that scripts do not get.
MODULES: Mapping[str, frozenset[str]] = {
    "abc": frozenset({"get_cache_token", "update_abstractmethods"}),
    "asyncio": frozenset(),  # `gather` and `sleep` of our own
    "base64": frozenset({"main", "test", "encode", "decode"}),
    "bisect": frozenset(),
    "collections": frozenset(),
    "collections.abc": frozenset(),
    "contextlib": frozenset({"redirect_stdout", "redirect_stderr", "chdir"}),
    "copy": frozenset(),
    "dataclasses": frozenset({"make_dataclass"}),
    "datetime": frozenset(),
    "decimal": frozenset(),
    "difflib": frozenset(),
    "enum": frozenset({"global_enum", "global_enum_repr", "global_flag_repr", "global_str"}),
    "fractions": frozenset(),
    # Both read annotations as code.
    "functools": frozenset({"singledispatch", "singledispatchmethod"}),
    "graphlib": frozenset(),
    "hashlib": frozenset({"file_digest"}),
    "heapq": frozenset(),
    "html": frozenset(),
    "itertools": frozenset(),
    "json": frozenset({"load", "dump"}),
    "math": frozenset(),
    "numbers": frozenset(),
    "operator": frozenset({"attrgetter", "methodcaller"}),
    "pprint": frozenset({"pprint", "pp", "PrettyPrinter"}),
    "random": frozenset(),  # `Random` with a seed, and nothing else
    "re": frozenset({"template", "Scanner"}),
    "statistics": frozenset({"NormalDist", "kde_random"}),
    "string": frozenset({"Formatter"}),
    "textwrap": frozenset(),
    "typing": frozenset({"get_type_hints", "ForwardRef", "get_overloads"}),
    "unicodedata": frozenset(),
}
# Modules of which scripts have only these names.
ONLY: Mapping[str, frozenset[str]] = {
    "asyncio": frozenset({"gather", "sleep"}),
    "random": frozenset({"Random"}),
}

# What the kernel lets the process of a script have, all its time.
MEMORY_BYTES = 1 << 30
CPU_S = 600

# The functions that a script has without an import: those of this name of `child/hooks.py`.
PRIMITIVES = (
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
)
# The names that a script has without an import.
INJECTED = (*PRIMITIVES, "args", "budget")

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

# Names with two underscores that a script may read, as attributes.
DUNDER_ATTRIBUTES = frozenset(
    {"__init__", "__post_init__", "__str__", "__repr__", "__eq__", "__len__", "__iter__"}
    | {"__enter__", "__exit__", "__aenter__", "__aexit__", "__name__", "__doc__", "__call__"}
    | {"__add__", "__lt__", "__contains__", "__getitem__", "__setitem__", "__next__", "__new__"}
    | {"__hash__", "__qualname__"}
)
# Methods with two underscores that a class may define. The others decide how classes are made, what
# is copied, or run when memory is freed.
DUNDER_METHODS = DUNDER_ATTRIBUTES | frozenset(
    {"__bool__", "__bytes__", "__format__", "__hash__", "__index__", "__int__", "__float__"}
    | {"__complex__", "__round__", "__trunc__", "__floor__", "__ceil__", "__reversed__"}
    | {"__ne__", "__le__", "__gt__", "__ge__", "__delitem__", "__missing__", "__length_hint__"}
    | {"__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__divmod__", "__pow__"}
    | {"__matmul__", "__and__", "__or__", "__xor__", "__lshift__", "__rshift__"}
    | {"__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__rfloordiv__", "__rmod__", "__rpow__"}
    | {"__rmatmul__", "__rand__", "__ror__", "__rxor__", "__rlshift__", "__rrshift__"}
    | {"__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__"}
    | {"__ior__", "__iand__", "__ixor__", "__ipow__", "__neg__", "__pos__", "__abs__", "__invert__"}
    | {"__getattr__", "__get__", "__set__", "__set_name__", "__copy__", "__deepcopy__"}
    | {"__await__", "__aiter__", "__anext__", "__class_getitem__"}
)
# Names with two underscores that a script may set.
DUNDER_NAMES = frozenset(
    {"__slots__", "__hash__", "__doc__", "__all__", "__version__", "__author__"}
)

# What named tuples and enums call their own, though it begins with an underscore.
NAMEDTUPLE_ATTRIBUTES = frozenset(
    {"_asdict", "_replace", "_fields", "_make", "_field_defaults", "_value_", "_name_", "_missing_"}
)

# Attributes by which a running function, an error or a class leads out of the script.
REFUSED_ATTRIBUTES = frozenset(
    {"gi_frame", "gi_code", "gi_yieldfrom", "cr_frame", "cr_code", "cr_await", "cr_origin"}
    | {"ag_frame", "ag_code", "ag_await", "f_globals", "f_locals", "f_builtins", "f_back", "f_code"}
    | {"tb_frame", "tb_next", "tb_lasti", "func_globals", "func_code", "co_code", "mro"}
    | {"_convert_"}
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
    return name in REFUSED_ATTRIBUTES or (is_dunder(name) and name not in DUNDER_ATTRIBUTES)


def is_dunder(name: str) -> bool:
    """Tell whether a name begins and ends with two underscores, as Python's own do."""
    return name.startswith("__") and name.endswith("__")


def is_given(module: str, name: str) -> bool:
    """Tell whether a script has this name of a module that it may import."""
    if module in ONLY:
        return name in ONLY[module]
    return name not in MODULES[module]
