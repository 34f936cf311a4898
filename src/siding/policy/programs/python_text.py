"""Judge Python text that a command line holds, using Python's own grammar.

A short list of modules and names is known to only compute and print. The policy asks about text
that uses anything else, or an attribute whose name starts with an underscore.
"""

import ast
from typing import TYPE_CHECKING

from siding.policy.fields import UNKNOWN
from siding.policy.names import names

if TYPE_CHECKING:
    from siding.policy.examiner import Examiner
    from siding.policy.state import ShellState

_MODULES = names(
    """
    abc argparse array ast base64 binascii bisect calendar cmath collections colorsys copy csv
    datetime decimal dataclasses difflib enum errno fractions functools glob hashlib heapq html
    inspect itertools io json keyword locale math numbers operator pathlib platform pprint
    random re secrets shutil  statistics string struct sys sysconfig tabnanny textwrap time
     token tokenize tomllib traceback types typing unicodedata uuid warnings xml zlib
    zoneinfo os
      email urllib  configparser locale  fnmatch

    """
)
_DANGEROUS_NAMES = names(
    """
    eval exec compile __import__ globals locals vars getattr setattr delattr breakpoint input
     open_code help
    """
)
_DANGEROUS_ATTRIBUTES = names(
    """
    system popen spawn spawnl spawnv spawnle spawnve posix_spawn posix_spawnp fork forkpty execl
    execle execlp execv execve execvp execvpe remove unlink rmdir removedirs rename renames
    replace link symlink symlink_to hardlink_to truncate chmod chown lchown chflags mkfifo mknod
    kill killpg setuid setgid seteuid setegid putenv unsetenv environ getenv environb rmtree
    move copy2 copyfile copytree copy_tree chroot chdir fchdir write_text write_bytes touch
    mkdir makedirs open read_text read_bytes expanduser home import_module load_module
    exec_module find_spec run call check_call check_output Popen getoutput getstatusoutput
    urlopen urlretrieve request get post put delete patch connect socket create_connection
     modules settrace setprofile _getframe addaudithook startfile ftruncate sendfile
    pwrite
    """
)
_WRITES = names("write_text write_bytes touch mkdir makedirs")
_READS = names("read_text read_bytes")


def judge_python(examiner: "Examiner", text: str, state: "ShellState") -> None:
    """Judge Python source; record `code-unclear` with the first part that is not harmless."""
    examiner.budget.spend(10 + 3 * len(text) // 2, "reading program text")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        examiner.found("code-unclear", f"not Python that parses: {error}")
        return
    if _only_versions(tree):
        return
    examiner.budget.spend(2 * sum(1 for _ in ast.walk(tree)), "reading program text")
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        problem = _mentioned(node) if id(node) not in called else ""
        problem = problem or _problem(examiner, node, state)
        if problem:
            examiner.found("code-unclear", problem)
            return


_VERSIONS = frozenset({"__version__", "__file__", "VERSION"})


def _only_versions(tree: ast.AST) -> bool:
    """Return whether a program only imports modules and prints their versions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr not in _VERSIONS:
            return False
        if isinstance(node, ast.Call):
            printing = isinstance(node.func, ast.Name) and node.func.id == "print"
            if not printing or node.keywords:
                return False
        if isinstance(node, ast.Name) and node.id in _DANGEROUS_NAMES | {"open"}:
            return False
        if isinstance(node, ast.ImportFrom | ast.FunctionDef | ast.ClassDef | ast.Subscript):
            return False
    return True


def _mentioned(node: ast.AST) -> str:
    """Return the dangerous name in `node`; "" when there is none.

    A dangerous name that is only mentioned may be called under another name: ``f = os.remove``.
    """
    if isinstance(node, ast.Name) and node.id == "open":
        return "open"
    if isinstance(node, ast.Attribute) and node.attr in _DANGEROUS_ATTRIBUTES:
        return f".{node.attr}"
    return ""


def _problem(examiner: "Examiner", node: ast.AST, state: "ShellState") -> str:
    match node:
        case ast.Import():
            bad = [a.name for a in node.names if a.name.partition(".")[0] not in _MODULES]
            return f"import {bad[0]}" if bad else ""
        case ast.ImportFrom():
            return _import_from(node)
        case ast.Name():
            name = node.id
            return name if name in _DANGEROUS_NAMES or name.startswith("__") else ""
        case ast.Attribute():
            hidden = node.attr.startswith("_") and node.attr not in _VERSIONS
            return f".{node.attr}" if hidden else ""
        case ast.Call():
            return _call(examiner, node, state)
        case ast.Subscript():
            return _environment(node)
        case _:
            return ""


def _import_from(node: ast.ImportFrom) -> str:
    module = node.module or ""
    if module.partition(".")[0] not in _MODULES:
        return f"from {module} import"
    for alias in node.names:
        if alias.name in _DANGEROUS_ATTRIBUTES or alias.name in ("*", "environ"):
            return f"from {module} import {alias.name}"
    return ""


def _environment(node: ast.Subscript) -> str:
    value = node.value
    inside = isinstance(value, ast.Attribute) and value.attr in ("environ", "environb", "modules")
    return ".environ" if inside else ""


def _call(examiner: "Examiner", node: ast.Call, state: "ShellState") -> str:
    function = node.func
    if isinstance(function, ast.Name):
        if function.id == "open":
            return _open(examiner, node, state)
        return (
            ""  # a local function, or one of the harmless built-in ones; `_problem` sees the name
        )
    if not isinstance(function, ast.Attribute):
        return "a computed call"
    name = function.attr
    if name == "rmtree" and node.args:
        examiner.deletes(_text(node.args[0]), state, recursive=True)
        return ""
    of_os = isinstance(function.value, ast.Name) and function.value.id == "os"
    if name in ("remove", "unlink", "rmdir") and of_os and node.args:
        examiner.deletes(_text(node.args[0]), state)
        return ""
    if name in _WRITES or name in _READS:
        return _path_call(examiner, node, function, state)
    if name in ("replace", "get", "copy", "remove", "format") and _plain_method(node, function):
        return ""
    return f".{name}()" if name in _DANGEROUS_ATTRIBUTES else ""


def _plain_method(node: ast.Call, function: ast.Attribute) -> bool:
    """Return whether a call is a method of a text or a dictionary and not of a path.

    ``"a".replace(x, y)`` has two arguments, ``Path.replace(target)`` has one.
    """
    base = function.value
    if isinstance(base, ast.Name) and base.id in ("os", "shutil", "requests", "urllib", "pathlib"):
        return False
    return function.attr != "replace" or len(node.args) >= 2


def _open(examiner: "Examiner", node: ast.Call, state: "ShellState") -> str:
    if not node.args:
        return "open()"
    path = _text(node.args[0])
    modes = [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "mode")]
    if path == UNKNOWN and not _argument(node.args[0]):
        return "open() of something"
    if all(isinstance(m, ast.Constant) and str(m.value) in ("r", "rb", "rt") for m in modes):
        examiner.reads(path, state)
    else:
        examiner.writes(path, state)
    return ""


def _argument(node: ast.expr) -> bool:
    """Return whether `node` is ``sys.argv[…]``, a file that is judged as an argument."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "argv"
    )


def _path_call(
    examiner: "Examiner", node: ast.Call, function: ast.Attribute, state: "ShellState"
) -> str:
    base = function.value
    path = UNKNOWN
    if isinstance(base, ast.Call) and base.args:
        path = _text(base.args[0])
    elif function.attr in ("mkdir", "makedirs") and node.args:
        path = _text(node.args[0])
    if path == UNKNOWN:
        return f".{function.attr}()"
    if function.attr in _WRITES:
        examiner.writes(path, state)
    else:
        examiner.reads(path, state)
    return ""


def _text(node: ast.expr) -> str:
    constant = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return str(node.value) if isinstance(node, ast.Constant) and constant else UNKNOWN
