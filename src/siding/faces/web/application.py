"""The dashboard as one application: its addresses, and the responses for failures.

Every page's address returns the same empty page; its script then fetches the content with the key.
``/view/…`` is that content, ``/api/v1/…`` the same data as JSON (the routes come from the table of
operations), ``/live`` the live stream.
"""

import asyncio
import json
import os
import re
import time
from collections.abc import Awaitable, Callable, Container, Iterator, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from siding.asking.devices.refusals import DeviceRefused
from siding.faces.web.access import Key
from siding.faces.web.ansi import palette
from siding.faces.web.asking.devices import DeviceMay, Serving, device_of, device_routes
from siding.faces.web.openapi import Operation, document
from siding.faces.web.rendering import Page, render
from siding.faces.web.request import Ask, Fields, Site, object_in, one_step, read_object
from siding.faces.web.table import OPERATIONS, PAGES, PIECES, SHARED
from siding.feed.board import show
from siding.ground.errors import NotFound, SidingError, UsageError
from siding.record.recording.freed import refuse_freed_patch
from siding.record.recording.recorded_patches import patch_span, whole_patch
from siding.record.recording.step_details import Span
from siding.record.recording.step_details import output as output_of

PREFIX = "/api/v1"
_CHUNK = 256 * 1024
Endpoint = Callable[[Request], Awaitable[Response]]
_STATIC = Path(__file__).parent / "static"
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
MOST_TOPICS = 8
_STATUSES: Mapping[type[SidingError], int] = {NotFound: 404, UsageError: 400, DeviceRefused: 403}
_STATUSES_OF_CODES = {kind.code: status for kind, status in _STATUSES.items()}  # of refusals


def build(site: Site, *, key: Key, serving: Serving | None) -> ASGIApp:
    """Return the application, without the check of who asks around it."""
    files = _static_files()
    shell = (Path(__file__).parent / "templates" / "shell.html").read_bytes()

    async def empty_page(_request: Request) -> Response:
        return Response(shell, media_type="text/html; charset=utf-8")

    async def static(request: Request) -> Response:
        found = files.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return Response(found[0], headers={"content-type": found[1]})

    async def live(request: Request) -> Response:
        topics = request.query_params.get("topics", "").split(",")
        if len(topics) > MOST_TOPICS or not all(map(site.hub.knows, topics)):
            raise HTTPException(400)
        return StreamingResponse(site.hub.stream(topics), media_type="text/event-stream")

    routes = [
        *(Route(path, empty_page, methods=["GET"]) for path in PAGES),
        *(
            Route(
                f"/view{path}",
                _view(site, handler, shared=path in SHARED),
                methods=["GET"],
            )
            for path, handler in {**PAGES, **PIECES}.items()
        ),
        *api_routes(site),
        Route("/live", live, methods=["GET"]),
        Route("/static/{name}", static, methods=["GET"]),
    ]

    async def exchange(request: Request) -> Response:
        body = await read_object(request)
        if not site.tickets.take(str(body.get("ticket", ""))):
            raise HTTPException(403)
        return JSONResponse({"key": key.text})

    routes.append(Route("/key", exchange, methods=["POST"]))
    sessions, fingerprint = (None, "") if serving is None else serving
    routes += device_routes(site, sessions, fingerprint)
    handlers = {SidingError: _expected, HTTPException: _refused, Exception: _bug}
    return Starlette(routes=routes, exception_handlers=handlers)


def _static_files() -> dict[str, tuple[bytes, str]]:
    """Return the content and type of each static file by name.

    An address is looked up here and never becomes part of a path.
    """
    found = {
        path.name: (path.read_bytes(), _TYPES[path.suffix])
        for path in sorted(_STATIC.iterdir())
        if path.suffix in _TYPES
    }
    found["palette.css"] = (palette().encode(), _TYPES[".css"])
    return found


def _view(site: Site, handler: Callable[[Ask], Page | str], *, shared: bool) -> Endpoint:
    async def view(request: Request) -> Response:
        words, query = dict(request.path_params), dict(request.query_params)

        def make() -> bytes:
            made = handler(Ask(site, site.project(), words, query))
            return (
                made.encode("utf-8", "backslashreplace") if isinstance(made, str) else render(made)
            )

        if shared:
            signature = (site.stamps(), site.hub.differed, int(time.monotonic() * 2))
            html = await site.views.get(str(request.url), signature, make)
        else:
            html = await asyncio.to_thread(make)
        return Response(html, media_type="text/html; charset=utf-8")

    return view


async def _expected(request: Request, error: Exception) -> Response:
    assert isinstance(error, SidingError)
    of_code = _STATUSES_OF_CODES.get(error.code, 409)
    status = next((s for kind, s in _STATUSES.items() if isinstance(error, kind)), of_code)
    return _failure(request, status, error.code, error.message, _hint_here(error.hint))


def _hint_here(hint: str | None) -> str | None:
    """Return the hint; None when it names an option of the command line, which a page lacks."""
    words = re.sub(r"`[^`]*`", "", hint or "")  # a whole command in backquotes can be typed
    return None if re.search(r"(?<!\w)--[a-z]", words) else hint


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = {
        403: "this ticket was used before, or is too old",
        404: "there is no such page",
        405: "this address does not take that method",
    }
    response = _failure(
        request, error.status_code, "refused", said.get(error.status_code, "the request is wrong")
    )
    response.headers.update(error.headers or {})
    return response


async def _bug(request: Request, error: Exception) -> Response:
    return _failure(
        request,
        500,
        "bug",
        f"this is a bug in Siding: {type(error).__name__}",
        "the terminal of `siding ui` shows the details",
    )


def _failure(
    request: Request, status: int, code: str, message: str, hint: str | None = None
) -> Response:
    if request.url.path.startswith(("/api/", "/device/")):
        error = {"code": code, "message": message, "hint": hint}
        return JSONResponse({"error": error}, status_code=status)
    values = {"message": message, "hint": hint or "", "status": status}
    html = render(Page("error.html", "Not found" if status == 404 else "That did not work", values))
    return Response(html, status_code=status, media_type="text/html; charset=utf-8")


def api_routes(site: Site) -> list[Route]:
    """Return the routes of the API."""
    described = document(OPERATIONS, PREFIX)

    async def describe(request: Request) -> Response:
        _query(request, ())
        return JSONResponse(described)

    routes = [
        Route(PREFIX + each.path, _endpoint(site, each), methods=[each.method])
        for each in OPERATIONS
    ]
    base = PREFIX + "/tasks/{task}/steps/{step}/"
    routes += [
        Route(base + f"{name}.raw", _download(site, name), methods=["GET"])
        for name in ("stdout", "stderr", "patch")
    ]
    routes.append(
        Route(PREFIX + "/tasks/{task}/changes.raw", _download(site, "changes"), methods=["GET"])
    )
    return [*routes, Route(PREFIX + "/openapi.json", describe, methods=["GET"])]


def _endpoint(site: Site, operation: Operation) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        raw = await request.body()
        body = object_in(raw) if operation.write else {}
        words, query = dict(request.path_params), _query(request, operation.query)
        may = operation.device if operation.write else DeviceMay.READ

        def answer() -> dict[str, Any]:
            device = device_of(site, request, raw, may)
            ask = Ask(site, site.project(), words, query, device)
            if operation.write is not None:
                return operation.write(ask, Fields(body))
            assert operation.read is not None
            return operation.read(ask)

        return _Json(await asyncio.to_thread(answer))

    return endpoint


def _query(request: Request, known: Container[str]) -> dict[str, str]:
    """Return the parameters of the query; raise UsageError for an unknown or repeated one."""
    found: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name not in known or name in found:
            what = "twice" if name in found else "which is not a parameter of this address"
            raise UsageError(
                f"the address has {name!r}, {what}",
                hint="/api/v1/openapi.json lists the parameters",
            )
        found[name] = value
    return found


class _Json(JSONResponse):
    """A response in JSON; values that JSON does not know become texts."""

    def render(self, content: Any) -> bytes:
        text = json.dumps(content, ensure_ascii=False, default=str)
        return text.encode("utf-8", "backslashreplace")


def _download(site: Site, name: str) -> Endpoint:
    async def download(request: Request) -> Response:
        words = dict(request.path_params)
        _query(request, ())

        def find() -> Span | None:
            ask = Ask(site, site.project(), words, {})
            task = show(ask.project, ask.task_id)[0]
            if name == "changes":
                return whole_patch(ask.project, task)
            step = one_step(ask)
            if name == "patch":
                span = patch_span(ask.project, task, step)
                if span is None:
                    refuse_freed_patch(ask.project, task.id, step)
                return span
            found = output_of(ask.project, task, step)
            return None if found is None else found.stdout if name == "stdout" else found.stderr

        span = await asyncio.to_thread(find)
        if span is None:
            raise NotFound("there is no such file for this step")
        step = words.get("step", "")  # of a run that lives it is the run's, as `r1`
        of_step = f"{step.zfill(4) if step.isdigit() else step}.{name}"
        file = of_step if step else f"{words['task']}.patch"
        headers = {
            "content-length": str(span.size),
            "content-disposition": f'attachment; filename="{file}"',
        }
        media = "application/octet-stream"
        return StreamingResponse(_exactly(span), media_type=media, headers=headers)

    return download


def _exactly(span: Span) -> Iterator[bytes]:
    """Yield exactly the bytes that Content-Length announced; raise OSError if the file shrank."""
    done = 0
    while done < span.size:
        data = span.read(done, _CHUNK)
        if not data:
            raise OSError(os.strerror(5))
        done += len(data)
        yield data
