"""A person's policy and a project's: the stricter holds, and what loosens needs trust."""

from hypothesis import given
from hypothesis import strategies as st

from siding.shellguard.combining import combined
from siding.shellguard.file import read_policy
from siding.shellguard.keeping import as_record, policy_from
from siding.shellguard.policy import Policy
from siding.shellguard.rules import BUILT_IN, GROUPS, Rule
from siding.shellguard.verdict import SEVERITY, Action

from .setting import judged

NAMES = sorted(BUILT_IN)
SWITCHABLE = [name for name in (*NAMES, *GROUPS) if name != "unclear"]
POLICIES = st.builds(
    Policy,
    rules=st.just(()),
    examples=st.just(()),
    broken=st.just(""),
    loosens=st.just(()),
    actions=st.dictionaries(st.sampled_from(NAMES), st.sampled_from(list(Action)), max_size=6),
    off=st.frozensets(st.sampled_from(SWITCHABLE), max_size=3),
    programs=st.dictionaries(st.sampled_from(["ours", "theirs"]), st.just("project")),
    writable=st.lists(st.sampled_from(["/data", "/cache"]), max_size=2).map(tuple),
)
LINES = ("rm -rf ~", "git push --force", "ours", "echo x > /data/y", "sudo ls", "curl x | sh")


def _severity(policy: Policy, name: str) -> int:
    rule = policy.rule(name)
    return -1 if rule is None else SEVERITY[rule.action]


@given(own=POLICIES, project=POLICIES)
def test_an_untrusted_project_only_tightens(own: Policy, project: Policy) -> None:
    both = combined(own, project, trusted=False)
    for name in NAMES:
        assert _severity(both, name) >= _severity(own, name)
    assert both.programs == own.programs
    assert both.writable == own.writable
    for line in LINES:
        assert SEVERITY[judged(line, both).action] >= SEVERITY[judged(line, own).action]


@given(own=POLICIES, project=POLICIES)
def test_where_both_name_a_rule_the_stricter_holds(own: Policy, project: Policy) -> None:
    both = combined(own, project, trusted=True)
    for name in own.actions.keys() & project.actions.keys():
        off = {*own.off, *project.off}
        if name not in off and BUILT_IN[name].group not in off:
            wanted = max(own.actions[name], project.actions[name], key=SEVERITY.__getitem__)
            assert both.actions[name] is wanted
    for name in own.actions:
        if own.rule(name) is not None:
            assert _severity(both, name) >= _severity(own, name), "the person's word is kept"


@given(policy=POLICIES)
def test_a_trusted_project_alone_is_what_its_file_says(policy: Policy) -> None:
    both = combined(Policy(), policy, trusted=True)
    assert [both.rule(name) for name in NAMES] == [policy.rule(name) for name in NAMES]


@given(policy=POLICIES)
def test_no_project_changes_nothing(policy: Policy) -> None:
    both = combined(policy, Policy(), trusted=False)
    assert [both.rule(name) for name in NAMES] == [policy.rule(name) for name in NAMES]


def test_a_broken_one_breaks_both() -> None:
    broken = read_policy(b"rules: [")
    for own, project in ((broken, Policy()), (Policy(), broken)):
        for trusted in (False, True):
            assert not judged("true", combined(own, project, trusted=trusted)).runs


def test_allow_rules_need_trust() -> None:
    project = read_policy(b"rules: [{name: a, pattern: ours, action: allow}]")
    assert not judged("ours", combined(Policy(), project, trusted=False)).runs
    assert judged("ours", combined(Policy(), project, trusted=True)).runs


RULES = st.lists(
    st.builds(
        lambda name, action: f"- {{name: {name}, pattern: '^{name}', action: {action}}}",
        st.sampled_from(["one", "two", "three"]),
        st.sampled_from(["allow", "log", "warn", "ask", "block"]),
    ),
    unique_by=lambda text: text.split(",")[0],
)


@given(policy=POLICIES, rules=RULES)
def test_what_was_parsed_can_be_kept(policy: Policy, rules: list[str]) -> None:
    parsed = read_policy("\n".join(["rules:", *rules]).encode())
    assert parsed.broken == ""
    whole = policy._replace(
        rules=parsed.rules, loosens=parsed.loosens, examples=(("ls", Action.ALLOW),)
    )
    assert policy_from(as_record(whole)) == whole


def test_a_kept_policy_of_another_version_is_no_policy() -> None:
    record = as_record(Policy(actions={"become-root": Action.ASK}))
    record["actions"] = {"no-such-rule": "ask"}
    try:
        policy_from(record)
    except KeyError:
        return
    raise AssertionError("a rule that is not there was taken")


def test_rules_of_a_kept_policy_match_as_before() -> None:
    rule = Rule(name="x", group="project", action=Action.BLOCK, reason="", pattern=None)
    assert as_record(Policy(rules=(rule,)))["rules"] == [], "built-in ones are not kept"
