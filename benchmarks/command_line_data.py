"""Ordinary data for the command line, as files: tables, one array, folders of pictures."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import train_test_split

from kernelcoding.datasets import fetch_fashion_mnist, fetch_fmd, fetch_virus

TARGET = "label"
TEST_SHARE = 0.3
FASHION = "/usr/share/datasets/fashion-mnist"  # of Debian's dataset-fashion-mnist


@dataclass(frozen=True)
class Split:
    """Files or folders to learn from and to be judged on, and the column of labels."""

    train: Path
    test: Path
    target: str | None = None

    @property
    def is_pictures(self) -> bool:
        """Whether there are folders of pictures."""
        return self.train.is_dir()


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


def table_split(frame: pd.DataFrame, split: int, folder: Path) -> Split:
    """Two CSV files."""
    parts = train_test_split(
        frame, test_size=TEST_SHARE, random_state=split, stratify=frame[TARGET]
    )
    paths = [folder / "train.csv", folder / "test.csv"]
    for part, path in zip(parts, paths, strict=True):
        part.to_csv(path, index=False)
    return Split(*paths, TARGET)


def fashion_split(split: int, folder: Path) -> Split:
    """The official parts, as two NPZ files."""
    data = fetch_fashion_mnist(os.environ.get("FASHION_MNIST", FASHION))
    paths = [folder / "train.npz", folder / "test.npz"]
    for rows, path in zip((data.train, data.test), paths, strict=True):
        np.savez(path, X=data.data[rows], y=data.target[rows])
    return Split(*paths)


def picture_split(
    files: Sequence[str], labels: np.ndarray, masks: Sequence[str] | None, split: int, folder: Path
) -> Split:
    """Two folders with a folder of links for every class, and the same for masks."""
    parts = train_test_split(
        np.arange(len(files)), test_size=TEST_SHARE, random_state=split, stratify=labels
    )
    homes = folder / "train", folder / "test"
    for rows, home in zip(parts, homes, strict=True):
        for name, paths in (("image", files), ("mask", masks)):
            for row in rows if paths is not None else ():
                place = home / name / str(labels[row]) / Path(files[row]).name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(Path(paths[row]).resolve())
    return Split(*homes)


def fmd_split(split: int, folder: Path) -> Split:
    data = fetch_fmd(download_if_missing=False)
    names = np.asarray(data.target_names)[data.target]
    return picture_split(data.data, names, data.masks, split, folder)


def virus_split(split: int, folder: Path) -> Split:
    """Of pictures that are copies of each other the first alone."""
    data = fetch_virus(download_if_missing=False)
    first = np.unique(data.groups, return_index=True)[1]
    names = np.asarray(data.target_names)[data.target]
    return picture_split([data.data[i] for i in first], names[first], None, split, folder)


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "wine": wine, "cancer": cancer, "churn": churn, "digits": digits,
}  # fmt: skip
OTHERS: dict[str, Callable[[int, Path], Split]] = {
    "fashion": fashion_split, "fmd": fmd_split, "virus": virus_split,
}  # fmt: skip
N_SPLITS = {"fashion": 1}  # it has a test part of its own


def split_of(name: str, split: int, folder: Path) -> Split:
    """One split of a data set, written to a folder."""
    if name in TABLES:
        return table_split(TABLES[name](), split, folder)
    return OTHERS[name](split, folder)
