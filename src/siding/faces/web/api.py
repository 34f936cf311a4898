"""Make the API's routes from the table of operations, and the routes for downloads."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Container, Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from siding.faces.web.asking.devices import DeviceMay, device_of
from siding.faces.web.openapi import Operation, document
from siding.faces.web.request import Ask, Fields, object_in, one_step
from siding.faces.web.site import Site
from siding.faces.web.table import OPERATIONS
from siding.feed.tasks import show
from siding.ground.errors import NotFound, UsageError
from siding.record.recording.freed import refuse_freed_patch
from siding.record.recording.recorded_patches import patch_span, whole_patch
from siding.record.recording.step_details import Span
from siding.record.recording.step_details import output as output_of

PREFIX = "/api/v1"
_CHUNK = 256 * 1024
Endpoint = Callable[[Request], Awaitable[Response]]


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
