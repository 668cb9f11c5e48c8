"""Models of users' own data: fit, encode, predict."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from .. import persistence
from ..classification import ResidualClassifier, SupervisedKernelCoding
from ..coders import (
    BaseKernelCoder,
    KernelBagOfWords,
    KernelLCC,
    KernelLLC,
    KernelMatchingPursuit,
    KernelSparseCoder,
)
from ..dictionary_learning import KernelDictionaryLearning
from ..kernels import Kernel, as_kernel
from .columns import ModelFeatures
from .console import check_jobs, console, friendly, note
from .data_files import read_samples
from .labels import is_formula
from .output_files import check_output, codes_writer, labels_writer
from .samples import LabelledSamples

if TYPE_CHECKING:
    import pandas as pd


class CoderName(StrEnum):
    """Ways to code."""

    sparse = "sparse"
    llc = "llc"
    lcc = "lcc"
    words = "words"
    pursuit = "pursuit"


class ClassifierName(StrEnum):
    """How labels are made of codes."""

    auto = "auto"
    none = "none"
    residual = "residual"
    linear = "linear"
    bilinear = "bilinear"
    margin = "max-margin"
    logistic = "logistic"


CODERS: dict[CoderName, type[BaseKernelCoder]] = {
    CoderName.sparse: KernelSparseCoder,
    CoderName.llc: KernelLLC,
    CoderName.lcc: KernelLCC,
    CoderName.words: KernelBagOfWords,
    CoderName.pursuit: KernelMatchingPursuit,
}

# Options that several commands have.
Target = Annotated[str | None, typer.Option(help="Column with labels, name or number.")]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first line of a CSV file is names."),
]
SafeCsv = Annotated[
    bool,
    typer.Option("--safe-csv", help="Labels in CSV files have a ' before = + - @, for Excel."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite --out where it exists.")]


@friendly
def fit_command(
    data: Annotated[Path, typer.Argument(help="CSV, NPY, NPZ (X, y) or Parquet file.")],
    out: Annotated[Path, typer.Option(help="Where the model is written.")] = Path("model.kc"),
    target: Target = None,
    coder: Annotated[CoderName, typer.Option(help="How samples are coded.")] = CoderName.sparse,
    kernel: Annotated[str, typer.Option(help="rbf, linear, poly, laplacian, chi2, ...")] = "rbf",
    gamma: Annotated[str | None, typer.Option(help="Width: a number, median or scale.")] = None,
    alpha: Annotated[float | None, typer.Option(help="Weight of the prior.")] = None,
    atoms: Annotated[int | None, typer.Option(help="Learned atoms; default: all samples.")] = None,
    classifier: Annotated[
        ClassifierName, typer.Option(help="auto: residual, or linear with learned atoms.")
    ] = ClassifierName.auto,
    learn_kernel: Annotated[bool, typer.Option("--learn-kernel", help="Learn the width.")] = False,
    n_jobs: Annotated[int, typer.Option(help="Threads; -1 is all cores.")] = -1,
    seed: Annotated[int, typer.Option(help="Of all random choices.")] = 0,
    header: Header = None,
    safe_csv: SafeCsv = False,
    force: Force = False,
) -> None:
    """Fit a coder, a dictionary or a classifier to a file.

    [dim]kernelcoding fit data.npz --out model.kc[/]

    [dim]kernelcoding fit data.csv --target label --atoms 200 --classifier bilinear[/]
    """
    check_jobs(n_jobs)
    check_output(out, [data], force)
    given: dict[str, Kernel | str | float] = {
        "kernel": _kernel(kernel, gamma),
        "n_jobs": n_jobs,
        "random_state": seed,
    }
    if alpha is not None:
        given["alpha"] = alpha
    described = _coder(coder, given)
    samples = read_samples(data, target, header=header, safe_labels=safe_csv)
    model = _model(described, samples.y, atoms, classifier, learn_kernel, seed)
    X = _input(samples, data, model)
    model.fit(X) if samples.y is None else model.fit(X, samples.y)
    persistence.save(model, out)
    console.print(f"{type(model).__name__} of {len(samples.X)} samples: {out}", markup=False)


def _input(samples: LabelledSamples, path: Path, model: BaseEstimator) -> NDArray | pd.DataFrame:
    """Samples for a model, with what is to be said of them."""
    # A pipeline may begin with an imputer, and its tags do not tell.
    if not isinstance(model, Pipeline) and not get_tags(model).input_tags.allow_nan:
        samples.refuse_missing(path)
    note(*samples.notes)
    return samples.table()


def _coder(coder: CoderName, given: dict[str, Kernel | str | float]) -> BaseKernelCoder:
    made = CODERS[coder]()
    unknown = [name for name in given if name not in made.get_params(deep=False)]
    # LLC has an alpha, which its fit to the nearest atoms does not know.
    if "alpha" in given and not hasattr(made.formulation(), "alpha"):
        unknown = ["alpha"]
    if unknown:
        raise ValueError(f"--coder {coder} has no {', '.join(unknown)}. Leave --{unknown[0]} out.")
    return made.set_params(**given)


def _kernel(name: str, gamma: str | None) -> Kernel | str:
    if gamma is None:
        return name
    kernel = as_kernel(name)
    if "gamma" not in kernel.get_params():
        raise ValueError(f"--kernel {name} has no gamma.")
    try:
        width = gamma if gamma == "scale" or gamma.strip().endswith("median") else float(gamma)
    except ValueError:
        raise ValueError(f"--gamma must be a number, median or scale, got {gamma!r}.") from None
    return kernel.set_params(gamma=width)


def _model(
    coder: BaseKernelCoder,
    y: NDArray | None,
    atoms: int | None,
    classifier: ClassifierName,
    learn_kernel: bool,
    seed: int,
) -> BaseEstimator:
    if classifier is ClassifierName.auto:
        labelled = ClassifierName.residual if atoms is None else ClassifierName.linear
        classifier = ClassifierName.none if y is None else labelled
    if classifier is not ClassifierName.none and y is None:
        raise ValueError("A classifier needs labels: --target, or y in an NPZ file.")
    if classifier is ClassifierName.residual:
        return ResidualClassifier(coder.set_params(atoms=atoms, learn_kernel=learn_kernel))
    if atoms is None:
        if classifier is ClassifierName.none:
            return coder.set_params(learn_kernel=learn_kernel)
        raise ValueError(f"--classifier {classifier} learns its atoms: say how many with --atoms.")
    if classifier is ClassifierName.none:
        return KernelDictionaryLearning(
            coder, n_atoms=atoms, learn_kernel=learn_kernel, random_state=seed
        )
    return SupervisedKernelCoding(
        coder,
        n_atoms=atoms,
        classifier=str(classifier),
        learn_kernel=learn_kernel,
        random_state=seed,
    )


@friendly
def encode_command(
    model: Annotated[Path, typer.Argument(help="File written by fit.")],
    data: Annotated[Path, typer.Argument(help="Samples, as for fit.")],
    out: Annotated[Path, typer.Option(help=".npz (sparse), .npy or .csv")] = Path("codes.npz"),
    target: Annotated[str | None, typer.Option(help="Column to leave out.")] = None,
    header: Header = None,
    force: Force = False,
) -> None:
    """Code the samples of a file with a fitted model; columns are found by their names.

    [dim]kernelcoding encode model.kc data.npz --out codes.npz[/]
    """
    write = codes_writer(out)
    check_output(out, [model, data], force)
    fitted = persistence.load(model)
    coder = fitted.coder_ if isinstance(fitted, ResidualClassifier) else fitted
    if not hasattr(coder, "transform"):
        raise ValueError(f"{model} holds a {type(fitted).__name__}, which has no codes.")
    samples = read_samples(data, target, header=header, model=_features_of(coder))
    codes = coder.transform(_input(samples, data, coder))
    write(codes)
    console.print(f"{codes.shape[0]} codes of {codes.shape[1]} atoms: {out}", markup=False)


@friendly
def predict_command(
    model: Annotated[Path, typer.Argument(help="File written by fit, with labels.")],
    data: Annotated[Path, typer.Argument(help="Samples, as for fit.")],
    out: Annotated[Path, typer.Option(help=".csv, .npy or .npz (with scores)")] = Path(
        "labels.csv"
    ),
    target: Annotated[str | None, typer.Option(help="Known labels, to compare with.")] = None,
    header: Header = None,
    safe_csv: SafeCsv = False,
    force: Force = False,
) -> None:
    """Predict labels for the samples of a file; columns are found by their names.

    [dim]kernelcoding predict model.kc new.csv --out labels.csv[/]
    """
    write = labels_writer(out, safe_csv)
    check_output(out, [model, data], force)
    fitted = persistence.load(model)
    if not hasattr(fitted, "predict"):
        raise ValueError(f"{model} holds a {type(fitted).__name__}, which predicts no labels.")
    samples = read_samples(
        data, target, header=header, model=_features_of(fitted), safe_labels=safe_csv
    )
    X = _input(samples, data, fitted)
    labels = np.asarray(fitted.predict(X))
    if samples.y is not None and samples.y.shape != labels.shape:
        raise ValueError(f"{data} must hold labels of shape {labels.shape}, got {samples.y.shape}.")
    write(labels, fitted.decision_function(X))
    if out.suffix.lower() == ".csv" and not safe_csv:
        _note_formulas(labels, out)
    console.print(f"{len(labels)} labels: {out}", markup=False)
    if samples.y is not None:
        console.print(f"Accuracy: {100 * _share_equal(labels, samples.y):.1f} %")


def _features_of(fitted: BaseEstimator) -> ModelFeatures:
    names = getattr(fitted, "feature_names_in_", None)
    known = None if names is None else tuple(map(str, names))
    return ModelFeatures(known, getattr(fitted, "n_features_in_", None))


def _note_formulas(labels: NDArray, out: Path) -> None:
    found = next((str(label) for label in np.unique(labels) if is_formula(str(label))), None)
    if found is not None and labels.dtype.kind in "UO":
        note(
            f"{out}: a spreadsheet would run labels such as {found!r} as formulas; --safe-csv "
            "writes them with a ' in front."
        )


def _share_equal(labels: NDArray, known: NDArray) -> float:
    """Compared as text, but not in arrays of text, in which all are as long as the longest."""
    pairs = zip(labels.ravel().tolist(), known.ravel().tolist(), strict=True)
    return float(np.mean([str(label) == str(other) for label, other in pairs]))
