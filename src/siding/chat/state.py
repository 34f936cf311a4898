"""Where a conversation stands: a fold of its story."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from siding.agents.talking.port import How, Origin
from siding.chat.talk import Back, OpenAsk, Parked, Switching, Talk, Waiting
from siding.ground.storage.fields import mapping, text, whole, words

_NOTHING = Talk()  # before its first line


def folded(lines: Iterable[Mapping[str, Any]], before: Talk = _NOTHING) -> Talk:
    """Return where a conversation stands after these lines of its story."""
    for line in lines:
        before = after(before, line)
    return before


def after(talk: Talk, line: Mapping[str, Any]) -> Talk:
    """Return where a conversation stands after one more line. A line of a later version is none."""
    step = _STEPS.get(text(line.get("event")))
    talk = talk._replace(seq=max(talk.seq, whole(line.get("seq"))))
    if step is None:
        return talk
    now = step(talk, line)
    if talk.since and now.standing is talk.standing:
        return now
    return now._replace(since=text(line.get("at")) or talk.since)


def _without(all_: tuple[Waiting, ...], prompt: str) -> tuple[Waiting, ...]:
    return tuple(each for each in all_ if each.prompt != prompt)


def _began(talk: Talk, line: Mapping[str, Any]) -> Talk:
    return talk._replace(
        agent=text(line.get("agent")),
        program=words(line.get("program")),
        options=words(line.get("options")),
        model=text(line.get("model")),
        mode=text(line.get("mode")),
        effort=text(line.get("effort")),
    )


def _queued(talk: Talk, line: Mapping[str, Any]) -> Talk:
    prompt = text(line.get("prompt"))
    if any(each.prompt == prompt for each in (*talk.queue, *talk.steered, *talk.unsure)):
        return talk
    new = Waiting(
        prompt,
        text(line.get("text")),
        words(line.get("files")),
        steers=line.get("steers") is True,
        by=text(line.get("by")),
        remembers=line.get("remembers") is True,
    )
    title = talk.title or new.text.strip().partition("\n")[0][:80]
    return talk._replace(queue=(*talk.queue, new), title=title)


def _edited(talk: Talk, line: Mapping[str, Any]) -> Talk:
    queue = tuple(
        each._replace(text=text(line.get("text"))) if each.prompt == line.get("prompt") else each
        for each in talk.queue
    )
    return talk._replace(queue=queue)


def _moved(talk: Talk, line: Mapping[str, Any]) -> Talk:
    prompt, before = text(line.get("prompt")), text(line.get("before"))
    moved = talk.waiting(prompt)
    if moved is None or prompt == before:
        return talk
    rest = list(_without(talk.queue, prompt))
    place = next((n for n, each in enumerate(rest) if each.prompt == before), len(rest))
    return talk._replace(queue=(*rest[:place], moved, *rest[place:]))


def _dropped(talk: Talk, line: Mapping[str, Any]) -> Talk:
    prompt = text(line.get("prompt"))
    return talk._replace(queue=_without(talk.queue, prompt), unsure=_without(talk.unsure, prompt))


def _requeued(talk: Talk, line: Mapping[str, Any]) -> Talk:
    prompt = text(line.get("prompt"))
    known = filter(None, (talk.sent, *talk.steered, *talk.unsure))
    back = next((each for each in known if each.prompt == prompt), None)
    if back is None:
        return talk
    queue = (back._replace(steers=False, before=""), *talk.queue)
    return _not_sent(talk, prompt)._replace(queue=queue, unsure=_without(talk.unsure, prompt))


def _not_sent(talk: Talk, prompt: str) -> Talk:
    talk = talk._replace(steered=_without(talk.steered, prompt))
    if talk.sent is None or talk.sent.prompt != prompt:
        return talk
    return talk._replace(sent=None, is_taken=False, taken=talk.taken - talk.is_taken)


def _sending(talk: Talk, line: Mapping[str, Any]) -> Talk:
    prompt = text(line.get("prompt"))
    going = talk.waiting(prompt)
    if going is None:
        return talk
    talk = talk._replace(queue=_without(talk.queue, prompt))
    if line.get("steers") is True:
        return talk._replace(steered=(*talk.steered, going))
    return talk._replace(sent=going, is_taken=False, is_answered=False)


def _informed(talk: Talk, line: Mapping[str, Any]) -> Talk:
    if talk.sent is None or talk.sent.prompt != line.get("prompt"):
        return talk
    return talk._replace(sent=talk.sent._replace(before=text(line.get("text"))))


def _taken(talk: Talk, line: Mapping[str, Any]) -> Talk:
    prompt = text(line.get("prompt"))
    if any(each.prompt == prompt for each in talk.steered):
        return talk._replace(steered=_without(talk.steered, prompt), taken=talk.taken + 1)
    if talk.sent is not None and talk.sent.prompt == prompt and not talk.is_taken:
        if talk.is_told_with(talk.sent):
            talk = talk._replace(told_with=prompt, told_until=talk.untold, untold=0)
        return talk._replace(is_taken=True, taken=talk.taken + 1)
    if any(each.prompt == prompt for each in talk.unsure):
        return talk._replace(unsure=_without(talk.unsure, prompt), taken=talk.taken + 1)
    return talk


def _unsure(talk: Talk, line: Mapping[str, Any]) -> Talk:
    prompt = text(line.get("prompt"))
    known = filter(None, (talk.sent, *talk.steered))
    found = tuple(each for each in known if each.prompt == prompt)
    return _not_sent(talk, prompt)._replace(unsure=(*talk.unsure, *found))


def _turn_started(talk: Talk, line: Mapping[str, Any]) -> Talk:
    by_itself = line.get("origin") == Origin.ITSELF.value
    turns = talk.turns + 1
    talk = talk._replace(
        spent=talk.spent_in_all,
        input_tokens=0,
        output_tokens=0,
        cached_tokens=0,
        dollars=0.0,
    )
    talk = talk._replace(trouble="", trouble_kind="", how="", why="")
    return talk._replace(is_running=True, is_by_itself=by_itself, turns=turns)


def _turn_ended(talk: Talk, line: Mapping[str, Any]) -> Talk:
    how = text(line.get("how"))
    if how == How.DONE.value and talk.trouble_kind and not talk.until:
        talk = talk._replace(trouble="", trouble_kind="")  # it went on all the same
    # A prompt that was sent while the agent was at a turn of its own is still on its way.
    is_on_its_way = talk.is_by_itself and not talk.is_taken
    return talk._replace(
        back=None if talk.is_taken else talk.back,
        copied=_copied(talk) if talk.is_taken else talk.copied,
        sent=talk.sent if is_on_its_way else None,
        is_running=False,
        is_by_itself=False,
        is_stopping=False,
        asks=(),
        how=how,
        why=text(line.get("reason")),
    )


def _asked(talk: Talk, line: Mapping[str, Any]) -> Talk:
    new = OpenAsk(text(line.get("ask")), text(line.get("title")), said=dict(line))
    return talk._replace(asks=(*talk.asks, new), is_answered=True)


def _put(talk: Talk, line: Mapping[str, Any]) -> Talk:
    decision, may = text(line.get("decision")), text(line.get("may"))
    always = words(line.get("always"))
    asks = tuple(
        each._replace(decision=decision, always=always, may=may)
        if each.ask == line.get("ask")
        else each
        for each in talk.asks
    )
    return talk._replace(asks=asks)


def _answered(talk: Talk, line: Mapping[str, Any]) -> Talk:
    asked = next((each for each in talk.asks if each.ask == line.get("ask")), None)
    if asked is not None and line.get("allows") is True and line.get("always") is True:
        talk = talk._replace(always=(*talk.always, asked.title))
    return _ask_over(talk, line)


def _ask_over(talk: Talk, line: Mapping[str, Any]) -> Talk:
    return talk._replace(asks=tuple(each for each in talk.asks if each.ask != line.get("ask")))


def _hosted(talk: Talk, line: Mapping[str, Any]) -> Talk:
    return _gone(talk)._replace(
        run=text(line.get("run")),
        is_held_by_host=True,
        is_handed_over=False,
        trouble="",
        trouble_kind="",
        exit_code=0,
        is_wanted_end=False,
    )


def _opened(talk: Talk, line: Mapping[str, Any]) -> Talk:
    session = text(line.get("session")) or talk.session
    return talk._replace(
        session=session,
        is_open=True,
        model=text(line.get("model")) or talk.model,
        mode=text(line.get("mode")) or talk.mode,
    )


def _gone(talk: Talk) -> Talk:
    """Return where it stands without its agent's process, and what was in there."""
    return talk._replace(is_open=False, asks=(), background=(), always=())


def _ended(talk: Talk, line: Mapping[str, Any]) -> Talk:
    return _gone(talk)._replace(
        is_held_by_host=False,
        is_running=False,
        is_stopping=False,
        trouble=text(line.get("reason")) or talk.trouble,
        exit_code=whole(line.get("exit_code")),
        is_wanted_end=line.get("wanted") is True,
    )


def _troubled(talk: Talk, line: Mapping[str, Any]) -> Talk:
    return talk._replace(trouble=text(line.get("message")), trouble_kind=text(line.get("trouble")))


def _handed_over(talk: Talk, line: Mapping[str, Any]) -> Talk:
    at = text(line.get("at"))
    return _not_back(talk)._replace(is_handed_over=True, handed_over_at=at, trouble="")


def _handed_back(talk: Talk, line: Mapping[str, Any]) -> Talk:
    taken = talk.taken + whole(line.get("prompts"))
    session = text(line.get("session")) or talk.session
    return talk._replace(is_handed_over=False, session=session, taken=taken)


def _told(talk: Talk, line: Mapping[str, Any]) -> Talk:
    said = text(line.get("text")) if line.get("who") == "person" else ""
    return talk._replace(title=talk.title or said.strip().partition("\n")[0][:80])


def _switch_asked(talk: Talk, line: Mapping[str, Any]) -> Talk:
    wanted = Switching(
        text(line.get("agent")),
        words(line.get("program")),
        words(line.get("options")),
        text(line.get("model")),
        forced=line.get("forced") is True,
    )
    return talk._replace(switching=None if wanted.agent == talk.agent else wanted)


def _switched(talk: Talk, line: Mapping[str, Any]) -> Talk:
    seq, agent = whole(line.get("seq")), text(line.get("agent"))
    talk = _not_back(talk)
    # One that leaves before it was told anything knows what it knew.
    knows = talk.knows if talk.untold else seq
    left = Parked(knows=knows, **{n: getattr(talk, n) for n in Parked._fields[:-1]})
    back = talk.parked_of(agent) if line.get("session") else None
    return talk._replace(
        agent=agent,
        program=words(line.get("program")),
        options=words(line.get("options")),
        model=text(line.get("model")),
        mode=text(line.get("mode")),
        effort=text(line.get("effort")),
        session=text(line.get("session")),
        taken=0 if back is None else back.taken,
        knows=0 if back is None else back.knows,
        untold=seq,
        told_with="",
        told_until=0,
        context=0,
        switching=None,
        parked=(*(each for each in talk.parked if each.agent != talk.agent), left),
        trouble="",
    )


def _going_back(talk: Talk, line: Mapping[str, Any]) -> Talk:
    back = Back(
        text(line.get("session")),
        text(line.get("before")),
        text(line.get("about")),
        whole(line.get("forgets")),
        whole(line.get("recalls")),
        came_from=talk.kept_session,
    )
    return talk._replace(back=back, is_taken=False, untold=whole(line.get("untold")))


def _copied(talk: Talk) -> tuple[str, ...]:
    back = talk.back
    if back is None or not back.before:
        return talk.copied
    return (talk.session, back.session, back.before)


def _went_back(talk: Talk, _line: Mapping[str, Any]) -> Talk:
    back = talk.back
    # A conversation that goes on as it is is there already.
    is_there = back is None or not back.before
    return talk._replace(back=None if is_there or back is None else back._replace(is_said=True))


def _not_back(talk: Talk) -> Talk:
    """Return where it stands with the agent's conversation in which it was."""
    return talk._replace(session=talk.kept_session, back=None)


def _stays(talk: Talk, line: Mapping[str, Any]) -> Talk:
    stays = (text(line.get("session")), text(line.get("before")))
    return _not_back(talk)._replace(stays=stays)


def _applied(talk: Talk, line: Mapping[str, Any]) -> Talk:
    return talk._replace(
        model=text(line.get("model")) or talk.model,
        mode=text(line.get("mode")) or talk.mode,
        effort=text(line.get("effort")) or talk.effort,
    )


def _used(talk: Talk, line: Mapping[str, Any]) -> Talk:
    dollars = line.get("dollars")
    return talk._replace(
        input_tokens=whole(line.get("input")),
        output_tokens=whole(line.get("output")),
        cached_tokens=whole(line.get("cached")),
        context=whole(line.get("context")) or talk.context,
        window=whole(line.get("window")) or talk.window,
        dollars=float(dollars) if isinstance(dollars, int | float) else 0.0,
    )


_STEPS: Mapping[str, Callable[[Talk, Mapping[str, Any]], Talk]] = {
    **dict.fromkeys(
        ("text", "thought", "tool-started", "tool-output"),
        lambda talk, _line: talk if talk.is_answered else talk._replace(is_answered=True),
    ),
    "began": _began,
    "queued": _queued,
    "edited": _edited,
    "moved": _moved,
    "dropped": _dropped,
    "requeued": _requeued,
    "sending": _sending,
    "informed": _informed,
    "prompt-taken": _taken,
    "proven": _taken,
    "going-back": _going_back,
    "went-back": _went_back,
    "not-back": _stays,
    "unsure": _unsure,
    "turn-started": _turn_started,
    "turn-ended": _turn_ended,
    "asked": _asked,
    "put": _put,
    "answered": _answered,
    "ask-gone": _ask_over,
    "hosted": _hosted,
    "opened": _opened,
    "session-changed": lambda talk, line: talk._replace(session=text(line.get("session"))),
    "ended": _ended,
    "sandbox-asked": lambda talk, line: talk._replace(sandbox=mapping(line.get("sandbox"))),
    "in-background": lambda talk, line: talk._replace(background=words(line.get("running"))),
    "handed-over": _handed_over,
    "screen-opened": lambda talk, line: talk._replace(run=text(line.get("run"))),
    "handed-back": _handed_back,
    "hold-kept": lambda talk, _line: talk._replace(switching=None, kept=talk.kept + 1),
    "told": _told,
    "took": lambda talk, line: talk._replace(session=text(line.get("session"))),
    "switch-asked": _switch_asked,
    "switched": _switched,
    "applied": _applied,
    "settings-asked": lambda talk, line: _applied(talk, line) if line.get("is_kept") else talk,
    "used": _used,
    "stop-asked": lambda talk, _line: talk._replace(is_stopping=talk.is_running),
    "held": lambda talk, line: talk._replace(is_paused=True, until=text(line.get("until"))),
    "went-on": lambda talk, _line: talk._replace(
        is_paused=False, until="", trouble="", trouble_kind=""
    ),
    "troubled": _troubled,
}
