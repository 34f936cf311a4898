"""A script as a coroutine function: what stands at its top level may await and return.

A text's `format` can read any attribute of what it is given, by names that are put together when
the script runs. So `.format` becomes a call of `FORMAT_OF`, which gives one that cannot.
"""

import __future__

import ast
from collections.abc import Callable, Coroutine
from typing import Any

BODY = "workflow_body"
FORMAT_OF = "__format_of__"
FORMATS = frozenset({"format", "format_map"})


def compile_body(source: str, file: str) -> Any:
    """Return the code that defines the function `BODY`. Raises SyntaxError."""
    tree = ast.parse(source, file)
    flags = __future__.annotations.compiler_flag if any(map(is_future, tree.body)) else 0
    statements = [one for one in tree.body if not (is_meta(one) or is_future(one))]
    main = next((one for one in statements if is_main(one)), None)
    if main is not None:
        call = ast.parse("return await main(args)", file).body
        statements.extend(call)
    body = ast.parse(f"async def {BODY}(): pass", file)
    function = body.body[0]
    assert isinstance(function, ast.AsyncFunctionDef)
    function.body = statements or function.body
    _Formats().visit(body)
    return compile(ast.fix_missing_locations(body), file, "exec", flags, dont_inherit=True)


def is_meta(statement: ast.stmt) -> bool:
    """Tell whether a statement is ``meta = …``."""
    return (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
        and statement.targets[0].id == "meta"
    )


def is_future(statement: ast.stmt) -> bool:
    """Tell whether a statement is ``from __future__ import annotations``."""
    return (
        isinstance(statement, ast.ImportFrom)
        and statement.module == "__future__"
        and [alias.name for alias in statement.names] == ["annotations"]
    )


def is_main(statement: ast.stmt) -> bool:
    """Tell whether a statement defines ``async def main(args)``."""
    return isinstance(statement, ast.AsyncFunctionDef) and statement.name == "main"


def body_of(code: Any, names: dict[str, Any]) -> Callable[[], Coroutine[Any, Any, Any]]:
    """Return the function, with `names` as what the script finds."""
    exec(code, names)
    body: Callable[[], Coroutine[Any, Any, Any]] = names[BODY]
    return body


class _Formats(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if node.attr not in FORMATS or not isinstance(node.ctx, ast.Load):
            return node
        function = ast.Name(id=FORMAT_OF, ctx=ast.Load())
        arguments = [node.value, ast.Constant(value=node.attr)]
        call = ast.Call(func=function, args=arguments, keywords=[])
        return ast.copy_location(call, node)
