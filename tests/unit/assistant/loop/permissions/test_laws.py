"""What holds of all decisions, whatever the rules, the mode and the call."""

import re
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from siding.assistant.loop.permissions.patterns import (
    Fit,
    fit_of,
    literal,
    meet,
    of_field,
    of_path,
    of_text,
)
from siding.assistant.loop.permissions.rules import (
    BadRule,
    PermissionMode,
    PermissionRule,
    PermissionRules,
    parse_rule,
    split_list,
)

from .ground import bash, fetch, file, outcome

SEVERITY = {"allow": 0, "ask": 1, "deny": 2}

SIMPLE = st.sampled_from(
    """
    git commit -m x|git push|git -C . push|rm a|rm -r src|cat src/a|cat .env|cat ~/x|make|ls|$X a
    echo $X|ls > src/b|CI=1 npm test|timeout 5 npm test|sudo rm a|npm test|cd src|bash -c 'rm a'
    """.strip()
    .replace("\n    ", "|")
    .split("|")
)
LINES = st.lists(SIMPLE, min_size=1, max_size=3).flatmap(
    lambda several: st.sampled_from(["; ", " && ", " | ", "\n"]).map(lambda by: by.join(several))
)
PATHS = st.sampled_from(
    ["src/a.py", ".env", "a/.env", "/etc/passwd", "~/x", "out/passwd", "into/a", ".git/config"]
)
CALLS = st.one_of(
    LINES.map(bash),
    st.tuples(st.sampled_from(["Read", "Edit", "Write"]), PATHS).map(lambda each: file(*each)),
    st.sampled_from(["https://a.example/x", "http://b.example", "x"]).map(fetch),
)
TEXTS = st.sampled_from(
    """
    Bash|Bash(git:*)|Bash(git push:*)|Bash(rm:*)|Bash(rm a)|Bash(npm test *)|Bash(* a)|Bash(cd src)
    Bash(bash:*)|Bash(make)|Read|Read(.env)|Read(~/**)|Read(//etc/**)|Read(src/**)|Edit|Edit(src/**)
    Edit(//**)|Write|WebFetch|WebFetch(domain:a.example)|WebFetch(domain:*.example)
    """.strip()
    .replace("\n    ", "|")
    .split("|")
)
RULES = TEXTS.map(parse_rule)
SOME = st.lists(RULES, max_size=4).map(tuple)
SETS = st.builds(PermissionRules, allow=SOME, ask=SOME, deny=SOME)
MODES = st.sampled_from(PermissionMode)


def severity(call: Any, rules: PermissionRules, mode: PermissionMode) -> int:
    return SEVERITY[outcome(call, rules, mode)]


@given(CALLS, SETS, SOME, MODES, MODES)
def test_no_allow_and_no_mode_lifts_what_a_rule_denies(
    call: Any, rules: PermissionRules, more: Any, mode: PermissionMode, other: PermissionMode
) -> None:
    only_denials = PermissionRules(deny=rules.deny)
    if severity(call, only_denials, PermissionMode.BYPASS) == SEVERITY["deny"]:
        wider = rules._replace(allow=(*rules.allow, *more))
        assert outcome(call, wider, mode) == outcome(call, wider, other) == "deny"


@given(CALLS, SETS, RULES, MODES)
def test_one_more_rule_moves_a_decision_its_own_way_only(
    call: Any, rules: PermissionRules, one: PermissionRule, mode: PermissionMode
) -> None:
    before = severity(call, rules, mode)
    assert severity(call, rules._replace(allow=(*rules.allow, one)), mode) <= before
    assert severity(call, rules._replace(ask=(*rules.ask, one)), mode) >= before
    assert severity(call, rules._replace(deny=(*rules.deny, one)), mode) >= before


@given(CALLS, SETS, MODES, st.randoms(use_true_random=False))
def test_the_order_of_rules_does_not_matter(
    call: Any, rules: PermissionRules, mode: PermissionMode, chance: Any
) -> None:
    mixed = [list(each) for each in rules]
    for each in mixed:
        chance.shuffle(each)
    assert outcome(call, rules, mode) == outcome(call, PermissionRules(*map(tuple, mixed)), mode)


@given(st.lists(SIMPLE, min_size=1, max_size=3), SETS, st.sampled_from(["; ", " && ", "\n"]))
def test_a_line_is_decided_on_like_its_strictest_command(
    several: list[str], rules: PermissionRules, by: str
) -> None:
    """`cd` moves the commands behind it, so it is left out."""
    kept = [each for each in several if each != "cd src"] or ["ls"]
    alone = [severity(bash(each), rules, PermissionMode.DEFAULT) for each in kept]
    assert severity(bash(by.join(kept)), rules, PermissionMode.DEFAULT) == max(alone)


@given(CALLS, SETS)
def test_modes_permit_more_and_less_in_one_order(call: Any, rules: PermissionRules) -> None:
    ordered = [
        PermissionMode.BYPASS,
        PermissionMode.ACCEPT_EDITS,
        PermissionMode.DEFAULT,
        PermissionMode.DONT_ASK,
    ]
    found = [severity(call, rules, mode) for mode in ordered]
    assert found == sorted(found)
    assert found[3] != SEVERITY["ask"]


PIECES = st.lists(st.sampled_from(["a", "b", "/", "*", "**", "?", "ab", ".", "/**/"]), max_size=6)
SHORT = st.text("ab/.", max_size=8)


@given(PIECES, SHORT)
def test_a_path_pattern_means_what_a_gitignore_means(pieces: list[str], path: str) -> None:
    """Compared with another implementation: a regular expression, made piece by piece."""
    pattern = re.sub(r"\*{2,}", "**", "/" + "".join(pieces)).replace("//", "/")
    found = meet(of_path(pattern), literal(path))
    assert found == bool(re.fullmatch(_as_regex(pattern), path, re.DOTALL))


def _as_regex(pattern: str) -> str:
    below = pattern.endswith("/**")
    body = pattern.removesuffix("/**").rstrip("/")
    out, at = "", 0
    while at < len(body):
        if body.startswith("/**/", at):
            out, at = out + "/(?:.*/)?", at + 4
            while body.startswith("**/", at):
                at += 3
        elif body[at] == "*":
            while body[at : at + 1] == "*":
                at += 1
            out += "[^/]*"
        else:
            out, at = out + ("[^/]" if body[at] == "?" else re.escape(body[at])), at + 1
    return out + ("/.*" if below else "(?:/.*)?")


@given(st.text("ab *", max_size=6), st.text("ab \x00\x01", max_size=6), st.text("ab ", max_size=4))
def test_what_is_certain_of_a_word_with_marks_holds_for_all_that_it_may_be(
    pattern: str, field: str, value: str
) -> None:
    glob = of_text(pattern)
    fit = fit_of(glob, field)
    real = field.replace("\x00", value).replace("\x01", value.replace("/", ""))
    if fit is Fit.YES:
        assert meet(glob, literal(real))
    if meet(glob, literal(real)):
        assert fit is not Fit.NO
    assert meet(of_field(field), literal(real))


PATTERNS = st.text("ab*:()\\ ,/~", min_size=1, max_size=8).map(str.strip)


@given(
    st.sampled_from(["Task", "Read", "Skill"]), PATTERNS.filter(lambda text: text not in ("", "*"))
)
def test_a_rule_is_read_as_it_was_written(tool: str, pattern: str) -> None:
    rule = PermissionRule(tool, pattern)
    assert parse_rule(rule.text) == rule
    assert split_list(f"Bash, {rule.text} Edit") == ("Bash", rule.text, "Edit")


@given(st.text(max_size=30))
def test_any_text_is_a_rule_or_a_bad_one(text: str) -> None:
    rule = None
    with suppress(BadRule):
        rule = parse_rule(text)
    assert rule is None or parse_rule(rule.text) == rule
