"""Scripts drawn at random: lanes in lanes, results in later prompts, errors that are caught."""

import hashlib
from random import Random
from textwrap import indent
from typing import NamedTuple


class Drawn(NamedTuple):
    """A script, and the scripts of the workflows that it calls."""

    source: str
    files: dict[str, str]


def draw(seed: int, *, shares: bool = False) -> Drawn:
    """Return a script; if it `shares`, its lanes append to a list that prompts are made of."""
    drawing = _Drawing(Random(seed), shares=shares)
    body = drawing.block(depth=0, may_nest=True)
    source = f"shared = []\nseen = []\n{body}\nreturn seen"
    return Drawn(source=source, files=drawing.files)


def edited(source: str, seed: int) -> str:
    """Return a script in which the text of one prompt is another."""
    places = [at for at in range(len(source)) if source.startswith("ask-", at)]
    at = Random(seed).choice(places)
    return f"{source[:at]}changed-{source[at:]}"


class _Drawing:
    def __init__(self, random: Random, *, shares: bool) -> None:
        self.files: dict[str, str] = {}
        self._random = random
        self._shares = shares
        self._names = 0

    def block(self, depth: int, *, may_nest: bool) -> str:
        """Return statements that append to `seen`."""
        kinds = [self._agent, self._agent]
        if depth < 3:
            kinds += [self._parallel, self._pipeline, self._gather, self._eager, self._caught]
            kinds += [self._workflow] if may_nest else []
        count = self._random.randint(1, 3 if depth else 4)
        return "\n".join(self._random.choice(kinds)(depth, may_nest) for _ in range(count))

    def _name(self) -> str:
        self._names += 1
        return f"x{self._names}"

    def _prompt(self) -> str:
        about = self._random.choice(["", "{seen[-1:]}", "{len(seen)}", "{seen[:2]}"])
        if self._shares and self._random.random() < 0.5:
            about += " {shared}"
        return f'f"ask-{self._name()} {about}"'

    def _agent(self, depth: int, nest: bool) -> str:
        name = self._name()
        share = f"\nshared.append({name})" if self._shares else ""
        return f"{name} = await agent({self._prompt()})\nseen.append({name}){share}"

    def _lane(self, depth: int, nest: bool, name: str, parameters: str = "") -> str:
        body = self.block(depth + 1, may_nest=nest)
        last = "raise ValueError(len(seen))" if self._random.random() < 0.15 else "return seen"
        whole = indent(f"seen = []\n{body}\n{last}", "    ")
        return f"async def {name}({parameters}):\n{whole}"

    def _parallel(self, depth: int, nest: bool) -> str:
        names = [self._name() for _ in range(self._random.randint(1, 3))]
        lanes = "\n".join(self._lane(depth, nest, name) for name in names)
        return f"{lanes}\nseen.append(await parallel([{', '.join(names)}]))"

    def _gather(self, depth: int, nest: bool) -> str:
        names = [self._name() for _ in range(self._random.randint(1, 3))]
        lanes = "\n".join(self._lane(depth, nest, name) for name in names)
        calls = ", ".join(f"{name}()" for name in names)
        call = f"await asyncio.gather({calls}, return_exceptions=True)"
        return f"import asyncio\n{lanes}\nseen.append([str(x) for x in {call}])"

    def _eager(self, depth: int, nest: bool) -> str:
        prompts = [self._prompt() for _ in range(self._random.randint(2, 3))]
        calls = ", ".join(f"agent({prompt})" for prompt in prompts)
        return f"seen.append(await parallel([{calls}]))"

    def _pipeline(self, depth: int, nest: bool) -> str:
        first, second = self._name(), self._name()
        stages = self._lane(depth, nest, first, "item") + "\n"
        stages += self._lane(depth, nest, second, "before, item")
        stages = stages.replace("seen = []", "seen = [str(item)]")
        items = [self._name() for _ in range(self._random.randint(1, 3))]
        return f"{stages}\nseen.append(await pipeline({items!r}, {first}, {second}))"

    def _caught(self, depth: int, nest: bool) -> str:
        body = indent(self.block(depth + 1, may_nest=nest), "    ")
        return (
            f"try:\n{body}\n    if len(seen) % 2:\n        raise KeyError(len(seen))\n"
            "except KeyError as error:\n    seen.append(str(error))"
        )

    def _workflow(self, depth: int, nest: bool) -> str:
        name = self._name()
        body = self.block(depth + 1, may_nest=False)
        self.files[name] = f"shared = []\nseen = [args]\n{body}\nreturn seen"
        return f'seen.append(await workflow("{name}", len(seen)))'


def answer(prompt: str) -> str:
    """Return what the agents of these tests answer: it follows from the prompt alone."""
    return hashlib.sha256(prompt.encode()).hexdigest()[:5]
