"""Models of users' own data: fit, encode, predict."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

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
from .console import console, friendly
from .data_files import codes_writer, labels_writer, read_samples


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


@friendly
def fit_command(
    data: Annotated[Path, typer.Argument(help="CSV, NPY, NPZ (X, y) or Parquet file.")],
    out: Annotated[Path, typer.Option(help="Where the model is written.")] = Path("model.kc"),
    target: Annotated[str | None, typer.Option(help="Column with labels, name or number.")] = None,
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
) -> None:
    """Fit a coder, a dictionary or a classifier to a file.

    [dim]kernelcoding fit data.npz --out model.kc[/]

    [dim]kernelcoding fit data.csv --target label --atoms 200 --classifier bilinear[/]
    """
    if out.is_dir():
        raise IsADirectoryError(f"--out must be a file, {out} is a folder.")
    out.parent.mkdir(parents=True, exist_ok=True)
    samples = read_samples(data, target)
    given: dict[str, Kernel | str | float] = {
        "kernel": _kernel(kernel, gamma),
        "n_jobs": n_jobs,
        "random_state": seed,
    }
    if alpha is not None:
        given["alpha"] = alpha
    model = _model(_coder(coder, given), samples.y, atoms, classifier, learn_kernel, seed)
    model.fit(samples.X) if samples.y is None else model.fit(samples.X, samples.y)
    persistence.save(model, out)
    console.print(f"{type(model).__name__} of {len(samples.X)} samples: {out}", markup=False)


def _coder(coder: CoderName, given: dict[str, Kernel | str | float]) -> BaseKernelCoder:
    made = CODERS[coder]()
    unknown = [name for name in given if name not in made.get_params(deep=False)]
    if unknown:
        raise ValueError(f"--coder {coder} has no {', '.join(unknown)}.")
    return made.set_params(**given)


def _kernel(name: str, gamma: str | None) -> Kernel | str:
    if gamma is None:
        return name
    kernel = as_kernel(name)
    if "gamma" not in kernel.get_params():
        raise ValueError(f"--kernel {name} has no gamma.")
    try:
        width = gamma if gamma in ("median", "scale") else float(gamma)
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
) -> None:
    """Code the samples of a file with a fitted model.

    [dim]kernelcoding encode model.kc data.npz --out codes.npz[/]
    """
    write = codes_writer(out)
    fitted = persistence.load(model)
    coder = fitted.coder_ if isinstance(fitted, ResidualClassifier) else fitted
    if not hasattr(coder, "transform"):
        raise ValueError(f"{model} holds a {type(fitted).__name__}, which has no codes.")
    codes = coder.transform(read_samples(data, target).X)
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
) -> None:
    """Predict labels for the samples of a file.

    [dim]kernelcoding predict model.kc new.csv --out labels.csv[/]
    """
    write = labels_writer(out)
    fitted = persistence.load(model)
    if not hasattr(fitted, "predict"):
        raise ValueError(f"{model} holds a {type(fitted).__name__}, which predicts no labels.")
    samples = read_samples(data, target)
    labels = np.asarray(fitted.predict(samples.X))
    if samples.y is not None and samples.y.shape != labels.shape:
        raise ValueError(f"{data} must hold labels of shape {labels.shape}, got {samples.y.shape}.")
    write(labels, fitted.decision_function(samples.X))
    console.print(f"{len(labels)} labels: {out}", markup=False)
    if samples.y is not None:
        correct = np.mean(labels.astype(str) == samples.y.astype(str))
        console.print(f"Accuracy: {100 * float(correct):.1f} %")
