"""A small table with columns of every kind, and a model of it."""

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

import kernelcoding as kc
from kernelcoding.tables import TableColumns, Wishes, column_types, preparation

N = 60
RNG = np.random.default_rng(1)
FRAME = pd.DataFrame(
    {
        "age": np.where(np.arange(N) % 7 == 0, np.nan, RNG.normal(40, 10, N)),
        "plan": RNG.choice(["basic", "pro", "free"], N),
        "since": pd.Series(RNG.integers(1, 28, N)).map("2020-02-{:02d}".format),
        "zip": RNG.integers(1, 5, N),
        "client_id": RNG.permutation(10**5)[:N],
    }
)
LABELS = np.where(RNG.random(N) > 0.5, "yes", "no")


def table_model():
    """Columns as they are read, prepared, and coded."""
    columns = column_types(FRAME, Wishes(types={"zip": "category"}))
    used = [column for column in columns if column.used]
    steps = [
        ("columns", TableColumns(tuple(columns), target="churn")),
        ("preparation", preparation(used, True)),
        ("model", kc.ResidualClassifier()),
    ]
    return Pipeline(steps).fit(FRAME, LABELS)
