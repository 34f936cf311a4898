"""Walk through the commands of a line in the order the shell would run them, and judge each.

Nothing is run. The examiner follows the shell's state (directory, variables, functions), so that
it sees where ``cd ~; rm -rf *`` deletes, and hands every simple command to the judge of its
program. After a branch it keeps only what holds on both ways.
"""

from collections.abc import Callable, Container, Mapping

from siding.ground.namedtuples import NamedTuple
from siding.shellguard.budget import LONGEST_LINE, LONGEST_VALUE, Budget, TooMuch
from siding.shellguard.effects import LONGEST_SHOWN, Effects, odd_characters, secret_variable
from siding.shellguard.expansion import Expander
from siding.shellguard.fields import (
    ANYTHING,
    MARKS,
    NOTHING,
    NUMBER,
    UNKNOWN,
    PrintedText,
    shown_words,
)
from siding.shellguard.grammar import Parser, parse
from siding.shellguard.paths import JudgingPlace
from siding.shellguard.redirections import assigned_by, judge_redirects, keep_assigned, output_after
from siding.shellguard.rules import RuleSet
from siding.shellguard.state import Call, ShellState
from siding.shellguard.tree import (
    Case,
    Command,
    Condition,
    Coprocess,
    For,
    Function,
    Group,
    If,
    Literal,
    Loop,
    Pipeline,
    Redirected,
    Script,
    Simple,
    Word,
    assigned,
    multiplies,
)
from siding.shellguard.verdict import Action, CommandPart, worst
from siding.shellguard.words import NAME, NotUnderstood, joined

_WITHOUT_MARKS = dict.fromkeys(map(ord, MARKS), "0")
_COMPARES = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})  # arithmetic on both sides
MOST_TURNS = 12  # a loop's body is judged with this many values of its variable at most


class Judges(NamedTuple):
    """The functions that judge single programs and variables; they live in `programs`.

    The engine passes them in, because `programs` builds on all of this package.
    """

    judge: Callable[["Examiner", Call], PrintedText]
    known: Callable[[str, Container[str]], bool]  # a program of this name; the agents' names
    variable: Callable[["Examiner", str, str, ShellState, bool], None]


class Examiner(Effects):
    """Judges one line; findings are collected in its base class, `Effects`."""

    def __init__(
        self,
        policy: RuleSet,
        place: JudgingPlace,
        env: Mapping[str, str],
        judges: Judges,
        budget: Budget | None = None,
    ) -> None:
        super().__init__(policy, place, budget or Budget())
        self.judges = judges
        self.env = env
        self._defined: dict[str, tuple[Command, ShellState, tuple[str, ...]]] = {}
        self._multiplying: dict[int, bool] = {}  # bodies of functions that were looked at

    # -- results ---------------------------------------------------------------------------

    def new_state(self) -> ShellState:
        """Return what is known before the line starts."""
        return ShellState(cwd=self.place.cwd, variables=dict(self.env))

    def knows(self, program: str) -> bool:
        """Return whether a program of this name is known."""
        return self.judges.known(program, self.place.agents)

    # -- lines -----------------------------------------------------------------------------

    def line(self, text: str, state: ShellState, stdin: PrintedText = ANYTHING) -> PrintedText:
        """Judge a line of shell and return what it writes to standard output.

        A line that does not parse gets the finding `not-whole`.
        """
        if len(text) > LONGEST_LINE:
            raise TooMuch(f"it is longer than {LONGEST_LINE:,} characters")
        self.budget.spend(5 + len(text) // 32, "reading the line")
        if UNKNOWN in text or any(mark in text for mark in MARKS):
            self.found("code-from-input", text)
            return ANYTHING
        if problem := odd_characters(text):
            self.found("odd-characters", problem)
        try:
            script = parse(text, self.budget)
        except NotUnderstood as error:
            self.found("not-whole", f"{error.reason}, at character {error.offset + 1}")
            return ANYTHING
        return self.script(script, state, stdin)

    def uncalled(self) -> None:
        """Judge the functions that the line defines but does not call; they may be called later."""
        while self._defined:
            name, (body, state, via) = self._defined.popitem()
            self._via = (*via, f"{name}()")
            self.command(body, state, ANYTHING)
        self._via = ()

    def script(
        self, script: Script, state: ShellState, stdin: PrintedText = ANYTHING
    ) -> PrintedText:
        """Judge a list of commands and return what they write together."""
        outputs = []
        skipped: list[ShellState] = []  # the states if the command after && did not run
        joint = ";"
        for pipeline in script.pipelines:
            if state.other_cwds:
                self.budget.spend(len(state.other_cwds) // 8, "following its directories")
            before = state.copy() if joint in ("&&", "||") else None
            directory = state.cwd
            outputs.append(self.pipeline(pipeline, state, stdin))
            if before is not None and joint == "||":
                self._merge(state, before)
            elif before is not None:
                skipped.append(before)
            joint = pipeline.connector
            if state.cwd != directory and joint != "&&" and directory is not None:
                state.other_cwds |= {directory}  # the cd may have failed
            if joint not in ("&&", "||"):
                for each in skipped:
                    self._merge(state, each)
                skipped = []
        return self._joined(outputs)

    def _merge(self, state: ShellState, other: ShellState) -> None:
        """Reduce `state` to what also holds in `other`, and count the work."""
        self.budget.spend(
            3 + (len(state.variables) + len(state.arrays) + len(state.other_cwds)) // 4,
            "following its variables",
        )
        state.merge(other)

    def _joined(self, outputs: list[PrintedText]) -> PrintedText:
        """Return the outputs of several commands, joined in order."""
        if len(outputs) == 1:
            return outputs[0]
        texts = [output.text for output in outputs]
        length = sum(len(text or "") for text in texts)
        self.budget.spend(len(outputs) // 8 + min(length, LONGEST_VALUE) // 64, "judging it")
        unknown = None in texts or length > LONGEST_VALUE
        return PrintedText(
            text=None if unknown else "".join(text for text in texts if text),
            remote=any(output.remote for output in outputs),
            secret=any(output.secret for output in outputs),
            endless=any(output.endless for output in outputs),
        )

    def pipeline(self, pipeline: Pipeline, state: ShellState, stdin: PrintedText) -> PrintedText:
        """Judge the commands of a pipeline; each gets the output of the one before as its input."""
        alone = len(pipeline.commands) == 1 and pipeline.connector != "&"
        flow = stdin
        for command in pipeline.commands:
            flow = self.command(command, state if alone else state.copy(), flow)
        return flow

    def substituted(self, script: Script, state: ShellState) -> PrintedText:
        """Judge a substitution in a copy of the state, because it runs in a subshell."""
        self.budget.spend(6, "judging its commands")
        with self.within("$(…)"):
            return self.script(script, state.copy(), ANYTHING)

    # -- commands --------------------------------------------------------------------------

    def command(self, command: Command, state: ShellState, stdin: PrintedText) -> PrintedText:
        """Judge one command of any kind."""
        self.budget.spend(4 + len(state.variables) // 16, "judging its commands")
        self.budget.enter()
        output = self._command(command, state, stdin)
        if isinstance(command, Loop | For):
            from siding.shellguard.endless import judge_loop  # few commands hold one

            output = judge_loop(self, command, output)
        self.budget.leave()
        return output

    def _command(self, command: Command, state: ShellState, stdin: PrintedText) -> PrintedText:
        match command:
            case Simple():
                return self._simple(command, state, stdin)
            case Group():
                return self.script(
                    command.script, state.copy() if command.subshell else state, stdin
                )
            case Redirected():
                return self._redirected(command, state, stdin)
            case If():
                return self._if(command, state, stdin)
            case Loop():
                self._forget(command.condition, state)
                self._forget(command.body, state)
                outputs = [self.script(command.condition, state, stdin)]
                outputs.append(self.script(command.body, state, stdin))
                return ANYTHING if any(o.text != "" for o in outputs) else NOTHING
            case For():
                return self._for(command, state, stdin)
            case Case():
                return self._case(command, state, stdin)
            case Function():
                return self._define(command, state)
            case Condition():
                self._condition(command, state)
                return NOTHING
            case Coprocess():
                self.command(command.command, state.copy(), ANYTHING)
                return NOTHING

    def _redirected(
        self, command: Redirected, state: ShellState, stdin: PrintedText
    ) -> PrintedText:
        with self.part("redirection") as opened:
            stdin, target = judge_redirects(self, Expander(self, state), command.redirects, stdin)
        if not opened.findings:
            self.drop(opened)
        output = self.command(command.command, state, stdin)
        return output_after(self, output, target, state)

    def _if(self, command: If, state: ShellState, stdin: PrintedText) -> PrintedText:
        outputs, ways = [], []
        for condition, body in command.branches:
            outputs.append(self.script(condition, state, stdin))
            way = state.copy()
            outputs.append(self.script(body, way, stdin))
            ways.append(way)
        if command.otherwise is not None:
            outputs.append(self.script(command.otherwise, state, stdin))
        for way in ways:
            self._merge(state, way)
        return ANYTHING if any(output.text != "" for output in outputs) else NOTHING

    def _case(self, command: Case, state: ShellState, stdin: PrintedText) -> PrintedText:
        expander, outputs, ways = Expander(self, state), [], []
        expander.single(command.subject)
        for patterns, body in command.items:
            for pattern in patterns:
                expander.single(pattern)
            way = state.copy()
            outputs.append(self.script(body, way, stdin))
            ways.append(way)
        for way in ways:
            self._merge(state, way)
        return ANYTHING if any(output.text != "" for output in outputs) else NOTHING

    def _for(self, command: For, state: ShellState, stdin: PrintedText) -> PrintedText:
        expander = Expander(self, state)
        if command.arithmetic is not None:
            expander.subscript(command.arithmetic)
            state.variables.update(dict.fromkeys(NAME.findall(command.arithmetic.text), NUMBER))
        values = [UNKNOWN]
        if command.words:
            values = expander.fields(command.words) or [UNKNOWN]
        elif state.positional is not None:
            values = list(state.positional)
        self._forget(command.body, state)
        outputs = [NOTHING]
        several = values if len(values) <= MOST_TURNS else [*values[:MOST_TURNS], UNKNOWN]
        for value in several:
            if command.name:
                state.variables[command.name] = value
            outputs.append(self.script(command.body, state, stdin))
        return self._joined(outputs)

    def _define(self, command: Function, state: ShellState) -> PrintedText:
        if self.knows(command.name):
            with self.part(f"{command.name}()"):
                self.found("loads-code", f"{command.name}()")
        state.functions[command.name] = command.body
        later = state.copy()
        later.positional = None
        self._defined[command.name] = (command.body, later, self._via)
        return NOTHING

    def _condition(self, command: Condition, state: ShellState) -> None:
        expander = Expander(self, state)
        texts = [expander.single(word) for word in command.words]
        for number, text in enumerate(texts):
            if text in _COMPARES:
                for each in (*texts[max(0, number - 1) : number], *texts[number + 1 : number + 2]):
                    self.evaluated(each, state)
            elif command.arithmetic:
                self.evaluated(text, state)
            elif text in ("-v", "-R"):
                for name in texts[number + 1 : number + 2]:
                    self.named(name, state)
        self._arithmetic_values(state)

    def _arithmetic_values(self, state: ShellState) -> None:
        """Record `dynamic-value` if a variable holds a substitution, after an arithmetic command.

        Bash evaluates a variable in arithmetic as an expression, and runs substitutions in it.
        """
        self.budget.spend(len(state.variables) // 8, "following its variables")
        for name, value in state.variables.items():
            if "$(" in value or "`" in value:
                with self.part(f"arithmetic near {name}"):
                    self.found("dynamic-value", name)
                return

    def evaluated(self, text: str, state: ShellState) -> None:
        """Judge the commands that run when the shell evaluates `text` as arithmetic.

        These are the substitutions in it and, because the shell evaluates variables in turn, the
        substitutions in the values of the variables it names.
        """
        waiting, seen = [text], {""}
        while waiting:
            each = waiting.pop().translate(_WITHOUT_MARKS)
            self.budget.spend(2 + len(each) // 8, "reading arithmetic")
            if each in seen or each.isdigit():
                continue
            seen.add(each)
            if "$" in each or "`" in each:
                self._text_expanded(each, state)
            for name in NAME.findall(each):
                waiting += [state.variables.get(name, ""), *state.arrays.get(name, ())]

    def _text_expanded(self, text: str, state: ShellState) -> None:
        """Judge the substitutions in a text that the shell will expand a second time."""
        with self.within("arithmetic"):
            try:
                parts = Parser(text, budget=self.budget).read_unquoted_body()
            except NotUnderstood:
                self.found("dynamic-value", text)
                return
            Expander(self, state).single(Word(parts=joined(parts), text=text))

    def named(self, name: str, state: ShellState) -> None:
        """Judge an argument that names a variable: the shell runs substitutions in its subscript.

        ``test -v 'a[$(rm x)]'`` runs rm, for example.
        """
        if UNKNOWN in name:
            self.found("dynamic-value", name)
        if "[" in name:
            self.evaluated(name.partition("[")[2], state)

    def _forget(self, script: Script, state: ShellState) -> None:
        """Forget the values that a loop's body changes: they differ from its second turn on."""
        for command in (c for pipeline in script.pipelines for c in pipeline.commands):
            for name in assigned(command, self.budget):
                if name == "cd":
                    state.cwd = state.cwd if state.cwd is None else None
                elif name in state.variables:
                    state.variables[name] = UNKNOWN
                if name in state.arrays:
                    state.arrays[name] = (*state.arrays[name], UNKNOWN)

    # -- simple commands -------------------------------------------------------------------

    def _simple(self, command: Simple, state: ShellState, stdin: PrintedText) -> PrintedText:
        with self.part(" ".join(command.text[:LONGEST_SHOWN].split())):
            expander = Expander(self, state)
            assigned = assigned_by(command, expander)
            for name, value in assigned.items():
                self.variable(name, value, state, lasting=not command.words)
            expander.names.clear()
            words = tuple(expander.fields(command.words))
            used = frozenset(expander.names)
            stdin, target = judge_redirects(self, Expander(self, state), command.redirects, stdin)
            self.project_rules(command.text, words)
            if not command.words:
                keep_assigned(assigned, state)
                return output_after(self, NOTHING, target, state)
            alias = self._alias(command.words[0], state)
            if alias is not None:
                with self.within(f"alias {command.words[0].text}"):
                    rest = command.text.partition(command.words[0].text)[2]
                    return output_after(
                        self, self.line(f"{alias} {rest}", state, stdin), target, state
                    )
            if not words:
                keep_assigned(assigned, state)
                return output_after(self, NOTHING, target, state)
            self._secrets_used(words, used)
            call = Call(words=words, state=state, stdin=stdin, env=assigned)
            return output_after(self, self.call(call), target, state)

    def _alias(self, word: Word, state: ShellState) -> str | None:
        if len(word.parts) == 1 and isinstance(word.parts[0], Literal):
            return state.aliases.get(word.parts[0].text) if not word.parts[0].quoted else None
        return None

    def variable(self, name: str, value: str, state: ShellState, *, lasting: bool) -> None:
        """Judge ``name=value``; `lasting` is False when it is set for one command only."""
        self.judges.variable(self, name, value, state, lasting)

    def _secrets_used(self, words: tuple[str, ...], used: frozenset[str]) -> None:
        if words[0] in ("[", "test", "export", "unset", "read", "local", "declare"):
            return
        for name in sorted(used):
            if secret_variable(name):
                self.found("print-secret", f"${name}")
        if "PPID" in used and words[0] not in ("echo", "printf", "ps"):
            self.found("siding-itself", "$PPID")

    def call(self, call: Call) -> PrintedText:
        """Judge one program with its arguments and return what it writes to standard output."""
        self.budget.spend(call.cost, "judging its commands")
        first = call.words[0]
        if any(mark in first for mark in MARKS):
            self.found("dynamic-command", first)
            return ANYTHING
        if first in call.state.functions:
            return self._call_function(call)
        return self.judges.judge(self, call)

    def inner(self, what: str, words: tuple[str, ...], call: Call) -> PrintedText:
        """Judge the command `words` that the program `what` (such as ``sudo``) runs."""
        if not words:
            return ANYTHING
        with self.within(what), self.part(shown_words(words)):
            self.project_rules(shown_words(words), words)
            return self.call(call._replace(words=words))

    def inner_line(
        self, what: str, text: str, call: Call, state: ShellState | None = None
    ) -> PrintedText:
        """Judge the line of shell `text` that the program `what` (such as ``bash -c``) runs."""
        with self.within(what):
            return self.line(text, state or call.state.copy(), call.stdin)

    def inner_text(self, what: str, text: str, state: ShellState) -> None:
        """Judge `text` that the program `what` hands to a shell, with an unknown input."""
        if text.strip():
            with self.within(what):
                self.line(text, state.copy(), ANYTHING)

    def would_block(self, text: str, state: ShellState) -> bool:
        """Return whether `text`, read as a command line, would be blocked.

        A text whose words cannot be expanded within the limits counts as blocked.
        """
        parts = self.probed(text, state)
        return parts is None or worst(part.action for part in parts) is Action.BLOCK

    def probed(self, text: str, state: ShellState) -> tuple[CommandPart, ...] | None:
        """Judge `text` as a command line without recording it; None when it goes too deep."""
        policy = self.policy._replace(rules=())
        probe = Examiner(policy, self.place, self.env, self.judges, self.budget)
        probe._via = (*self._via, "argument")
        probe.fetched = set(self.fetched)
        depth = self.budget.depth
        try:
            with probe.within("argument"):
                probe.line(text, state.copy())
        except NotUnderstood:
            self.budget.depth = depth
            return None
        return probe.parts()

    def _call_function(self, call: Call) -> PrintedText:
        name = call.words[0]
        self._defined.pop(name, None)
        body = call.state.functions[name]
        if name in call.state.calls:
            if id(body) not in self._multiplying:
                self._multiplying[id(body)] = multiplies(body, name, self.budget)
            if self._multiplying[id(body)]:
                self.found("fork-bomb", name)
            return ANYTHING
        state = call.state
        before, state.positional = state.positional, call.arguments
        state.calls = (*state.calls, name)
        with self.within(f"{name}()"):
            output = self.command(body, state, call.stdin)
        state.positional, state.calls = before, state.calls[:-1]
        return output
