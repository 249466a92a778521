"""A path is a table of what becomes of a value: compared with walking the steps one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

import discreet as dp
from discreet.cube.value_paths import KeyAxis, axis_law, axis_size, path_of
from discreet.domain.codes import NULL
from discreet.domain.imputation import law_weights
from discreet.domain.steps import Clamp, ClampCategories, Impute, facts_of

SCHEMA = dp.Schema(c=dp.Category(["p", "q", "r"]), n=dp.Number(0, 6))
START = facts_of(SCHEMA, dp.AddRemove())

category_steps = st.lists(
    st.one_of(
        st.builds(ClampCategories, st.just("c"), st.sets(st.integers(0, 2), min_size=1).map(lambda s: tuple(sorted(s)))),
        st.lists(st.integers(0, 3), min_size=3, max_size=3)
        .filter(any)
        .map(lambda w: Impute("c", dp.Weights(dict(zip("pqr", w, strict=True))))),
    ),
    max_size=5,
)
number_steps = st.lists(
    st.one_of(
        st.tuples(st.integers(0, 6), st.integers(0, 6)).map(lambda b: Clamp("n", min(b), max(b))),
        st.just(Impute("n", dp.Uniform())),
    ),
    max_size=5,
)


def walk(value, steps, low=0, high=6):
    """The exact law of the final code (None is null) of one value, step by step."""
    law = {value: Fraction(1)}
    for step in steps:
        after: dict = {}

        def add(code, weight, into=after):
            into[code] = into.get(code, Fraction(0)) + weight

        for code, weight in law.items():
            if isinstance(step, ClampCategories):
                add(code if code in step.kept else None, weight)
            elif isinstance(step, Clamp):
                add(None if code is None else min(max(code, step.low), step.high), weight)
            elif code is not None:
                add(code, weight)
            else:
                column = SCHEMA[step.column]
                weights = (
                    law_weights(step.law, column, low, high) if step.column == "n" else law_weights(step.law, column, 0, 2)
                )
                for position, share in enumerate(weights):
                    add(position + (low if step.column == "n" else 0), weight * Fraction(int(share), int(weights.sum())))
        if isinstance(step, Clamp):
            low, high = (min(max(bound, step.low), step.high) for bound in (low, high))
        law = {code: weight for code, weight in after.items() if weight}
    return law


def law_of_path(path, value):
    if path.name == "c":
        target = path.null_target if value is None else path.targets[value]
    else:
        target = path.null_target if value is None else min(max(value, path.low), path.high)
    if target == NULL:
        return {None: Fraction(1)}
    if target >= 0:
        return {target: Fraction(1)}
    labels, weights = axis_law(KeyAxis(path), -2 - target)
    total = int(weights.sum())
    shares = zip(labels, weights, strict=True)
    return {(None if label == NULL else int(label)): Fraction(int(weight), total) for label, weight in shares}


@given(category_steps)
@example([Impute("c", dp.Weights({"p": 1, "q": 1})), ClampCategories("c", (0,)), Impute("c", dp.Weights({"r": 1}))])
@example([ClampCategories("c", (0,)), Impute("c", dp.Weights({"q": 1})), ClampCategories("c", (0,))])
def test_category_paths_equal_walking_the_steps(steps):
    path = path_of("c", tuple(steps), START)
    for value in (None, 0, 1, 2):
        assert law_of_path(path, value) == walk(value, steps)
    reachable = {code for value in (None, 0, 1, 2) for code in walk(value, steps)}
    assert axis_size(KeyAxis(path)) == len(reachable)


@given(number_steps)
@example([Clamp("n", 0, 3), Clamp("n", 5, 6)])
@example([Clamp("n", 1, 5), Impute("n", dp.Uniform()), Clamp("n", 2, 3)])
def test_number_paths_equal_walking_the_steps(steps):
    path = path_of("n", tuple(steps), START)
    for value in (None, *range(7)):
        assert law_of_path(path, value) == walk(value, steps)


@given(number_steps, st.sets(st.integers(0, 7), max_size=4))
def test_coarse_axes_carry_the_law_of_their_labels(steps, cuts):
    path = path_of("n", (*steps, Impute("n", dp.Uniform())), START)
    ordered = tuple(sorted(cuts))
    labels, weights = axis_law(KeyAxis(path, ordered), 0)
    fine, fine_weights = axis_law(KeyAxis(path), 0)
    for label in np.unique(np.searchsorted(np.array(ordered), fine, side="right")):
        mass = sum(int(w) for f, w in zip(fine, fine_weights, strict=True) if sum(c <= f for c in ordered) == label)
        assert int(weights[labels == label].sum()) == mass
    assert int(weights.sum()) == int(fine_weights.sum())
