"""An agent that speaks ACP, by way of the bridge (`agents.acp`)."""

import json
import sys
from collections.abc import Mapping
from typing import Any

from siding.agents.headless.output import EventLines
from siding.agents.headless.port import Ask, Invocation, Stream, with_text
from siding.ground.storage.fields import said

_BRIDGE = (sys.executable, "-m", "siding.agents.acp.bridge_program")


class AcpHeadless:
    """The bridge prints events. `is_judged`: a policy judges what commands the agent asks for."""

    says_end = True
    has_answer = True

    def __init__(self, *, is_judged: bool) -> None:
        self._is_judged = is_judged

    def takes_schema(self, _schema: Mapping[str, Any], /) -> bool:
        return False

    def invoked(self, ask: Ask) -> Invocation:
        asked = said(
            command=[*ask.program, *ask.options],
            resume=ask.session,
            model=ask.model,
            level=ask.level.value,
            tools=list(ask.tools),
        )
        return Invocation(
            argv=(*_BRIDGE, json.dumps({**asked, "judged": self._is_judged})),
            stdin=with_text(ask),
            session=ask.session,
            left_out=("effort",) if ask.effort else (),
        )

    def stream(self, _ask: Ask, /) -> Stream:
        return EventLines()
