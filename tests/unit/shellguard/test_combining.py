"""A person's policy and a project's: the stricter holds, and what loosens needs trust."""

from hypothesis import given
from hypothesis import strategies as st

from siding.shellguard.face import Action, Policy
from siding.shellguard.rules import BUILT_IN, GROUPS, Rule
from siding.shellguard.verdict import SEVERITY

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
    both = own.joined_with(project, trusted=False)
    for name in NAMES:
        assert _severity(both, name) >= _severity(own, name)
    assert both.programs == own.programs
    assert both.writable == own.writable
    for line in LINES:
        assert SEVERITY[judged(line, both).action] >= SEVERITY[judged(line, own).action]


@given(own=POLICIES, project=POLICIES)
def test_where_both_name_a_rule_the_stricter_holds(own: Policy, project: Policy) -> None:
    both = own.joined_with(project, trusted=True)
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
    both = Policy().joined_with(policy, trusted=True)
    assert [both.rule(name) for name in NAMES] == [policy.rule(name) for name in NAMES]


@given(policy=POLICIES)
def test_no_project_changes_nothing(policy: Policy) -> None:
    both = policy.joined_with(Policy(), trusted=False)
    assert [both.rule(name) for name in NAMES] == [policy.rule(name) for name in NAMES]


def test_a_broken_one_breaks_both() -> None:
    broken = Policy.read(b"rules: [")
    for own, project in ((broken, Policy()), (Policy(), broken)):
        for trusted in (False, True):
            assert not judged("true", own.joined_with(project, trusted=trusted)).runs


def test_allow_rules_need_trust() -> None:
    project = Policy.read(b"rules: [{name: a, pattern: ours, action: allow}]")
    assert not judged("ours", Policy().joined_with(project, trusted=False)).runs
    assert judged("ours", Policy().joined_with(project, trusted=True)).runs


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
    parsed = Policy.read("\n".join(["rules:", *rules]).encode())
    assert parsed.broken == ""
    whole = policy._replace(
        rules=parsed.rules, loosens=parsed.loosens, examples=(("ls", Action.ALLOW),)
    )
    assert Policy.from_record(whole.as_record()) == whole


def test_a_kept_policy_of_another_version_is_no_policy() -> None:
    record = Policy(actions={"become-root": Action.ASK}).as_record()
    record["actions"] = {"no-such-rule": "ask"}
    try:
        Policy.from_record(record)
    except KeyError:
        return
    raise AssertionError("a rule that is not there was taken")


def test_rules_of_a_kept_policy_match_as_before() -> None:
    rule = Rule(name="x", group="project", action=Action.BLOCK, reason="", pattern=None)
    assert Policy(rules=(rule,)).as_record()["rules"] == [], "built-in ones are not kept"
