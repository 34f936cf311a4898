"""Make the OpenAPI 3.1 document from the table of operations."""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from siding import __version__

if TYPE_CHECKING:
    from siding.faces.web.api.table import Operation

_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "hint": {"type": ["string", "null"]},
            },
        }
    },
}
_ABOUT = (
    "The dashboard's API. Every request needs the key of this start. Where a person is asked for, "
    "it needs a code of the terminal as well, or the signature of a paired device."
)
_STATUSES = {
    "400": "The request is not valid",
    "401": "The key is missing or wrong",
    "403": "A paired device may not do this, or its signature is not of this request",
    "404": "What the address names does not exist",
    "409": "The act is not possible now; nothing was changed",
}


def document(operations: Iterable["Operation"], prefix: str) -> dict[str, Any]:
    """Return the OpenAPI document of the operations; `prefix` goes before their paths."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        path = paths.setdefault(prefix + operation.path, {})
        path[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Siding",
            "version": __version__,
            "description": _ABOUT,
        },
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _ERROR},
        },
    }


def _operation(operation: "Operation") -> dict[str, Any]:
    found: dict[str, Any] = {
        "summary": operation.summary,
        "operationId": _identifier(operation),
        "parameters": [*_path_parameters(operation.path), *_query_parameters(operation.query)],
        "responses": {"200": _response("Done", operation.answer)},
    }
    error = {"$ref": "#/components/schemas/Error"}
    for status, told in _STATUSES.items():
        found["responses"][status] = _response(told, error)
    if operation.body is not None:
        content = {"application/json": {"schema": operation.body}}
        found["requestBody"] = {"required": True, "content": content}
    return found


def _identifier(operation: "Operation") -> str:
    words = re.sub(r"[{}]", "", operation.path).strip("/").split("/")
    return "_".join([operation.method.lower(), *words])


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", path)
    ]


def _query_parameters(query: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "query", "required": False, "schema": dict(schema)}
        for name, schema in query.items()
    ]


def _response(told: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": told, "content": {"application/json": {"schema": dict(schema)}}}
