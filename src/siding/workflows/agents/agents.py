"""The port of agents, over programs: each attempt at a call is a run in a task's workspace.

A call goes to the agent of its `agent_type`, else of its model, else to the one that is set.
"""

import asyncio
import uuid
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from siding.agents.headless import command
from siding.agents.headless.command import HEADLESS as OF_COMMAND
from siding.agents.headless.command import WITH_EVENTS, AcpHeadless, behind_acp
from siding.agents.headless.port import CUT_OFF, HEADLESS, Ask, Headless, Invocation, Level, Seen
from siding.agents.own.hooks import PROGRAM, program_for
from siding.agents.table import AGENTS, ANY, BY_NAME, OWN
from siding.ground.git.errors import GitError
from siding.ground.ids import TaskId
from siding.ground.installation import adding
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.lookup import Program, find_program
from siding.ground.storage.fields import said
from siding.guard.in_force import is_judged
from siding.guard.ruling import Asker
from siding.record.place.project import Project
from siding.record.snapshots.scratch import has_room
from siding.running.request import RunRequest, RunResult
from siding.sandbox.request import SandboxRequest
from siding.workflows.agents.hop import Bell, hosted, in_thread
from siding.workflows.agents.progress import Pricing, Watching, used_by
from siding.workflows.agents.settings import (
    ACP,
    COMMAND,
    NEVER,
    SCRIPTED,
    AgentSettings,
    Prints,
    WorkflowAgents,
    workflow_agents,
)
from siding.workflows.agents.verdict import Facts, is_answered, is_without_session, judged
from siding.workflows.agents.workplaces import NoPlace, Workplace, Workplaces, asked_files
from siding.workflows.engine.ports import (
    AgentCall,
    Agents,
    AgentUnavailable,
    Attempt,
    CannotRecord,
    Report,
)
from siding.workflows.outcome import Dead, DeadReason, Outcome, Used, Work
from siding.workflows.structured import instructions

# The agents that can be given one prompt. Looked for first are those that go on with conversations;
# Siding's own, which is always there, is the last one.
KNOWN = tuple(sorted(HEADLESS.agents, key=lambda name: (name == OWN, not BY_NAME[name].resumes)))
# Which agent a model is for, by how its name begins.
OF_MODEL = {start: agent.name for agent in AGENTS for start in agent.models}
_WHERE = "`workflows.agents` in the settings; docs/reference/workflow-agents.md"
# What the policy asks of a program that nobody has told it of. The person has named this one in
# their own settings; a policy without overrides asks all the same.
_IN_THE_SETTINGS = ("unknown-program", "run-outside")


class Route(NamedTuple):
    """The agent of a call, and how its command line begins."""

    settings: AgentSettings
    headless: Headless
    program: tuple[str, ...]

    @property
    def agent(self) -> str:
        """The agent behind a bridge: its own program is not the run's."""
        return behind_acp(self.program) if self.settings.agent == ACP else ""

    @property
    def reads(self) -> tuple[str, ...]:
        """What it has to read besides its workspace, also in a sandbox."""
        return (self.settings.answers,) if self.settings.answers else ()


class Routing:
    """The agents that there are.

    `installed` tells whether a program is there; `is_judged` whether a policy judges the commands
    that an agent asks for.
    """

    def __init__(
        self, known: WorkflowAgents, *, installed: Callable[[str], bool], is_judged: bool
    ) -> None:
        self.known = known
        self._installed = installed
        self._is_judged = is_judged

    @property
    def there(self) -> list[str]:
        """The names of all agents that a call can ask for."""
        own = self.known.agents
        return [*own, *(each for each in KNOWN if each not in own and self._is_installed(each))]

    def of(self, call: AgentCall) -> Route:
        """Return the agent of a call. Raises AgentUnavailable, which says what there is."""
        if call.agent_type:
            return self._named(call.agent_type)
        rules = [*self.known.of_model.items(), *OF_MODEL.items()]
        there = self.there
        for start, name in rules:
            # A rule for an agent that is not here does not count.
            if call.model.startswith(start) and name in there and call.model:
                return self._named(name)
        # The own agent is always installed: it is for who has no other one.
        others = [each for each in there if each != OWN or each in self.known.agents]
        default = self.known.default or next((each for each in KNOWN if each in others), "")
        if default or len(others) == 1:
            return self._named(default or others[0])
        if not others and there:
            return self._named(OWN)
        if others:
            raise AgentUnavailable(
                f"`workflows.agent` in the settings does not say which is for calls that name none:"
                f" {', '.join(others)} (docs/reference/workflow-agents.md)"
            )
        raise AgentUnavailable(f"no agent is installed: {', '.join(KNOWN)}, or one of {_WHERE}")

    def _named(self, name: str) -> Route:
        settings = self.known.agents.get(name)
        if settings is None and name not in KNOWN:
            there = ", ".join(self.there) or "none"
            raise AgentUnavailable(f"there is no agent {name!r}; there is {there} ({_WHERE})")
        found = self._route(settings or AgentSettings(name=name, agent=name))
        if not self._installed(found.program[0]):
            program = found.program[0]
            raise AgentUnavailable(f"agent {name!r} cannot run: {program!r} is not installed")
        return found

    def _route(self, settings: AgentSettings) -> Route:
        headless, program = self._headless(settings), settings.command
        if settings.agent == SCRIPTED:
            program = command.scripted_command(settings.answers)
        elif settings.agent in KNOWN:
            program = program or BY_NAME[settings.agent].programs[:1]
        return Route(settings=settings, headless=headless, program=program)

    def _headless(self, settings: AgentSettings) -> Headless:
        kind = settings.agent
        known = HEADLESS.of(kind)
        if known is not None:
            return known
        if kind == SCRIPTED:
            return command.SCRIPTED
        if kind == COMMAND:
            return WITH_EVENTS if settings.prints is Prints.EVENTS else OF_COMMAND
        if kind != ACP:
            there = ", ".join((*KNOWN, ACP, SCRIPTED, COMMAND))
            raise AgentUnavailable(
                f"agent {settings.name!r} is set to be {kind!r}, which is none of {there}"
            )
        if find_spec("acp") is None:
            raise AgentUnavailable(
                f"agent {settings.name!r} speaks ACP, and the library for it is not installed:"
                f" {adding('acp')}"
            )
        return AcpHeadless(is_judged=self._is_judged)

    def _is_installed(self, name: str) -> bool:
        return self._installed(BY_NAME[name].programs[0])


class ProgramAgents(Agents):
    """Runs the agents of one workflow run, in its task.

    `ask` puts questions of the policy to a person; without it they count as refused. With
    `sandbox` every one runs in a sandbox, whatever the settings say. `known` are the agents that
    there are in the place of those of the settings. `group` names the workflow run, to which its
    forks belong.
    """

    def __init__(
        self,
        project: Project,
        task: TaskId,
        *,
        ask: Asker | None = None,
        sandbox: bool = False,
        known: WorkflowAgents | None = None,
        group: str = "",
    ) -> None:
        self._sandbox = sandbox
        self._project = project
        self._given = known
        self._task = task
        self._ask = ask
        self._pricing = Pricing(project.app)
        self._places = Workplaces(project, task, group)

    async def run(
        self, call: AgentCall, attempt: Attempt, report: Callable[[Report], None]
    ) -> Outcome:
        found = self._routing.of(call)
        try:
            async with self._places.of(call, attempt) as place:
                outcome = await self._attempt(found, place, call, attempt, report)
                return await place.judged(outcome)
        except (NoPlace, GitError, OSError) as error:
            if not has_room(self._project.layout.root):
                raise CannotRecord(f"the disk is full, or nearly: {error}") from error
            if isinstance(error, NoPlace):
                return Dead(reason=DeadReason.WORKTREE_FAILED, detail=str(error))
            raise

    async def _attempt(
        self,
        found: Route,
        place: Workplace,
        call: AgentCall,
        attempt: Attempt,
        report: Callable[[Report], None],
    ) -> Outcome:
        if place.reads_only:
            settings = found.settings._replace(permissions=Level.READ)
            found = found._replace(settings=settings)
        facts = await self._once(found, place, call, attempt, report)
        if attempt.session and is_without_session(facts):
            begun_anew = attempt._replace(session="")
            facts = await self._once(found, place, call, begun_anew, report)
        return judged(found.headless, facts)

    async def _once(
        self,
        found: Route,
        place: Workplace,
        call: AgentCall,
        attempt: Attempt,
        report: Callable[[Report], None],
    ) -> Facts:
        asked = self._project.task_layout(place.task).asked_dir
        directory = asked / self._project.app.random_bytes(6).hex()
        ask = self._asked(found, call, attempt, directory)
        invocation = found.headless.invoked(ask)
        stream = found.headless.stream(ask)
        redaction = self._project.redaction
        watching = Watching(
            stream,
            redaction,
            report,
            priced=self._pricing.at_least,
            session=invocation.session,
            fork=place.fork,
        )
        watching.bell = Bell(asyncio.get_running_loop(), watching.report)
        idle_s = found.settings.no_progress_s or self._routing.known.no_progress_s
        with asked_files(directory, invocation.files):
            run = await hosted(
                self._project,
                self._request(found, place, call, invocation, directory),
                stdin=invocation.stdin,
                observe=watching.observe,
                ask=self._ask,
                idle_s=watching.idle_s,
                most_idle_s=None if idle_s == NEVER else idle_s,
            )
        seen = watching.over()
        has_answered = run.cancelled and is_answered(found.headless, run.result, seen)
        if run.cancelled and not has_answered:
            watching.report_ended(self._used(run.result, seen))
            raise asyncio.CancelledError
        seen = seen._replace(
            text=redaction.text(seen.text),
            result=redaction.record(seen.result),
            error=redaction.text(seen.error),
        )
        return Facts(
            result=run.result,
            seen=seen,
            last_error=watching.last_error,
            gave_up=run.gave_up,
            has_answered=has_answered,
            idle_s=idle_s,
            wants_object=call.schema is not None,
            used=await in_thread(partial(self._used, run.result, seen)),
            work=_work(watching.work, run.result),
            extra=_extra(invocation, seen),
        )

    def _used(self, result: RunResult, seen: Seen) -> Used:
        return self._pricing.at_least(used_by(self._project.app, result.step, seen))

    def _asked(self, found: Route, call: AgentCall, attempt: Attempt, directory: Path) -> Ask:
        settings, prompt, schema = found.settings, call.prompt, call.schema
        if schema is not None and not found.headless.takes_schema(schema):
            prompt, schema = prompt + instructions(schema), None
        return Ask(
            prompt=(CUT_OFF if attempt.session else "") + prompt + attempt.correction,
            program=self._startable(found.program),
            directory=str(directory),
            options=settings.options,
            model=call.model or settings.model,
            effort=call.effort or settings.effort,
            tools=call.allowed_tools or settings.tools,
            level=settings.permissions,
            text=settings.text,
            session=attempt.session,
            new_session=str(uuid.UUID(bytes=self._project.app.random_bytes(16), version=4)),
            schema=schema,
            env=self._project.app.env,
        )

    def _request(
        self,
        found: Route,
        place: Workplace,
        call: AgentCall,
        invocation: Invocation,
        directory: Path,
    ) -> RunRequest:
        settings = found.settings
        read = [*([str(directory)] if invocation.files else []), *found.reads]
        if place.view is not None:
            read.append(str(place.view))
        return RunRequest(
            argv=invocation.argv,
            task=place.task,
            timeout_s=call.timeout_s or settings.timeout_s,
            env={**invocation.env, **self._env_of(settings.env)},
            cwd=".",
            view=place.view,
            name=call.name,
            prompt=call.prompt,
            agent=found.agent,
            allow=_IN_THE_SETTINGS,
            sandbox=SandboxRequest(
                sandbox=self._sandbox or settings.sandbox,
                network=settings.network,
                read=tuple(read),
            ),
        )

    def _env_of(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of an agent; `$NAME` stands for one of our own."""
        own = self._project.app.env
        return {
            name: own.get(value[1:], "") if value.startswith("$") else value
            for name, value in given.items()
        }

    @cached_property
    def _routing(self) -> Routing:
        project = self._project
        known = workflow_agents(project) if self._given is None else self._given
        judges = project.settings.agents_judge != "off" and is_judged(project, ANY)
        return Routing(known, installed=self._is_installed, is_judged=judges)

    def _startable(self, program: tuple[str, ...]) -> tuple[str, ...]:
        """Return the command line with the path of the own agent, which may not be on PATH."""
        own = program == (PROGRAM,) and program_for(self._project.app.env)
        return (own,) if own else program

    def _is_installed(self, program: str) -> bool:
        app = self._project.app
        if program == PROGRAM:
            return bool(program_for(app.env))
        # One with a "/" is looked up in the workspace when it is started.
        return "/" in program or isinstance(find_program([program], app.env, app.cwd), Program)


def _work(work: Work, result: RunResult) -> Work:
    """Return where the work is, with the step and the transcript, which are known at the end."""
    step = result.step
    run = None if step is None else step.as_run
    reported = None if run is None else run.reported
    return work._replace(
        task=result.task.id,
        step=step.id if step is not None else "",
        session=work.session or (reported.session if reported is not None else ""),
        transcript=reported.transcript if reported is not None else "",
    )


def _extra(invocation: Invocation, seen: Seen) -> dict[str, Any]:
    left_out = (*invocation.left_out, *seen.left_out)
    return said(left_out=list(left_out), denied=list(seen.denied))
