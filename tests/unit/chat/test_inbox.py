"""What other threads have a host's loop do, and what it does by the clock."""

import threading
from functools import partial

from siding.chat.alarms import Alarms
from siding.chat.inbox import Inbox


def test_who_prints_much_waits_for_the_loop_and_no_longer() -> None:
    inbox = Inbox()
    done: list[int] = []
    mebibyte = 1 << 20

    def print_much() -> None:
        for number in range(5):
            inbox.put(partial(done.append, number), size=mebibyte)

    prints = threading.Thread(target=print_much)
    prints.start()
    inbox.wait((), 60_000)
    prints.join(0.1)
    assert prints.is_alive()  # one piece is there, and the next one waits
    inbox.put(lambda: done.append(-1))  # what has no size never waits
    for work in inbox.take():
        work()
    while prints.is_alive():
        inbox.wait((), 60_000)
        for work in inbox.take():
            work()
    assert [each for each in done if each >= 0] == [0, 1, 2, 3, 4]
    assert -1 in done
    inbox.close()


def test_nobody_waits_for_a_loop_that_waits_for_them() -> None:
    inbox = Inbox()

    def print_much() -> None:
        for _ in range(4):
            inbox.put(lambda: None, size=1 << 20)

    prints = threading.Thread(target=print_much)
    prints.start()
    with inbox.passing():
        prints.join(60)
    assert not prints.is_alive()
    assert len(list(inbox.take())) == 4
    again = threading.Thread(target=print_much)
    again.start()
    inbox.let_pass()
    again.join(60)
    assert not again.is_alive()
    inbox.close()
    inbox.put(lambda: None)  # a thread that is late hurts nobody


def test_each_alarm_rings_once_when_it_is_due() -> None:
    now, rung = [0.0], []
    alarms = Alarms(lambda: now[0])

    def next_ms() -> float | None:
        return alarms.next_ms

    assert next_ms() is None
    alarms.set("late", 5.0, lambda: rung.append("late"))
    alarms.set("soon", 1.0, lambda: rung.append("soon"))
    alarms.set("never", 2.0, lambda: rung.append("never"))
    alarms.clear("never")
    now[0] = 0.5
    alarms.ring()
    assert rung == []
    assert next_ms() == 501.0
    now[0] = 9.0
    alarms.set("late", 5.0, lambda: rung.append("moved"))
    alarms.ring()
    assert rung == ["soon"]
    now[0] = 14.0
    alarms.ring()
    alarms.ring()
    assert rung == ["soon", "moved"]
    assert next_ms() is None
