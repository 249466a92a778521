"""What the ρ = 0.213 of the 2020 census means alongside the exact populations of the states, of DC and of Puerto Rico.

No data are read. With exact totals a person cannot move to another state alone: somebody has to move the other way. So
the guarantee compares tables that differ in two rows, and noise that was made for one row protects them less.
"""

import polars as pl

import discreet as dp

STATES = """AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR
PA RI SC SD TN TX UT VT VA WA WV WI WY PR"""
PERSONS = 334_735_155  # the populations of 2020, which are public
ADVERTISED, DELTA = dp.ZCDP("0.213"), "1e-10"

schema = dp.Schema(
    state=dp.Category(STATES.split()), age=dp.Category(["below 18", "18 and older"]), sex=dp.Category(["F", "M"])
)
declared = {
    "populations of the states": dp.Totals("state"),
    "states, and each by age": dp.Totals("state") + dp.Totals("state", "age"),
    "states; and ages": dp.Margins(["state"], ["age"]),
    "states; ages; and sexes": dp.Margins(["state"], ["age"], ["sex"]),
}
print(f"advertised: ρ = 0.213, ε = {ADVERTISED.epsilon_at(DELTA):.4f} at δ = {DELTA}")
for name, totals in declared.items():
    # Whatever the totals turn out to be, a is at most this number. It depends on the schema alone.
    a = totals.semi_adjacency(schema)
    effective = ADVERTISED.group(a)
    print(f"{name:26} a = {a}  effective ρ = {float(effective.rho):.3f}, ε = {effective.epsilon_at(DELTA):.4f}")

# The cost of the same promise when the totals are counted: a session takes every spend as the effective amount.
with dp.Session(
    pl.DataFrame({"state": ["AL"], "age": ["below 18"], "sex": ["F"]}),
    schema,
    dataset="a plan, not a table",
    ledger=":memory:",
    budget=ADVERTISED,
    neighbours=dp.ReplaceOne(rows=PERSONS),
    invariants=dp.Totals("state"),
) as session:
    table = session.table.impute({"age": dp.Weights({"18 and older": 1})})
    quote = session.quote(table.group_by("state", "age").agg(dp.count()))
print("\nwith an effective ρ = 0.213, standard deviation of the noise in a table of states by age:")
for choice in quote.measured[0].alternatives:
    print(f"  {choice.mechanism:26} {choice.deviation:.2f}")
