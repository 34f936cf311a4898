"""The tool Grep: search the contents of files."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Any

from siding.assistant.tools.files.paths import PathRefused, Paths, explained
from siding.assistant.tools.place import Place
from siding.assistant.tools.port import Call, Result, Use
from siding.assistant.tools.search.glob import BadPattern, filtering, simple_names
from siding.assistant.tools.search.ripgrep import Searches
from siding.assistant.tools.search.search import (
    Found,
    Hit,
    Mode,
    Page,
    Request,
    SearchFailed,
    Where,
    content_lines,
    names_of,
    newest_first,
    result_of,
    where,
)
from siding.assistant.tools.spec import choice, failed, flag, number, spec_of, text
from siding.ground.errors import counted
from siding.shellguard.face import Effect

USUAL_ENTRIES = 250
_MOST_CONTEXT = 200  # lines


class Grep:
    """Searches files for a regular expression."""

    def __init__(self, place: Place, paths: Paths, searches: Searches) -> None:
        self._place = place
        self._paths = paths
        self._searches = searches
        beside = {"minimum": 0, "maximum": _MOST_CONTEXT}
        self.spec = spec_of(
            __file__,
            "Grep",
            {
                "pattern": text("the regular expression"),
                "path": text("the file or directory (the workspace)"),
                "glob": text("only files whose paths match: *.js, src/**/*.{ts,tsx}, !*.min.js"),
                "type": text("only files of a kind: py, js, rust, go, java"),
                "output_mode": choice(
                    f"what is shown ({Mode.FILES})", Mode.CONTENT, Mode.FILES, Mode.COUNT
                ),
                "-A": number("lines shown after each match", **beside),
                "-B": number("lines shown before each match", **beside),
                "-C": number("lines shown before and after each match", **beside),
                "-n": flag("show line numbers (true)"),
                "-i": flag("upper and lower case are the same (false)"),
                "multiline": flag("matches may go over several lines (false)"),
                "head_limit": number(
                    f"at most so many lines or files ({USUAL_ENTRIES}; 0 is all)", minimum=0
                ),
                "offset": number("leave out so many lines or files (0)", minimum=0),
            },
            "pattern",
        )

    def is_safe(self, _given: Mapping[str, Any], /) -> bool:
        return True

    def use(self, given: Mapping[str, Any]) -> Use:
        use = self._paths.use("Grep", Effect.READS, given.get("path", "."))
        return use._replace(text=f"Grep {given['pattern'][:120]} in {use.pattern}")

    async def run(self, call: Call) -> Result:
        named = call.given.get("path", ".")
        try:
            place = await asyncio.to_thread(where, self._place, self._paths, named)
            request = _request(call.given, place)
            wanted = filtering(call.given.get("glob", ""))
            found = await self._searches.find(request)
        except (PathRefused, SearchFailed) as refused:
            return failed(str(refused))
        except BadPattern as problem:
            return failed(f"The glob cannot be used: {problem}.")
        except OSError as error:
            return failed(explained(error, named) + self._paths.similar(named))
        hits = found.hits if place.file else [each for each in found.hits if wanted(each.path)]
        return await asyncio.to_thread(self._shown, call.given, request, found, hits)

    def _shown(
        self, given: Mapping[str, Any], request: Request, found: Found, hits: Sequence[Hit]
    ) -> Result:
        hits = [each for each in hits if not self._is_denied(request, each)]
        open_hits = [each for each in hits if not self._is_secret(request, each)]
        notes = list(found.notes)
        if len(open_hits) < len(hits):
            closed = counted(len(hits) - len(open_hits), "file")
            notes.append(
                f"(Left out: {closed} in which secrets are usually kept; such files are searched "
                "only one by one.)"
            )
        if not open_hits:
            return _nothing(notes)
        names = {each.path: self._paths.shown(request.directory / each.path) for each in open_hits}
        page = Page(given.get("offset", 0), given.get("head_limit", USUAL_ENTRIES))
        match request.mode:
            case Mode.FILES:
                paths = newest_first(request.directory, names)
                entries = [names[path] for path in paths]
            case Mode.COUNT:
                counts = sorted(open_hits, key=lambda each: each.path)
                entries = [f"{names[each.path]}:{each.total}" for each in counts]
            case _:
                entries = content_lines(open_hits, names, numbered=given.get("-n", True))
        return result_of(request.mode, entries, page, open_hits, notes)

    def _is_denied(self, request: Request, hit: Hit) -> bool:
        """Tell whether a rule denies that the file is read: then its name is not told either."""
        real = os.path.realpath(request.directory / hit.path)
        return not request.file and self._place.is_denied(real)

    def _is_secret(self, request: Request, hit: Hit) -> bool:
        judging = self._place.judging
        if judging is None or request.file:
            return False
        return judging.is_secret(str(request.directory / hit.path))


def _request(given: Mapping[str, Any], place: Where) -> Request:
    around = given.get("-C", 0)
    mode = Mode(given.get("output_mode", Mode.FILES))
    kind = given.get("type", "")
    return Request(
        directory=place.directory,
        mode=mode,
        pattern=given["pattern"],
        file=place.file,
        names=names_of(kind) if kind else simple_names(given.get("glob", "")),
        ignores=place.ignores,
        any_case=given.get("-i", False),
        multiline=given.get("multiline", False),
        before=given.get("-B", around),
        after=given.get("-A", around),
    )


def _nothing(notes: Sequence[str]) -> Result:
    text = "\n".join(("Nothing was found.", *notes))
    return Result(text, shown="nothing", details={"numFiles": 0, "filenames": []})
