"""The working precision of interval arithmetic, set for one computation and put back. The only file that sets it.

python-flint keeps one precision for the whole process: every operation of every thread reads it when it starts. An
enclosure is true at any precision, so no other thread can make a number wrong; it could make one looser, or one that is
remembered. So computations take turns, and one that somebody else disturbed is repeated.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["ORDINARY_BITS", "with_precision", "working_bits"]

ORDINARY_BITS = 53  # what python-flint begins with: for what rounds an enclosure that is done, whatever the caller has set

_TRIES = 100
_T = TypeVar("_T")

# Held during a computation, whose closures may begin others. A fork waits for it: no child is born between set and restore.
_GATE = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_GATE.acquire, after_in_parent=_GATE.release, after_in_child=_GATE.release)


def with_precision(bits: int, compute: Callable[[], _T]) -> _T:
    """The result of `compute()` when each of its operations has `bits` bits; the precision is then what it was.

    It may be called more than once, and so must do nothing but compute. Where other threads disturb each of a hundred
    tries, the last result stands: it is as true as the others, and perhaps less tight.
    """
    from flint import ctx

    with _GATE:
        found = mine = _state(ctx)
        try:
            for _ in range(_TRIES):
                mine = _set(ctx, bits)
                value = compute()
                if _state(ctx) == mine:
                    break
                found = _state(ctx)  # of whoever disturbed: to be put back in the place of what was there before
        finally:
            if _state(ctx) == mine:
                _restore(ctx, found)
        return value


def working_bits() -> int:
    """The bits that an operation has which begins now."""
    from flint import ctx

    return int(ctx.prec)


_State = tuple[int, int]


def _state(ctx: Any) -> _State:
    return ctx.prec, ctx.dps


def _set(ctx: Any, bits: int) -> _State:
    """The precision is `bits`, with one digit more than belongs to it.

    Whoever sets a precision, be it to the same number and back, sets the right number of digits: so no change goes unseen.
    """
    ctx.prec = bits
    _restore(ctx, (bits, ctx.dps + 1))
    return _state(ctx)


def _restore(ctx: Any, state: _State) -> None:
    ctx.prec = state[0]
    if hasattr(ctx, "_dps"):  # of python-flint 0.8 and 0.9; without it a change that was undone is not noticed
        ctx._dps = state[1]  # noqa: SLF001
