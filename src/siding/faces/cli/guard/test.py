"""Run the project's own examples: `examples` in its policy, and `.siding/policy-tests.yaml`.

Each is a line of shell under the action it should have; `allow` stands for whatever runs without
a question. They are judged by the project's file alone. The exit status is 1 when one differs.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import counted


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print every example as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.guard.views import examples

    screen = context.screen
    tried = list(examples(context.app))
    failed = [each for each in tried if not each.holds]
    if arguments.json:
        print_json(
            screen,
            [
                {
                    "line": each.line,
                    "wanted": each.wanted.value,
                    "action": each.verdict.action.value,
                    "rules": sorted({finding.rule for finding in each.verdict.findings}),
                    "holds": each.holds,
                }
                for each in tried
            ],
        )
        return 1 if failed else 0
    for each in failed:
        rules = ", ".join(dict.fromkeys(finding.rule for finding in each.verdict.findings))
        found = each.verdict.action.value + (f" ({rules})" if rules else "")
        screen.print(f"{each.line!r} should be {each.wanted.value}, and is {inert(found)}")
    if not tried:
        screen.note("this project has no examples; see `examples` in docs/policy.md")
    elif failed:
        screen.note(f"{len(failed)} of {counted(len(tried), 'example')} differ", "red")
    else:
        screen.note(f"{counted(len(tried), 'example')} as they should be", "green")
    return 1 if failed else 0
