"""A script as a coroutine function: what stands at its top level may await and return."""

import ast
from collections.abc import Callable, Coroutine
from typing import Any

BODY = "workflow_body"


def compile_body(source: str, file: str) -> Any:
    """Return the code that defines the function `BODY`. Raises SyntaxError."""
    tree = ast.parse(source, file)
    statements = [one for one in tree.body if not is_meta(one)]
    main = next((one for one in statements if is_main(one)), None)
    if main is not None:
        call = ast.parse("return await main(args)", file).body
        statements.extend(call)
    body = ast.parse(f"async def {BODY}(): pass", file)
    function = body.body[0]
    assert isinstance(function, ast.AsyncFunctionDef)
    function.body = statements or function.body
    return compile(ast.fix_missing_locations(body), file, "exec", dont_inherit=True)


def is_meta(statement: ast.stmt) -> bool:
    """Tell whether a statement is ``meta = …``."""
    return (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
        and statement.targets[0].id == "meta"
    )


def is_main(statement: ast.stmt) -> bool:
    """Tell whether a statement defines ``async def main(args)``."""
    return isinstance(statement, ast.AsyncFunctionDef) and statement.name == "main"


def body_of(code: Any, names: dict[str, Any]) -> Callable[[], Coroutine[Any, Any, Any]]:
    """Return the function, with `names` as what the script finds."""
    exec(code, names)
    body: Callable[[], Coroutine[Any, Any, Any]] = names[BODY]
    return body
