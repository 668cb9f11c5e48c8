"""The command line at its defaults beside a scaled SVC and gradient boosting, on ordinary data.

``python -m benchmarks.command_line wine cancer churn digits --splits 5 --out lines.jsonl`` fits
every split through the command and appends a line; ``--table FILE`` makes the table of the docs
from the lines. Fashion-MNIST has its own test part and so one split.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from kernelcoding.own_data.preparing import prepared
from kernelcoding.tables import Request, Wishes, read_samples

TARGET = "label"
FASHION = Path("/usr/share/datasets/fashion-mnist")  # of Debian's dataset-fashion-mnist


def wine() -> pd.DataFrame:
    data = load_wine(as_frame=True)
    return data.data.assign(**{TARGET: data.target_names[data.target]})


def cancer() -> pd.DataFrame:
    """With the column of identifiers that the original file has."""
    data = load_breast_cancer(as_frame=True)
    frame = data.data.assign(**{TARGET: data.target_names[data.target]})
    frame.insert(0, "id", np.random.default_rng(0).permutation(10**6)[: len(frame)] + 8670)
    return frame


def churn(n: int = 1500) -> pd.DataFrame:
    """Customers: numbers, categories, a date, a text, an identifier, and cells that are missing."""
    rng = np.random.default_rng(0)
    age, months = rng.normal(45, 14, n), rng.gamma(2, 14, n)
    fee, calls = rng.normal(60, 25, n), rng.poisson(2, n)
    plan = rng.choice(["basic", "family", "pro", "business"], n, p=[0.45, 0.3, 0.2, 0.05])
    region = rng.choice([f"region {i}" for i in range(8)], n)
    paid = rng.choice(["card", "transfer", "cheque"], n)
    logit = -1.4 - 0.035 * months + 0.02 * (fee - 60) + 0.45 * calls - 0.9 * (plan == "business")
    logit += 0.8 * (paid == "cheque") - 0.6 * ((age > 35) & (age < 55)) + 0.9 * (plan == "basic")
    label = np.where(rng.random(n) < 1 / (1 + np.exp(-1.3 * logit)), "left", "stayed")
    since = pd.Timestamp("2024-06-01") - pd.to_timedelta((30 * months).astype(int), unit="D")
    words = ["called about the bill", "asked for a new phone", "was happy with us", "no remark"]
    frame = pd.DataFrame(
        {
            "customer": [f"C{i:06d}" for i in rng.permutation(10**6)[:n]],
            "age": age.round(1),
            "fee": fee.round(2),
            "calls": calls.astype(float),
            "plan": plan,
            "region": region,
            "paid by": paid,
            "since": since.strftime("%Y-%m-%d"),
            "remark": [f"{rng.choice(words)} in week {i % 52} of {i % 7}" for i in range(n)],
            TARGET: label,
        }
    )
    for name, share in (("age", 0.12), ("fee", 0.05), ("calls", 0.2), ("region", 0.1)):
        frame.loc[rng.random(n) < share, name] = None
    return frame


def digits() -> pd.DataFrame:
    X, y = load_digits(return_X_y=True)
    return pd.DataFrame(X, columns=[f"p{i}" for i in range(64)]).assign(**{TARGET: y})


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "wine": wine, "cancer": cancer, "churn": churn, "digits": digits,
}  # fmt: skip


def command(*arguments: object) -> str:
    """Run a command of the command line in this process; its output."""
    from typer.testing import CliRunner

    from kernelcoding.cli import app

    result = CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "100"})
    if result.exit_code:
        raise RuntimeError(result.output)
    return result.stdout


def accuracy_of(said: str) -> float:
    return float(said.split("Accuracy: ")[1].split()[0])


def peers(train: Path, test: Path, request: Request) -> dict[str, float]:
    """Prepared as the command prepares: scaled SVC; gradient boosting."""
    known, new = read_samples(train, request), read_samples(test, request)
    ready = prepared(known, str(train), Wishes(), "rbf", True, request.target)
    found = {}
    for name, model in (("svc", SVC()), ("boosting", HistGradientBoostingClassifier())):
        whole = make_pipeline(ready.transformer(), model).fit(known.X, known.y)
        found[name] = 100 * float(np.mean(whole.predict(new.X) == new.y))
    counts = np.unique(known.y, return_counts=True)
    found["majority"] = 100 * float(np.mean(new.y == counts[0][counts[1].argmax()]))
    return found


def one_split(name: str, train: Path, test: Path, target: str | None, split: int) -> dict:
    """Fit and evaluate by the command, and the peers on the same rows."""
    model = train.parent / "model.kc"
    option = [] if target is None else ["--target", target]
    start = time.process_time()
    said = command("fit", train, *option, "--out", model, "--n-jobs", 1, "--force")
    seconds = time.process_time() - start
    ours = accuracy_of(command("evaluate", model, test, *option))
    kept = said.split("Kept: ")[1].split(" (")[0]
    found = {"ours": ours, "kept": kept, "cpu_seconds": seconds}
    return {"data": name, "split": split, **found, **peers(train, test, Request(target))}


def table_splits(name: str, n_splits: int, first: int) -> Iterator[dict]:
    frame = TABLES[name]()
    for split in range(first, n_splits):
        with tempfile.TemporaryDirectory() as folder:
            known, new = train_test_split(
                frame, test_size=0.3, random_state=split, stratify=frame[TARGET]
            )
            paths = Path(folder) / "train.csv", Path(folder) / "test.csv"
            known.to_csv(paths[0], index=False)
            new.to_csv(paths[1], index=False)
            yield one_split(name, *paths, TARGET, split)


def fashion(n_samples: int | None) -> Iterator[dict]:
    """The official test part."""
    home = Path(os.environ.get("FASHION_MNIST", FASHION))

    def read(name: str, kind: str, offset: int) -> np.ndarray:
        with gzip.open(home / f"{name}-{kind}-ubyte.gz") as file:
            return np.frombuffer(file.read(), np.uint8, offset=offset)

    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for part in ("train", "t10k"):
            y = read(part, "labels-idx1", 8)
            X = read(part, "images-idx3", 16).reshape(len(y), -1)
            rows = slice(n_samples if part == "train" else None)
            paths.append(Path(folder) / f"{part}.npz")
            np.savez(paths[-1], X=X[rows].astype(float), y=y[rows])
        yield one_split("fashion", *paths, None, 0)


def table(path: Path) -> str:
    """Mean and standard deviation over splits, as Markdown."""
    frame = pd.DataFrame([json.loads(line) for line in path.read_text().splitlines()])
    lines = ["| data | splits | `kernelcoding fit` | SVC, scaled | boosting | majority | kept |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- |")
    for name, rows in frame.groupby("data", sort=False):
        cells = []
        for column in ("ours", "svc", "boosting", "majority"):
            spread = f" ± {rows[column].std():.1f}" if len(rows) > 1 else ""
            cells.append(f"{rows[column].mean():.1f}{spread}")
        kept = ", ".join(f"{k} ({n})" for k, n in rows["kept"].value_counts().items())
        lines.append(f"| {name} | {len(rows)} | {' | '.join(cells)} | {kept} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", choices=[*TABLES, "fashion"])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--samples", type=int, default=None, help="of Fashion-MNIST")
    parser.add_argument("--out", type=Path, default=Path("command_line.jsonl"))
    parser.add_argument("--table", type=Path)
    given = parser.parse_args()
    if given.table:
        print(table(given.table))
        return
    for name in given.data:
        is_fashion = name == "fashion"
        found = (
            fashion(given.samples) if is_fashion else table_splits(name, given.splits, given.first)
        )
        for line in found:
            print(line, flush=True)
            with given.out.open("a") as file:
                file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
