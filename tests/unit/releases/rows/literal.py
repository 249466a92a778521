"""The scheme "rows 2" as its page says it: everything is counted anew for each draw, in integers of Python.

Only the raw words of the generator are those of NumPy. The start, draws and exchanges are written down a second time, for
targets without rules; what rules do is in the tests of facts.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from hashlib import sha256
from itertools import pairwise

from numpy.random import Philox

STAGES = [
    (Fraction(1, 10), 50, 2),
    (Fraction(1, 2), 100, 2),
    (Fraction(3), 250, 2),
    (Fraction(10), 1000, 2),
    (Fraction(40), 4000, 2),
    (Fraction(40), 20000, 1),
]


class Words:
    """Draws of 32 bits, and orders."""

    def __init__(self, digest):
        key = sha256(f"rows 2 {digest}".encode()).digest()[:16]
        self.source = Philox(key=int.from_bytes(key, "little"), counter=0)

    def raw(self, many):
        return [int(one) for one in self.source.random_raw(many)] if many else []

    def draw(self, many):
        return [one >> 32 for one in self.raw(many)]

    def order(self, things):
        words = self.raw(len(things))
        return [things[place] for place in sorted(range(len(things)), key=words.__getitem__)]


def choose(weights, word):
    """The value that a draw chooses: how many cumulated weights are at most its part of the last one."""
    limit, total, found = word * sum(weights) >> 32, 0, 0
    for weight in weights:
        total += weight
        found += total <= limit
    return found


@cache
def weight_of(step):
    with localcontext() as context:
        context.prec = 60
        return int((Decimal(-step) / 512).exp() * 2**24)


def weights_of(costs, beta, unit):
    factor = max(1, round(2**20 * 512 * beta * unit / 64))
    narrow = max(0, len(costs).bit_length() - 7)
    return [weight_of(min((cost - min(costs)) * factor >> 20, 8704)) >> narrow for cost in costs]


def chunks(things, many):
    ends = [len(things) * place // many for place in range(many + 1)]
    return [things[low:high] for low, high in pairwise(ends) if high > low]


class Rows:
    """Rows of levels on all axes, each standing for some."""

    def __init__(self, targets, digest):
        self.targets, self.words = targets, Words(digest)
        self.rows, self.each = [], []
        self.start()

    # The start ------------------------------------------------------------------------------------------------------

    def start(self):
        targets, words = self.targets, self.words
        rows = [{} for _ in range(targets.rows)]
        left = list(targets.lists)
        while left:
            known = {self.root(axis).name for axis in rows[0]}
            one = max(
                left,
                key=lambda some: (
                    sum(self.root(axis).name in known for axis in some.axes),
                    some.counts.size,
                    -targets.lists.index(some),
                ),
            )
            left.remove(one)
            self.match(rows, one)
        if targets.each > 1:
            rows = self.bundle(rows)
        else:
            self.each = [1] * len(rows)
        for root in targets.roots:
            if not rows or root.axes[0] in rows[0]:
                continue
            alone = shares(root.alone.tolist())
            held = [axis for axis in root.axes if axis in rows[0]]
            for row, word in zip(rows, words.draw(len(rows)), strict=True):
                inside = [all(self.code(root, level, axis) == row[axis] for axis in held) for level in range(root.levels)]
                weights = [weight * there for weight, there in zip(alone, inside, strict=True)]
                level = choose(weights if any(weights) else [int(there) for there in inside], word)
                row |= {axis: self.code(root, level, axis) for axis in root.axes}
        self.rows = [[row[axis] for axis in range(len(targets.sizes))] for row in rows]

    def match(self, rows, one):
        cells = [
            divided(cell, one.counts.shape) for cell, many in enumerate(one.counts.ravel().tolist()) for _ in range(many)
        ]
        cells = self.words.order(cells)
        axes = [(place, axis, other) for place, axis in enumerate(one.axes) for other in self.common(axis, rows[0])]
        mine = {id(row): tuple(row[other] for _, _, other in axes) for row in rows}
        theirs = [tuple(self.within(axis, cell[place], other) for place, axis, other in axes) for cell in cells]
        ordered = sorted(self.words.order(rows), key=lambda row: mine[id(row)])
        turned = sorted(range(len(cells)), key=theirs.__getitem__)
        for row, place in zip(ordered, turned, strict=True):
            row |= dict(zip(one.axes, cells[place], strict=True))
        for axis in one.axes:
            root = self.root(axis)
            for row in rows:
                levels = [
                    level
                    for level in range(root.levels)
                    if all(self.code(root, level, a) == row[a] for a in root.axes if a in row)
                ]
                found = {other: {self.code(root, level, other) for level in levels} for other in root.axes}
                row |= {
                    other: codes.pop()
                    for other, codes in found.items()
                    if len(codes) == 1 and self.follows(root, other, row)
                }

    def follows(self, root, axis, row):
        """Whether the axis follows from those that the row has, whatever their levels."""
        told = {}
        for level in range(root.levels):
            told.setdefault(tuple(self.code(root, level, a) for a in root.axes if a in row), set()).add(
                self.code(root, level, axis)
            )
        return all(len(one) == 1 for one in told.values())

    def common(self, axis, row):
        return [axis] if axis in row else sorted(a for a in self.root(axis).axes if a in row)

    def within(self, axis, level, other):
        root = self.root(axis)
        return next(self.code(root, one, other) for one in range(root.levels) if self.code(root, one, axis) == level)

    def bundle(self, rows):
        found = []
        alike = {}
        for row in rows:
            alike.setdefault(tuple(row.values()), []).append(row)
        for key in sorted(alike):
            pairs = -(-len(alike[key]) // (1 + self.targets.each))
            rest = len(alike[key]) - pairs
            sizes = [rest // pairs + (place < rest % pairs) for place in range(pairs)] + [1] * pairs
            found += [(dict(alike[key][0]), size) for size in sizes if size]
        found = self.words.order(found)
        self.each = [each for _, each in found]
        return [row for row, _ in found]

    # Draws and exchanges --------------------------------------------------------------------------------------------

    def root(self, axis):
        return next(root for root in self.targets.roots if axis in root.axes)

    @staticmethod
    def code(root, level, axis):
        return int(root.codes[level, root.axes.index(axis)])

    def with_level(self, row, root, level):
        found = list(row)
        for axis in root.axes:
            found[axis] = self.code(root, level, axis)
        return found

    def error(self, rows, table, row):
        cell = [row[axis] for axis in table.axes]
        there = sum(
            each for other, each in zip(rows, self.each, strict=True) if [other[axis] for axis in table.axes] == cell
        )
        return 64 * there - int(table.counts[tuple(cell)]), int(table.weights[tuple(cell)])

    def tables(self, root):
        return [one for one in self.targets.tables if one.weights.any() and set(one.axes) & set(root.axes)]

    def held(self, root):
        return [axis for axis in root.axes if any(axis in one.axes for one in self.targets.lists)]

    def moving(self):
        drawn, bound = [], []
        for root in self.targets.roots:
            classes = {tuple(self.code(root, level, axis) for axis in self.held(root)) for level in range(root.levels)}
            wide = 2 * self.targets.rows // (1 + self.targets.each) * root.levels > 2**27
            if root.levels > 1 and (wide or len(classes) > 1):
                bound.append(root)
            if self.tables(root) and root.levels > len(classes) and not wide:
                drawn.append(root)
        held = {axis for root in bound for axis in self.held(root)}
        swapped = []
        for root in bound:
            beside = {axis for one in self.targets.lists if set(root.axes) & set(one.axes) for axis in one.axes}
            if self.tables(root) and held - beside - set(root.axes):
                swapped.append((root, sorted(beside - set(root.axes))))
        return drawn, swapped

    def sweep(self, beta, many):
        drawn, swapped = self.moving()
        if drawn:
            for chunk in chunks(self.words.order(range(len(self.rows))), many):
                for root in drawn:
                    self.draw(root, chunk, beta)
        for _ in range(2):
            for root, partners in swapped:
                for pairs in chunks(self.pairs(partners), many):
                    self.exchange(root, pairs, beta)

    def draw(self, root, chunk, beta):
        before, words = [list(row) for row in self.rows], self.words.draw(len(chunk))
        for place, word in zip(chunk, words, strict=True):
            row, costs = before[place], []
            for level in range(root.levels):
                other = self.with_level(row, root, level)
                cost = 0
                for table in self.tables(root):
                    error, weight = self.error(before, table, other)
                    own = 64 * self.each[place] * ([other[a] for a in table.axes] == [row[a] for a in table.axes])
                    cost += weight * (error - own + 32 * self.each[place])
                if [other[axis] for axis in self.held(root)] != [row[axis] for axis in self.held(root)]:
                    cost += 8 * 2**58
                costs.append(cost)
            level = choose(weights_of(costs, beta, self.targets.unit * self.each[place]), word)
            self.rows[place] = self.with_level(row, root, level)

    def pairs(self, partners):
        order = self.words.order(range(len(self.rows)))
        order = sorted(order, key=lambda place: (self.each[place], [self.rows[place][axis] for axis in partners]))
        alike = {}
        for place in order:
            alike.setdefault((self.each[place], *(self.rows[place][axis] for axis in partners)), []).append(place)
        found = [tuple(one[at : at + 2]) for one in alike.values() for at in range(0, len(one) - 1, 2)]
        return self.words.order(found)

    def exchange(self, root, pairs, beta):
        before, words = [list(row) for row in self.rows], self.words.draw(len(pairs))
        for (first, second), word in zip(pairs, words, strict=True):
            one, two, cost = before[first], before[second], 0
            level = [row[root.axes[0]] for row in (one, two)]
            turned = self.with_level(one, root, level[1]), self.with_level(two, root, level[0])
            for table in self.tables(root):
                cells = [[row[axis] for axis in table.axes] for row in (one, two, *turned)]
                beside = [[row[axis] for axis in table.axes if axis not in root.axes] for row in (one, two)]
                if cells[0] == cells[2] or beside[0] == beside[1]:
                    continue
                for row, sign in ((one, -1), (two, -1), (turned[0], 1), (turned[1], 1)):
                    error, weight = self.error(before, table, row)
                    cost += sign * weight * (error + sign * 32 * self.each[first])
            if choose(weights_of([0, cost], beta, self.targets.unit * self.each[first]), word):
                self.rows[first], self.rows[second] = turned


def shares(alone):
    above = [max(one, 0) for one in alone]
    if not any(above):
        return [1] * len(above)
    scale = max(1, -(-max(above) * len(above) // 2**24))
    return [one // scale for one in above] if any(one // scale for one in above) else [int(one > 0) for one in above]


def divided(cell, shape):
    found = []
    for size in reversed(shape):
        cell, level = divmod(cell, size)
        found.insert(0, level)
    return found


def rows_of(targets, digest, stages=None):
    """The levels of all rows on all axes, and how many each stands for."""
    made = Rows(targets, digest)
    for beta, many, times in stages or STAGES:
        for _ in range(times):
            made.sweep(beta, many)
    return made.rows, made.each
