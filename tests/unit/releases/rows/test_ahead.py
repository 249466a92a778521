"""A level is allowed if and only if all columns after it can be completed: against every combination."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.mutants import Mutant

from discreet.releases.rows import ahead
from discreet.releases.rows.ahead import Condition, levels_allowed, look_ahead

SIZES = (2, 3, 2, 3)
SCOPES = [scope for many in (1, 2, 3) for scope in combinations(range(4), many)]


@st.composite
def conditions(draw):
    scope = draw(st.sampled_from(SCOPES))
    shape = [SIZES[one] for one in scope]
    cells = int(np.prod(shape))
    return Condition(scope, np.array(draw(st.lists(st.booleans(), min_size=cells, max_size=cells))).reshape(shape))


def allowed(given_, cells):
    return all(one.allowed[tuple(cells[place] for place in one.scope)] for one in given_)


@settings(max_examples=60)
@given(st.lists(conditions(), min_size=1, max_size=4))
def test_levels_are_allowed_that_can_be_completed(some):
    found = look_ahead(SIZES, some)
    whole = [cells for cells in product(*map(range, SIZES)) if allowed(some, cells)]
    for place in range(4):
        begun = {cells[:place] for cells in whole}
        for start in begun:
            before = np.array([[*start, *[0] * (4 - place)]])
            levels = levels_allowed(found[place], place, SIZES[place], before)[0]
            possible = {cells[: place + 1] for cells in whole}
            assert levels.tolist() == [(*start, level) in possible for level in range(SIZES[place])]


def test_a_chain_of_rules_is_seen_from_its_beginning():
    """x < y < z < w of four levels leave x only 0: no rule about x alone or x and y says so."""
    below = np.arange(4)[:, None] < np.arange(4)
    found = look_ahead((4, 4, 4, 4), [Condition((place, place + 1), below) for place in range(3)])
    assert levels_allowed(found[0], 0, 4, np.zeros((1, 4), int)).tolist() == [[True, False, False, False]]


def test_without_what_is_left_of_conditions_it_does_not_look_ahead(monkeypatch):
    Mutant(ahead, "look_ahead", "if not left.all():", "if False:").plant(monkeypatch)
    below = np.arange(4)[:, None] < np.arange(4)
    found = ahead.look_ahead((4, 4, 4, 4), [Condition((place, place + 1), below) for place in range(3)])
    assert levels_allowed(found[0], 0, 4, np.zeros((1, 4), int)).all()
