"""Noise meets values: integers that cannot overflow, whole or a part at a time."""

from __future__ import annotations

import numpy as np

from discreet.mechanisms.base import Integers, Noise
from discreet.noise.bits import Bits
from discreet.noise.single.laws import Law

__all__ = ["add", "add_noise", "apply_in_place"]


def add(values: Integers, noise: Integers) -> Integers:
    """`values` plus noise that was drawn before it met them, so that drawing cannot depend on one."""
    if values.dtype == np.int64 and len(noise) and int(np.abs(noise).max()) < 2**62:
        # Values are below 2**62 by the static bound of `queries`; both halves together fit.
        return np.asarray(values + noise)
    return np.asarray(values.astype(np.object_) + noise.astype(np.object_))


def add_noise(values: Integers, law: Law, bits: Bits) -> Integers:
    """`values` plus independent noise of `law` for every cell, empty or not."""
    return add(values, law.sample(len(values), bits))


def apply_in_place(noise: Noise, values: Integers, bits: Bits, *, chunk: int) -> Integers:
    """`noise.apply` of the same law for `chunk` cells at a time, in the memory of `values` wherever their type allows it.

    Noise that is alike everywhere has the same law however it is cut; any other is one draw.
    """
    if not noise.everywhere:
        return noise.apply(values, bits)
    for start in range(0, len(values), chunk):
        noisy = noise.apply(values[start : start + chunk], bits)
        if noisy.dtype != values.dtype:
            values = values.astype(np.object_)
        values[start : start + chunk] = noisy
    return values
