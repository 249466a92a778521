"""Exact totals beside private statistics (semi-differential privacy). Nothing is implemented here yet.

This is the place for the description of invariants, the semi-adjacency parameter a(t) and sensitivity spaces. Until they
are here a `Session` refuses its `invariants` argument, a plan file its `[invariants]` table, and no total is published
exactly: what is not accounted for is not offered.
"""
