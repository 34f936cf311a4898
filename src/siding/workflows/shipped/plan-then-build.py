"""Plan first, let a person say yes, then build it and check it.

Arguments: `goal`; `check`, a command that the result has to pass; `rounds` (3) of planning. It ends
with the status 1 if nothing was built, or if the check does not pass.
"""

meta = {
    "name": "plan-then-build",
    "description": "A plan that a person approves, then the work, then its check",
    "phases": [{"title": "Plan"}, {"title": "Build"}, {"title": "Check"}],
}
YES, AGAIN, STOP = "build it", "plan again", "stop"


async def main(args):
    given = args or {}
    goal, check = given.get("goal"), given.get("check")
    if not goal:
        raise ValueError("it needs what is to be built: goal='…'")
    phase("Plan")
    wish, plan = "", None
    for number in range(1, int(given.get("rounds", 3)) + 1):
        plan = await agent(
            f"Plan how to reach this goal; change nothing yet: {goal}\n\nName the files, the steps"
            f" in their order, what could go wrong, and how it is tested.{wish}",
            label=f"plan:{number}",
            isolation="read",
        )
        if plan is None:
            return not_built("there is no plan: the agent gave no result")
        answer = await ask("Is this the way?", options=[YES, AGAIN, STOP], context=plan)
        if answer == YES:
            break
        if answer == STOP:
            return not_built("a person stopped it", plan)
        wanted = await ask("What should be different?")
        wish = f"\n\nThe last plan was:\n{plan}\n\nA person wants it changed: {wanted}"
    else:
        return not_built("no plan was approved", plan)

    phase("Build")
    said = await agent(
        f"Reach this goal: {goal}\n\nFollow this plan; say where you had to leave it:\n\n{plan}",
        label="build",
    )
    if said is None:
        return not_built("the agent that builds gave no result", plan)
    if not check:
        return {"built": True, "plan": plan, "says": said}
    phase("Check")
    green = await workflow("fix-until-green", {"check": check, "task": f"The goal: {goal}"})
    told = {"built": green["green"], "plan": plan, "says": said, "check": green}
    return told if green["green"] else {**told, "why": green["why"], "exit": 1}


def not_built(why, plan=None):
    return {"built": False, "why": why, "plan": plan, "exit": 1}
