"""The guard of the loop: the permissions, then the person, then the broker of the run.

A call runs only if all of them let it. What a person answers changes nothing of what a rule denies,
and a policy that asks does so by itself, through the broker.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from siding.assistant.loop.permissions.decision import PermissionDecision, decide_on
from siding.assistant.loop.permissions.facts import CallFacts, PermissionGround, facts_of
from siding.assistant.loop.permissions.rules import Behaviour, PermissionMode, require_allowed
from siding.assistant.loop.permissions.updates import (
    PermissionState,
    PermissionUpdate,
    Scope,
    suggestions,
)
from siding.assistant.loop.setup import Allowed, CallHooks, Denied, HookRuling
from siding.assistant.tools.port import Call, Result, Tool, Use
from siding.assistant.tools.spec import checked
from siding.ground.errors import SidingError, UsageError
from siding.ground.namedtuples import NamedTuple


class PermissionQuestion(NamedTuple):
    """What a person is asked. `offers` are what a yes may be remembered as."""

    call: Call
    use: Use
    why: str
    offers: tuple[PermissionUpdate, ...]


class PersonAllows(NamedTuple):
    """The person lets the call run, with another input if `given` is one, and remembers this."""

    given: dict[str, object] | None = None
    updates: tuple[PermissionUpdate, ...] = ()


class PersonDenies(NamedTuple):
    """The person does not let the call run. With `ends_turn` the model is not asked again."""

    reason: str = ""
    ends_turn: bool = False


class PermissionAsker(Protocol):
    """Puts a question to a person."""

    async def ask(self, question: PermissionQuestion) -> PersonAllows | PersonDenies:
        """Return the answer, however long that takes."""
        ...


class CallJudge(Protocol):
    """Has a call judged by the policy of the project."""

    async def refuses(self, call: Call, use: Use, cwd: str) -> str:
        """Return why a call must not run, "" if it may. It may wait for a person.

        Where no verdict can be had although one is due, that is a reason.
        """
        ...

    async def ended(self, call: Call, use: Use) -> None:
        """Report that a call has ended which may have changed something."""
        ...


class PermissionKeeper(Protocol):
    """Keeps what is to count in later conversations, too."""

    async def keep(self, update: PermissionUpdate) -> None:
        """Keep an update for the project. Raises SidingError and OSError."""
        ...


def _tell_nobody(_text: str) -> None:
    pass


class PermissionGuard:
    """Decides on calls. `state` is what is in force, and may be changed at any time.

    Without an asker what would be asked about is denied; without a judge the permissions are all.
    `ground` returns where calls are decided on: the shell may have gone elsewhere meanwhile. `tell`
    is for a person: what could not be remembered.
    """

    def __init__(
        self,
        state: PermissionState,
        ground: Callable[[], PermissionGround],
        *,
        asker: PermissionAsker | None = None,
        judge: CallJudge | None = None,
        keeper: PermissionKeeper | None = None,
        may_bypass: bool = False,
        tell: Callable[[str], None] = _tell_nobody,
    ) -> None:
        require_allowed(state.mode, is_sandboxed=may_bypass)
        self.state = state
        self._ground = ground
        self._asker = asker
        self._judge = judge
        self._keeper = keeper
        self._may_bypass = may_bypass
        self._tell = tell
        self._asking = asyncio.Lock()
        self.hooks: CallHooks | None = None

    def set_mode(self, mode: PermissionMode) -> None:
        """Go on in another mode. Raises BypassRefused."""
        require_allowed(mode, is_sandboxed=self._may_bypass)
        self.state = self.state._replace(mode=mode)

    async def rule(self, call: Call, tool: Tool) -> Allowed | Denied:
        """Decide on a call whose input fits the tool's schema."""
        hooked = HookRuling() if self.hooks is None else await self.hooks.before(call)
        if hooked.denies:
            return Denied(hooked.reason, hooked.ends_turn)
        if hooked.given is not None:
            call = call._replace(given=dict(hooked.given))
            if checked(tool.spec, call.given) is not None:
                return Denied("A hook changed the input, which does not fit now.")
        found = await self._permitted(call, tool, hooked)
        if isinstance(found, Denied) or self._judge is None:
            return found
        call = call._replace(given=found.given)
        use = tool.use(call.given)
        refused = await self._judge.refuses(call, use, self._ground().place.cwd)
        return Denied(refused) if refused else found

    async def ended(self, call: Call, tool: Tool, result: Result) -> None:
        """Report a call that may have changed something; hooks are told of each."""
        if self.hooks is not None:
            await self.hooks.after(call, result)
        if self._judge is not None and not tool.is_safe(call.given):
            await self._judge.ended(call, tool.use(call.given))

    async def _permitted(self, call: Call, tool: Tool, hooked: HookRuling) -> Allowed | Denied:
        decision, _ = self._decided(call, tool, hooked)
        if decision.behaviour is Behaviour.ASK:
            # One question at a time: what is remembered of its answer may answer the next one.
            async with self._asking:
                decision, facts = self._decided(call, tool, hooked)
                if decision.behaviour is Behaviour.ASK:
                    return await self._ask(call, tool, facts, decision.reason)
        if decision.behaviour is Behaviour.DENY:
            return Denied(decision.reason)
        return Allowed(call.given)

    def _decided(
        self, call: Call, tool: Tool, hooked: HookRuling
    ) -> tuple[PermissionDecision, CallFacts]:
        """Return the decision, and what a hook makes of it: it lifts no denial."""
        decision, facts = self._decide(call, tool)
        if hooked.asks and decision.behaviour is Behaviour.ALLOW:
            return PermissionDecision(Behaviour.ASK, "a hook wants it to be asked"), facts
        if hooked.allows and decision.behaviour is Behaviour.ASK:
            return PermissionDecision(Behaviour.ALLOW), facts
        return decision, facts

    def _decide(self, call: Call, tool: Tool) -> tuple[PermissionDecision, CallFacts]:
        ground = self._ground()
        ground = ground._replace(roots=(*ground.roots, *self.state.directories))
        use, is_safe = tool.use(call.given), tool.is_safe(call.given)
        facts = facts_of(call.name, use, ground, is_safe=is_safe)
        return decide_on(facts, self.state.mode, self.state.rules, ground), facts

    async def _ask(self, call: Call, tool: Tool, facts: CallFacts, why: str) -> Allowed | Denied:
        if self._asker is None:
            return Denied(
                f"{call.name} was not used: a person would have to allow it ({why}), and nobody "
                "can be asked."
            )
        question = PermissionQuestion(call, facts.use, why, suggestions(facts))
        answer = await self._asker.ask(question)
        if isinstance(answer, PersonDenies):
            reason = f": {answer.reason}" if answer.reason else "."
            return Denied(f"The person did not allow this{reason}", answer.ends_turn)
        for update in answer.updates:
            await self._remember(update)
        if answer.given is None:
            return Allowed(call.given)
        return self._changed(call._replace(given=answer.given), tool)

    def _changed(self, call: Call, tool: Tool) -> Allowed | Denied:
        """Decide on a call whose input the person has changed: that was their yes."""
        if checked(tool.spec, call.given) is not None:
            return Denied("The person changed the input, which does not fit now; nothing was done.")
        decision, _ = self._decide(call, tool)
        if decision.behaviour is Behaviour.DENY:
            return Denied(decision.reason)
        return Allowed(call.given)

    async def _remember(self, update: PermissionUpdate) -> None:
        if update.mode is not None:
            try:
                require_allowed(update.mode, is_sandboxed=self._may_bypass)
            except UsageError as error:
                self._tell(error.message)
                return
        self.state = self.state.after(update)
        if update.scope is Scope.PROJECT:
            await self._keep(update)

    async def _keep(self, update: PermissionUpdate) -> None:
        why = "the records of the project cannot be reached from here"
        try:
            if self._keeper is not None:
                await self._keeper.keep(update)
                return
        except (SidingError, OSError) as error:
            why = str(error)
        self._tell(f"the answer counts in this conversation only: {why}")
