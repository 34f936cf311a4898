"""Several agents try the same task from the same state, each in a workspace of its own.

Arguments: `prompt`; `agents`, their types; `check`, a command that a good result passes; `choose`:
"smallest" (the default: the smallest change that passes), "judge" (an agent), "ask" (a person) or
"none". What is chosen is brought back; all workspaces are kept, to be compared.
"""

meta = {
    "name": "race",
    "description": "Let several agents try a task side by side, and bring the best result back",
    "phases": [{"title": "Race"}, {"title": "Choose"}],
}

CHOICE = {
    "type": "object",
    "required": ["best", "why"],
    "properties": {"best": {"type": "integer", "minimum": 1}, "why": {"type": "string"}},
}


async def main(args):
    given = args or {}
    prompt, check = given.get("prompt"), given.get("check")
    if not prompt:
        raise ValueError("it needs what the agents are asked: prompt='…'")
    names = given.get("agents") or [None, None]
    labels = [f"{name or 'agent'}:{number}" for number, name in enumerate(names, 1)]

    async def attempt(name, label):
        done = await agent(
            prompt,
            agent_type=name,
            label=label,
            isolation="worktree",
            bring_back=False,
            details=True,
        )
        if done is None:
            return None
        entry = {
            "agent": label,
            "fork": done.get("fork", ""),
            "changed": done.get("changed") or {},
            "says": done["output"],
            "passed": None,
        }
        if check and entry["fork"]:
            checked = await run(check, fork=entry["fork"], label=f"check:{label}")
            entry["passed"], entry["check"] = checked["passed"], checked["output"][-2000:]
        return entry

    phase("Race")
    tried = await parallel(
        [
            lambda name=name, label=label: attempt(name, label)
            for name, label in zip(names, labels, strict=True)
        ]
    )
    entries = [entry for entry in tried if entry]
    good = [
        entry for entry in entries if entry["changed"].get("files") and entry["passed"] is not False
    ]
    if not good:
        why = "no result passes" if entries else "no agent came to a result"
        return {"winner": None, "why": why, "entries": entries, "exit": 1}

    phase("Choose")
    best, why = await chosen(prompt, good, given.get("choose") or "smallest")
    if best is None:
        told = {"winner": None, "why": why, "entries": entries}
        return told if given.get("choose") == "none" else {**told, "exit": 1}
    back = await bring_back(best["fork"])
    if back["conflicts"]:
        why = f"{why}; it was not brought back: {', '.join(back['conflicts'])} changed meanwhile"
    return {
        **({"exit": 1} if back["conflicts"] else {}),
        "winner": best["agent"],
        "why": why,
        "step": back["step"],
        "conflicts": back["conflicts"],
        "entries": entries,
    }


async def chosen(prompt, good, how):
    if how == "none":
        return None, "nobody was asked to choose"
    if len(good) == 1:
        return good[0], "it is the only one that passes"
    if how == "ask":
        answer = await ask(
            "Which result is to be brought back?",
            options=[entry["agent"] for entry in good] + ["none of them"],
            context="\n\n".join(told(entry) for entry in good),
        )
        found = [entry for entry in good if entry["agent"] == answer]
        return (found[0] if found else None), "a person chose"
    if how == "judge":
        shown = "\n\n".join(f"{n}. {told(entry)}" for n, entry in enumerate(good, 1))
        verdict = await agent(
            f"Several agents were given this task:\n\n{prompt}\n\nTheir results:\n\n{shown}\n\n"
            "Which one is best, and why? Look at what they did, not at what they say.",
            label="judge",
            schema=CHOICE,
            isolation="read",
        )
        if verdict and verdict["best"] <= len(good):
            return good[verdict["best"] - 1], verdict["why"]
    return min(good, key=size), "it is the smallest change that passes"


def size(entry):
    changed = entry["changed"]
    return changed.get("additions", 0) + changed.get("deletions", 0)


def told(entry):
    changed = entry["changed"]
    lines = f"+{changed.get('additions', 0)} -{changed.get('deletions', 0)}"
    files = "1 file" if changed.get("files") == 1 else f"{changed.get('files', 0)} files"
    where = f"{files} {lines}, `siding diff --task {entry['fork']}`"
    return f"{entry['agent']} ({where}): {entry['says']}"
