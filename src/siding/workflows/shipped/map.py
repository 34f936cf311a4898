"""Give one prompt to many items, each to an agent of its own, and put the results together.

Arguments: `items`, a list, or `list`, a command that prints one a line; `prompt`, in which `{item}`
stands for the item; `write` (false): the agents change files, each in a workspace of its own, whose
change comes back; `merge`: what to make of all results, by one more agent. It ends with
the status 1 if an item has no result, or if there was no item.
"""

meta = {
    "name": "map",
    "description": "One prompt over many items, an agent for each; the results are put together",
    "phases": [{"title": "Map"}, {"title": "Merge"}],
}


async def main(args):
    given = args or {}
    items = given.get("items")
    if not given.get("prompt") or (items is None and not given.get("list")):
        raise ValueError("it needs prompt='…' and list='git ls-files' (or items:='[\"a\", \"b\"]')")
    if items is None:
        listed = await run(given["list"], label="list")
        if not listed["passed"]:
            raise ValueError(f"`{given['list']}` ended with {listed['exit']}: there is no list")
        items = [line for line in listed["output"].splitlines() if line.strip()]
    prompt, isolation = given["prompt"], "worktree" if is_yes(given.get("write")) else "read"

    def one(item):
        text = prompt.replace("{item}", str(item))
        if text == prompt:
            text = f"{prompt}\n\nThe item: {item}"
        return agent(text, label=str(item)[:40], isolation=isolation, details=True)

    phase("Map")
    log("1 item" if len(items) == 1 else f"{len(items)} items")
    done = await pipeline(items, one)
    results = [
        {
            "item": item,
            "result": found["output"],
            "conflicts": found.get("brought_back", {}).get("conflict", []),
        }
        for item, found in zip(items, done, strict=True)
        if found
    ]
    failed = [item for item, found in zip(items, done, strict=True) if not found]
    if failed:
        log(f"no result for {len(failed)} of {len(items)}: {failed}")
    merged = None
    if given.get("merge") and results:
        phase("Merge")
        shown = "\n\n".join(f"## {one['item']}\n{one['result']}" for one in results)
        merged = await agent(f"{given['merge']}\n\n{shown}", label="merge", isolation="read")
    said = {"merged": merged, "results": results, "failed": failed}
    if not items:
        return {**said, "why": "there is no item", "exit": 1}
    if given.get("merge") and results and merged is None:
        return {**said, "why": "the results are there, but nobody put them together", "exit": 1}
    return {**said, "exit": 1} if failed else said


def is_yes(value):
    """An argument that was typed is a text."""
    return str(value).lower() in ("true", "yes", "1")
