"""The stream of random bits: exact uniforms, fork, threads, spawn, and an operating system without entropy."""

import copy
import ctypes
import mmap
import multiprocessing
import os
import pickle
import threading
import warnings
from collections.abc import Callable

import numpy as np
import pytest

from discreet.errors import ArgumentError
from discreet.exact import processes
from discreet.noise.bits import Bits, system_bits


def forced(data: bytes) -> Bits:
    """A stream that gives `data` and then nothing."""
    rest = bytearray(data)

    def read(count: int) -> bytes:
        part = bytes(rest[:count])
        del rest[:count]
        return part

    return Bits(read)


def fork() -> int:
    """A fork without the warning that other tests' threads may not survive it: the child only reads and leaves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def test_words_are_the_source_in_little_endian_order() -> None:
    words = forced(bytes(range(16))).words(2)
    assert words.dtype == np.uint64
    assert words.tolist() == [0x0706050403020100, 0x0F0E0D0C0B0A0908]


def test_below_is_exactly_uniform_over_all_one_byte_sources() -> None:
    # Bound 5 takes 3 bits of a byte: 160 of the 256 bytes are accepted at once, 32 for each value.
    counts = [0] * 5
    for byte in range(256):
        try:
            counts[forced(bytes([byte])).below(5)] += 1
        except OSError:
            continue  # rejected: the draw wants another byte
    assert counts == [32] * 5


def test_below_array_is_exactly_uniform_over_all_leading_bytes() -> None:
    counts = np.zeros(5, dtype=int)
    for byte in range(256):
        try:
            counts[forced(bytes(7) + bytes([byte])).below_array(5, 1)[0]] += 1
        except OSError:
            continue
    assert counts.tolist() == [32] * 5


@pytest.mark.parametrize("bound", [1, 2, 3, 2**62 + 1, 2**63])
def test_below_array_stays_in_range(bound: int) -> None:
    drawn = system_bits().below_array(bound, 1000)
    assert drawn.dtype == np.int64
    assert drawn.min() >= 0
    assert int(drawn.max()) < bound


@pytest.mark.parametrize("bound", [1, 2, 255, 256, 257, 10**40])
def test_below_stays_in_range(bound: int) -> None:
    bits = system_bits()
    assert all(0 <= bits.below(bound) < bound for _ in range(200))


@pytest.mark.parametrize("bound", [0, -1])
def test_an_empty_range_is_refused(bound: int) -> None:
    with pytest.raises(ArgumentError, match="bound"):
        system_bits().below(bound)
    with pytest.raises(ArgumentError, match="bound"):
        system_bits().below_array(bound, 3)


def test_a_source_that_gives_too_little_raises_and_nothing_is_made_up() -> None:
    with pytest.raises(OSError, match="instead of"):
        forced(bytes(7)).words(1)


@pytest.mark.parametrize("given", [0, 47, 49])
def test_a_short_operating_system_source_raises_before_any_bit(monkeypatch: pytest.MonkeyPatch, given: int) -> None:
    monkeypatch.setattr(os, "urandom", lambda _count: bytes(given))
    with pytest.raises(OSError, match="operating system"):
        system_bits()


def test_a_failing_operating_system_source_raises_before_any_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_count: int) -> bytes:
        raise OSError("no entropy")

    monkeypatch.setattr(os, "urandom", fail)
    with pytest.raises(OSError, match="no entropy"):
        system_bits()


def test_the_stream_is_aes_256_ctr_and_rekeys_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    monkeypatch.setattr(os, "urandom", lambda count: bytes(range(count)))
    drawn = system_bits().read((1 << 20) + 64)
    seed = bytes(range(48))
    first = Cipher(algorithms.AES256(seed[:32]), modes.CTR(seed[32:])).encryptor().update(bytes((1 << 20) + 48))
    assert drawn[: 1 << 20] == first[: 1 << 20]
    again = first[1 << 20 :]  # the next 48 bytes of the old key are the new key and are never given out
    second = Cipher(algorithms.AES256(again[:32]), modes.CTR(again[32:])).encryptor().update(bytes(64))
    assert drawn[1 << 20 :] == second


def test_one_read_equals_many_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", bytes)
    size = (1 << 20) + 1000
    whole, bits = system_bits().read(size), system_bits()
    assert b"".join(bits.read(min(777, size - done)) for done in range(0, size, 777)) == whole


def test_streams_are_unrelated() -> None:
    assert system_bits().read(32) != system_bits().read(32)


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_stream_cannot_be_duplicated(duplicate: object) -> None:
    with pytest.raises(TypeError, match="repeat"):
        duplicate(system_bits())  # type: ignore[operator]


def test_a_forked_child_draws_other_bits() -> None:
    bits = system_bits()
    bits.read(8)
    receiving, sending = os.pipe()
    child = fork()
    if child == 0:  # pragma: no cover - measured in the parent
        os.write(sending, bits.read(32))
        os._exit(0)
    os.waitpid(child, 0)
    theirs, mine = os.read(receiving, 32), bits.read(32)
    os.close(receiving)
    os.close(sending)
    assert len(theirs) == 32
    assert theirs != mine


def drawn_in_child(bits: Bits, fork: Callable[[], int], then: Callable[[], bytes] | None = None) -> bytes:
    """What a child reads from a stream that its parent has drawn from, or what `then` gives in the child."""
    receiving, sending = os.pipe()
    child = fork()
    if child == 0:  # pragma: no cover - measured in the parent
        try:
            os.write(sending, bits.read(32) if then is None else then())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(sending)
    with os.fdopen(receiving, "rb") as pipe:
        return pipe.read()


def fork_outside_python() -> int:
    """As another library forks: the functions of os.register_at_fork are not called."""
    return int(ctypes.PyDLL(None).fork())


def kernel_clears_pages() -> bool:
    page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    try:
        page.madvise(18)
    except OSError:
        return False
    return True


@pytest.fixture
def ids_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every process has the ids that the first one had."""
    monkeypatch.setattr(os, "getpid", lambda: 4711)
    monkeypatch.setattr(os, "getppid", lambda: 1)


@pytest.mark.usefixtures("ids_used_again")
def test_a_child_that_has_the_ids_of_its_parent_draws_other_bits() -> None:
    bits = system_bits()
    bits.read(8)
    theirs = drawn_in_child(bits, fork)
    assert len(theirs) == 32
    assert theirs != bits.read(32)


@pytest.mark.usefixtures("ids_used_again")
def test_a_grandchild_that_has_the_ids_of_all_its_ancestors_draws_other_bits() -> None:
    bits = system_bits()
    bits.read(8)

    def child() -> bytes:
        theirs = drawn_in_child(bits, fork)  # before and after the child draws: with its page cleared, and with a new mark
        return theirs + bits.read(32) + drawn_in_child(bits, fork)

    drawn = drawn_in_child(bits, fork, child) + bits.read(32)
    assert len(drawn) == 4 * 32
    assert len({drawn[start : start + 32] for start in range(0, 4 * 32, 32)}) == 4


@pytest.mark.usefixtures("ids_used_again")
@pytest.mark.skipif(not kernel_clears_pages(), reason="this kernel does not clear memory in children")
def test_a_child_that_was_forked_outside_python_draws_other_bits() -> None:
    bits = system_bits()
    bits.read(8)
    theirs = drawn_in_child(bits, fork_outside_python)
    assert len(theirs) == 32
    assert theirs != bits.read(32)


def test_a_child_is_told_by_its_ids_where_nothing_clears_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_PAGE", bytearray(b"\1" + bytes(4095)))
    bits = system_bits()
    bits.read(8)
    theirs = drawn_in_child(bits, fork_outside_python)
    assert len(theirs) == 32
    assert theirs != bits.read(32)


@pytest.mark.usefixtures("ids_used_again")
def test_python_clears_the_mark_of_a_child_where_the_kernel_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_PAGE", bytearray(b"\1" + bytes(4095)))
    bits = system_bits()
    bits.read(8)
    theirs = drawn_in_child(bits, fork)
    assert len(theirs) == 32
    assert theirs != bits.read(32)


@pytest.mark.usefixtures("ids_used_again")
def test_a_fork_in_the_middle_of_a_read_leaves_the_child_nothing_of_it() -> None:
    bits = system_bits()
    keyed = bits._read.__self__._keyed  # type: ignore[attr-defined]

    class Forking:
        """The cipher, except that a handler of a signal forks after the first block."""

        child: int | None = None

        def __init__(self, stream: object) -> None:
            self.stream = stream

        def update_into(self, *arguments: object) -> object:
            return self.stream.update_into(*arguments)  # type: ignore[attr-defined]

        def update(self, *arguments: object) -> object:
            if Forking.child is None:
                Forking.child = fork()
            return self.stream.update(*arguments)  # type: ignore[attr-defined]

    receiving, sending = os.pipe()
    keyed._stream = Forking(keyed._stream)
    drawn = bits.read(64)
    if Forking.child == 0:  # pragma: no cover - measured in the parent
        os.write(sending, drawn)
        os._exit(0)
    assert Forking.child is not None
    os.waitpid(Forking.child, 0)
    os.close(sending)
    with os.fdopen(receiving, "rb") as pipe:
        theirs = pipe.read()
    assert len(theirs) == 64
    assert not {theirs[:32], theirs[32:]} & {drawn[:32], drawn[32:]}


def test_the_mark_of_a_process_stays_and_needs_random_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert processes.this_process() == processes.this_process()
    monkeypatch.setattr(processes, "_PAGE", bytearray(4096))
    monkeypatch.setattr(os, "urandom", lambda _count: b"few")
    with pytest.raises(OSError, match="operating system"):
        processes.this_process()


def draw_into(bits: Bits, sending: object) -> None:
    sending.send_bytes(bits.read(32))  # type: ignore[attr-defined]


@pytest.mark.usefixtures("ids_used_again")
def test_children_of_multiprocessing_draw_other_bits() -> None:
    bits, context = system_bits(), multiprocessing.get_context("fork")
    bits.read(8)
    drawn = []
    for _ in range(2):
        receiving, sending = context.Pipe(duplex=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            process = context.Process(target=draw_into, args=(bits, sending))
            process.start()
        drawn.append(receiving.recv_bytes())
        process.join()
    assert len({*drawn, bits.read(32)}) == 3


def test_a_forked_child_never_waits_for_a_lock_of_its_parent() -> None:
    bits = system_bits()
    lock = bits._read.__self__._keyed._lock  # type: ignore[attr-defined]
    with lock:
        child = fork()
        if child == 0:  # pragma: no cover
            os._exit(0 if len(bits.read(16)) == 16 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_threads_never_share_bits() -> None:
    bits = system_bits()
    drawn: list[bytes] = []

    def work() -> None:
        mine = [bits.read(16) for _ in range(2000)]
        drawn.extend(mine)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drawn)) == 8000


def draw_in_child(queue: object) -> None:
    queue.put(system_bits().read(32))  # type: ignore[attr-defined]


def test_a_spawned_process_cannot_be_handed_a_stream_and_draws_its_own() -> None:
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=print, args=(system_bits(),))
    with pytest.raises(TypeError, match="repeat"):
        process.start()
