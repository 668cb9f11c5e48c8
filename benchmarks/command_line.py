"""The command line at its defaults beside a scaled SVC and gradient boosting, on ordinary data.

``python -m benchmarks.command_line wine cancer churn digits --out lines.jsonl`` fits five splits of
each through the command, and the peers with the same preparation; one line per model and split is
appended, and what the file has already is not done again. ``--models`` chooses who runs, and
``--table lines.jsonl`` makes the table of docs/command-line.md.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelcoding.kernels.spd_matrices import log_vectors
from kernelcoding.model_search import Choices
from kernelcoding.own_data.pictures import COVARIANCE, FISHER, described, labelled_pictures
from kernelcoding.own_data.preparing import prepared
from kernelcoding.tables import Request, Wishes, read_samples

from .command_line_data import N_SPLITS, OTHERS, TABLES, Split, split_of

OURS, MAJORITY = "kernelcoding fit", "majority"
BOOSTING = "boosting"
PEERS = {"SVC, scaled": SVC, BOOSTING: HistGradientBoostingClassifier}
MANY = 1_000  # features, of which boosting would take hours: it gets the covariances of pictures
MODELS = (OURS, *PEERS, MAJORITY)


def command(*arguments: object) -> str:
    """Run a command of the command line in this process; its output."""
    from typer.testing import CliRunner

    from kernelcoding.cli import app

    result = CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "100"})
    if result.exit_code:
        raise RuntimeError(result.output)
    return result.stdout


def ours(split: Split, folder: Path) -> dict:
    """Fit and evaluate by the command."""
    model = folder / "model.kc"
    target = [] if split.target is None else ["--target", split.target]
    start = time.process_time()
    said = command("fit", split.train, *target, "--out", model, "--n-jobs", 1, "--force")
    seconds = time.process_time() - start
    judged = command("evaluate", model, split.test, *target)
    kept = said.split("Kept: ")[1].split(" (")[0]
    if split.is_pictures:
        features = said.split("kept: ")[1].split()[0]
        kept = f"{features}, {kept}"
    accuracy = float(judged.split("Accuracy: ")[1].split()[0])
    return {"accuracy": accuracy, "kept": kept, "cpu_seconds": seconds}


def samples_of(split: Split) -> Iterator[tuple[np.ndarray, ...]]:
    """Training and test samples as numbers, prepared as the command prepares them."""
    if split.is_pictures:
        yield from picture_vectors(split)
        return
    request = Request(split.target)
    known, new = read_samples(split.train, request), read_samples(split.test, request)
    ready = prepared(known, str(split.train), Wishes(), "rbf", True, request.target)
    transformer = ready.transformer().fit(known.X)
    yield transformer.transform(known.X), known.y, transformer.transform(new.X), new.y


def picture_vectors(split: Split) -> Iterator[tuple[np.ndarray, ...]]:
    """Both descriptors of the command, matrices as their logarithms, standardised."""
    known, new = (labelled_pictures(path, None) for path in (split.train, split.test))
    for kind in (FISHER, COVARIANCE):
        extractor, X = described(kind, known, Choices(n_jobs=1), None)
        Z = np.asarray(extractor.transform(new.images))
        if kind == COVARIANCE:
            X, Z = (log_vectors(matrices, "covariance") for matrices in (X, Z))
        scale = StandardScaler().fit(X)
        yield scale.transform(X), known.labels, scale.transform(Z), new.labels


def peers(split: Split, names: list[str]) -> Iterator[tuple[str, dict]]:
    """Of pictures, the descriptors that are better on the test part: the peers' advantage."""
    best: dict[str, dict] = {}
    for X, y, Z, truth in samples_of(split):
        classes, counts = np.unique(y, return_counts=True)
        share = 100 * float(np.mean(truth == classes[counts.argmax()]))
        best[MAJORITY] = {"accuracy": share, "cpu_seconds": 0.0}
        for name in names:
            if name in PEERS and not (name == BOOSTING and X.shape[1] > MANY):
                start, model = time.process_time(), PEERS[name]()
                right = _share_right(model, X, y, Z, truth)
                found = {"accuracy": right, "cpu_seconds": time.process_time() - start}
                best[name] = max(best.get(name, found), found, key=lambda line: line["accuracy"])
    yield from ((name, best[name]) for name in names if name in best)


def _share_right(
    model: ClassifierMixin, X: np.ndarray, y: np.ndarray, Z: np.ndarray, truth: np.ndarray
) -> float:
    return 100 * float(np.mean(make_pipeline(model).fit(X, y).predict(Z) == truth))


def lines(name: str, split: int, models: list[str]) -> Iterator[dict]:
    """One line per model of one split."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        files = split_of(name, split, folder)
        if OURS in models:
            yield {"data": name, "split": split, "model": OURS, **ours(files, folder)}
        others = [model for model in models if model != OURS]
        if others:
            for model, found in peers(files, others):
                yield {"data": name, "split": split, "model": model, **found}


def read(path: Path) -> pd.DataFrame:
    """What a file of lines has; the last of several for one model and split."""
    columns = ["data", "split", "model"]
    if not path.exists():
        return pd.DataFrame(columns=columns)
    frame = pd.DataFrame([json.loads(line) for line in path.read_text().splitlines()])
    return frame.drop_duplicates(columns, keep="last")


def table(frame: pd.DataFrame) -> str:
    """Mean and standard deviation over splits, as Markdown."""
    heads = ["data", "splits", *MODELS, "kept", "CPU s per fit"]
    rows = [f"| {' | '.join(heads)} |", f"| {' | '.join(['---'] * len(heads))} |"]
    for name, found in frame.groupby("data", sort=False):
        mine = found[found["model"] == OURS]
        cells = [name, str(len(mine))]
        for model in MODELS:
            shares = found.loc[found["model"] == model, "accuracy"]
            spread = f" ± {shares.std():.1f}" if len(shares) > 1 else ""
            cells.append(f"{shares.mean():.1f}{spread}" if len(shares) else "")
        counts = mine["kept"].value_counts().items()
        cells.append(", ".join(f"{kept} ({n})" for kept, n in counts))
        cells.append(f"{mine['cpu_seconds'].mean():.0f}")
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", help=f"of {', '.join([*TABLES, *OTHERS])}")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--out", type=Path, default=Path("command_line.jsonl"))
    parser.add_argument("--table", type=Path)
    given = parser.parse_args()
    if unknown := set(given.data) - {*TABLES, *OTHERS}:  # argparse would refuse no name at all
        parser.error(f"no data {sorted(unknown)}")
    if given.table:
        print(table(read(given.table)))
        return
    for name in given.data:
        done = read(given.out)
        for split in range(given.first, min(given.splits, N_SPLITS.get(name, given.splits))):
            there = done[(done["data"] == name) & (done["split"] == split)]["model"].tolist()
            todo = [model for model in given.models if model not in there]
            for line in lines(name, split, todo) if todo else ():
                print(line, flush=True)
                with given.out.open("a") as file:
                    file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
