"""The stream of random bits: exact uniforms, fork, threads, spawn, and an operating system without entropy."""

import copy
import multiprocessing
import os
import pickle
import threading
import warnings

import numpy as np
import pytest

from discreet.errors import ArgumentError
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
