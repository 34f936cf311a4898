"""Show where the policy of this place comes from, or one of its rules."""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.formats import add_format, print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert

_RUNS = {
    True: "judged by it",
    False: "not judged: no policy is switched on",
    None: "not known: this step runs in a sandbox that hides Siding's home",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("rule", nargs="?", metavar="RULE", help="default: the policy's files")
    add_format(parser, "text", "json")


def run(arguments: Namespace, context: Context) -> int:
    screen = context.screen
    lines = _files(context) if arguments.rule is None else _rule(context, arguments.rule)
    if arguments.format == "json":
        print_json(screen, _as_record(lines))
        return 0
    _print(screen, lines)
    return 0


def _rule(context: Context, name: str) -> list[tuple[str, str]]:
    from siding.guard.views import rule_named

    found = rule_named(context.app, name)
    pattern = found.rule.pattern
    return [
        ("rule", found.rule.name),
        ("set", found.rule.group),
        ("action", found.action),
        ("from", found.source),
        ("built-in", found.rule.action.value if pattern is None else ""),
        ("reason", found.rule.reason),
        ("pattern", "" if pattern is None else pattern.pattern),
    ]


def _files(context: Context) -> list[tuple[str, str]]:
    from siding.guard.views import is_on, rules

    in_force, _listed = rules(context.app)
    lines = [("runs", _RUNS[is_on(context.app, in_force)])]
    lines += [("broken", in_force.policy.broken)]
    for source in in_force.sources:
        lines.append((source.name, str(source.path)))
        trust = "trusted" if source.trusted else "not trusted"
        for each in source.policy.loosens:
            counts = f" ({trust})" if source.from_repository else ""
            lines.append(("permits", f"{each}{counts}"))
    return lines


def _print(screen: Screen, lines: list[tuple[str, str]]) -> None:
    for label, text in lines:
        if text:
            screen.print(f"{screen.style(f'{label:<9}', 'dim')} {inert(text)}")


def _as_record(lines: list[tuple[str, str]]) -> dict[str, object]:
    record: dict[str, object] = {}
    for label, text in lines:
        if label == "permits":
            permits = record.setdefault("permits", [])
            assert isinstance(permits, list)
            permits.append(text)
        elif text:
            record[label] = text
    return record
