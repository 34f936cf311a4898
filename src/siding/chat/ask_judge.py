"""What the policy, and what a person has said before, answer to what an agent asks for."""

from contextlib import suppress
from pathlib import Path

from siding.agents.talking.port import Asked
from siding.chat.always import (
    CallFacts,
    PermissionGround,
    PermissionRule,
    allows,
    facts_of_ask,
    is_meant,
    offered,
    rule_in,
    words_of,
)
from siding.chat.always_kept import AlwaysRule, AlwaysRules, AlwaysScope
from siding.chat.asks import AlwaysOffer
from siding.chat.store import Chat
from siding.chat.talk import Lasting
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.guard.in_force import ground_of, is_judged, place_for, policy_in
from siding.guard.views import check_in
from siding.record.place.project import Project
from siding.record.tasks.task import Task
from siding.shellguard.face import Action, ToolUse, Verdict


class AskJudgement(NamedTuple):
    """What is answered to an ask. Without `refusal` and `allowed` a person is asked."""

    refusal: str = ""  # why the policy does not let it, whatever a person says
    allowed: Lasting = Lasting()  # by what a person has said before
    offer: AlwaysOffer = AlwaysOffer()  # as what a yes may be kept


class AskJudge:
    """Judges what the agent of a conversation asks, each time by what is on the disk then."""

    def __init__(
        self, project: Project, task: Task, chat: Chat, *, agent: str, workspace: Path
    ) -> None:
        self._project, self._task = project, task
        self._agent, self._workspace = agent, workspace
        self._rules = AlwaysRules(project, task.id, chat)

    def judge(self, asked: Asked) -> AskJudgement:
        """Judge an ask: the policy first. What it blocks or asks about no earlier yes answers."""
        ground = self._ground(asked)
        facts = None
        with suppress(ValueError):  # a path that no system has
            facts = facts_of_ask(asked, ground)
        verdict = self._verdict(asked, facts)
        is_stopped = verdict is not None and not verdict.runs
        if is_stopped and is_judged(self._project, self._agent):
            return AskJudgement(refusal=_refusal(verdict) if asked.command else "")
        if is_stopped or facts is None:
            return AskJudgement(offer=AlwaysOffer(is_own=asked.can_always))
        return AskJudgement(
            allowed=self._said_before(facts, ground), offer=self._offer(asked, facts, ground)
        )

    def keep(self, offer: AlwaysOffer, scope: AlwaysScope, by: str) -> str:
        """Keep what a person has said; return why it could not be, "" if it is on the disk."""
        new = (
            AlwaysRule(scope, rule, words, self._agent, by=by)
            for rule, words in zip(offer.rules, offer.words, strict=True)
        )
        try:
            self._rules.keep(new)
        except (SidingError, OSError) as error:
            return f"it will be asked again, as this could not be kept: {error}"
        return ""

    def _verdict(self, asked: Asked, facts: CallFacts | None) -> Verdict | None:
        """Return what the rules of the policy say, also where it is not switched on: what they stop
        is nothing that goes by itself.
        """
        what: str | ToolUse | None = asked.command
        if not asked.command:
            what = None if facts is None else facts.use.touches
        if what is None:
            return None
        return check_in(self._project, self._workspace, self._cwd(asked), what, ()).verdict

    def _cwd(self, asked: Asked) -> Path:
        return Path(asked.cwd) if asked.cwd else self._workspace

    def _ground(self, asked: Asked) -> PermissionGround:
        ground = ground_of(self._project)
        policy = policy_in(ground).policy
        place = place_for(ground, cwd=self._cwd(asked), workspace=self._workspace, policy=policy)
        return PermissionGround(place, env=self._project.app.env)

    def _said_before(self, facts: CallFacts, ground: PermissionGround) -> Lasting:
        """Return by which of the things that a person has said it is allowed.

        A damaged file says nothing: a person is asked.
        """
        kept: list[AlwaysRule] = []
        with suppress(SidingError, OSError):
            kept = self._rules.all()
        found = [(each, rule_in(each.rule)) for each in kept]
        counts = [(each, rule) for each, rule in found if rule and self._counts(each, rule)]
        if not allows([rule for _each, rule in counts], facts, ground):
            return Lasting()
        said = [each for each, rule in counts if is_meant(rule, facts, ground)]
        return Lasting(said[0].scope.value, " and ".join(dict.fromkeys(e.may for e in said)))

    def _counts(self, kept: AlwaysRule, rule: PermissionRule) -> bool:
        """Tell whether it was said to this agent. A command means the same to any of them."""
        is_for_all = kept.scope is not AlwaysScope.AGENT and bool(rule.pattern)
        return is_for_all or kept.agent == self._agent

    def _offer(self, asked: Asked, facts: CallFacts, ground: PermissionGround) -> AlwaysOffer:
        rules = offered(facts, ground)
        written = [each.text for each in rules]
        if any(self._project.redaction.text(each) != each for each in written):
            rules = ()  # a secret is not kept, and a rule without it would mean something else
        return AlwaysOffer(
            tuple(each.text for each in rules),
            tuple(words_of([each]) for each in rules),
            words_of(rules),
            is_own=asked.can_always,
        )


def _refusal(verdict: Verdict | None) -> str:
    """Return why the policy lets nobody allow it; "" if a person may."""
    if verdict is None or verdict.action is not Action.BLOCK:
        return ""
    why = "; ".join(f"{each.reason} ({each.rule})" for each in verdict.findings)
    return f"Siding's policy blocks this: {why}"
