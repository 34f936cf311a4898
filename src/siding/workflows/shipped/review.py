"""Look at a change from several sides, try to refute what was found, and write one verdict.

Arguments: `change`, what to look at (the default: all that the task has changed); `sides`, a list
of questions in the place of the usual ones. It ends with the status 1 if a side could not be looked
at.
"""

meta = {
    "name": "review",
    "description": "Review a change from several sides; each finding has to stand a refuter",
    "phases": [{"title": "Look"}, {"title": "Refute"}, {"title": "Verdict"}],
}

SIDES = {
    "correctness": "wrong results, edge cases, crashes, races, errors that are swallowed",
    "security": "input from outside, secrets, permissions, injection, paths that lead out",
    "tests": "behaviour that no test holds, tests that cannot fail, cases that are missing",
    "design": "work done twice, code in the wrong place, names that mislead, needless code",
    "speed": "work that grows faster than what it is for, repeated reading, waiting in a row",
}
FINDINGS = {
    "type": "object",
    "required": ["findings"],
    "properties": {
        "findings": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["title", "where", "why", "severity"],
                "properties": {
                    "title": {"type": "string"},
                    "where": {"type": "string"},
                    "why": {"type": "string"},
                    "severity": {"enum": ["high", "medium", "low"]},
                },
            },
        }
    },
}
VERDICT = {
    "type": "object",
    "required": ["stands", "why"],
    "properties": {"stands": {"type": "boolean"}, "why": {"type": "string"}},
}
MOST = 12  # findings of one side that are put to a refuter


async def main(args):
    given = args or {}
    change = given.get("change") or "everything that was changed here since the base of the branch"
    sides = {f"side {n}": text for n, text in enumerate(given.get("sides") or [], 1)} or SIDES

    def look(side):
        return agent(
            f"Review {change}. Read the change (`git log`, `git diff`, `siding diff`) and the code"
            f" around it. Look only for this: {sides[side]}. Report what is really wrong, with the"
            " place (file:line), and why; an empty list is a good answer. Change nothing.",
            label=f"look:{side}",
            phase="Look",
            schema=FINDINGS,
            isolation="read",
        )

    async def refute(found, side):
        if found is None:
            return None  # nobody looked: that is not "nothing was found"
        findings = found["findings"]
        if len(findings) > MOST:
            log(f"{side}: only the first {MOST} of {len(findings)} findings are looked at")
        verdicts = await parallel(
            [judged(side, n, one) for n, one in enumerate(findings[:MOST], 1)]
        )
        return [
            {**one, "side": side, "refuter": verdict["why"] if verdict else "no answer"}
            for one, verdict in zip(findings, verdicts, strict=False)
            if verdict is None or verdict["stands"]
        ]

    def judged(side, number, one):
        return lambda: agent(
            f"A reviewer of {change} says: {one['title']} ({one['where']}): {one['why']}\n\nTry to"
            " refute it with evidence from the code; run something if that settles it. Does it"
            " stand? Change nothing.",
            label=f"refute:{side}#{number}",
            phase="Refute",
            schema=VERDICT,
            isolation="read",
        )

    phase("Look")
    stood = await pipeline(list(sides), look, refute)
    failed = [side for side, found in zip(sides, stood, strict=True) if found is None]
    findings = [one for found in stood if found for one in found]
    order = ["high", "medium", "low"]
    findings.sort(key=lambda one: order.index(one["severity"]))

    phase("Verdict")
    told = {"findings": findings, "not_looked_at": failed, **({"exit": 1} if failed else {})}
    if len(failed) == len(sides):
        return {"verdict": "Nothing was looked at: no reviewer gave a result.", **told}
    if not findings:
        missing = f" ({', '.join(failed)} could not be looked at)" if failed else ""
        return {"verdict": f"Nothing was found that stands{missing}.", **told}
    verdict = await agent(
        f"Write the verdict of a review of {change}: at most ten sentences, the worst first, what"
        f" has to change before it is merged. The findings that stand:\n\n{findings}",
        label="verdict",
        isolation="read",
    )
    if verdict is None:
        return {"verdict": "The findings stand; nobody wrote the verdict.", **told, "exit": 1}
    return {"verdict": verdict, **told}
