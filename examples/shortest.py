"""The shortest useful program: 2,000 persons by gender and their mean age, with error bars and a guarantee."""

import discreet as dp
from discreet import datasets

schema = dp.Schema(gender=dp.Category(["female", "male"]), age=dp.Number(0, 110))
session = dp.Session(
    datasets.path("acs12"), schema, dataset="acs12", ledger=":memory:", budget=dp.PureDP(1), neighbours=dp.AddRemove()
)
table = session.table.impute({"gender": dp.Weights({"female": 1, "male": 1}), "age": dp.Uniform(0, 90)})
release = session.release(table.group_by("gender").agg(dp.count(), dp.mean("age")), spend="0.5", name="age by gender")
print(release.table)
print(release.guarantee)
