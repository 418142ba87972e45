"""Writing beside the asking: in order, bounded, and a failure stops all."""

from threading import Event, Thread

import pytest
from aspectrag.optimizers.evaluation.writing import writer


def test_all_is_written_in_order_when_the_block_ends():
    written = []
    with writer(room=3) as own:
        for number in range(50):
            own.put(lambda number=number: written.append(number))
    assert written == list(range(50))


def put_all(*writes, then=None):
    with writer(room=3) as own:
        for write in writes:
            own.put(write)
        if then is not None:
            raise then


def fail():
    raise OSError("No space left on device")


def test_what_was_handed_over_is_written_when_the_block_is_left_by_an_error():
    written = []
    with pytest.raises(KeyboardInterrupt):
        put_all(lambda: written.append(1), then=KeyboardInterrupt())
    assert written == [1]


def test_a_failure_is_raised_and_nothing_is_written_after_it():
    written = []
    with pytest.raises(OSError, match="No space"):
        put_all(fail, lambda: written.append(1), lambda: written.append(2))
    assert written == []


def test_a_failure_of_the_last_is_raised_too():
    with pytest.raises(OSError, match="No space"):
        put_all(fail)


def test_whoever_brings_more_than_there_is_room_for_waits():
    go, third = Event(), Event()

    def bring():
        for _ in range(2):
            own.put(go.wait)
        own.put(third.set)

    with writer(room=2) as own:
        bringing = Thread(target=bring)
        bringing.start()
        bringing.join(0.05)
        assert bringing.is_alive()
        go.set()
        bringing.join(10)
        assert not bringing.is_alive()
    assert third.is_set()
