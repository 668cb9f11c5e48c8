"""evaluate: how a model does on samples with known labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .. import persistence
from ..own_data.evaluation import evaluated
from ..own_data.parts import features_of
from ..own_data.pictures import is_picture_model, labelled_pictures
from ..records import EvaluationRecord
from ..tables import Request, read_samples
from . import options
from .comparison import plain_table
from .console import console, friendly
from .output_files import check_output
from .predict import classifier_of, model_input
from .progress import followed

MOST_CLASSES = 30


@friendly
def evaluate_command(
    model: options.Model,
    data: options.Data,
    target: options.Target = None,
    report: options.Report = None,
    header: options.Header = None,
    sep: options.Separator = None,
    encoding: options.Encoding = None,
    safe_csv: options.SafeCsv = False,
    masks: options.Masks = None,
    verbose: options.Verbose = False,
    force: options.Force = False,
) -> None:
    """Judge a model on samples with known labels; the labels are where they were in training.

    [dim]kernelcoding evaluate model.kc test.csv --report page.html[/]
    """
    check_report(report, [model, *data], force)
    fitted = classifier_of(model)
    if is_picture_model(fitted):
        options.refuse_given({"--target": target}, "Pictures have no columns")
        pictures = labelled_pictures(options.one_folder(data), masks)
        assert pictures.labels is not None
        X, y = pictures.images, pictures.labels
    else:
        options.refuse_given({"--masks": masks}, "Masks are for folders of pictures")
        features = features_of(fitted)
        wanted = target if target is not None else features.target
        request = options.request_for(features, wanted, header, sep, encoding, (), safe_csv)
        X, y = _labelled(data, request, fitted)
    where = ", ".join(path.name for path in data)
    title = f"{model.name} on {where}"
    with followed("Judging", verbose, bar=isinstance(X, list)) as watch:
        found = evaluated(fitted, X, y, persistence.about(model), where, title, watch)
    tell_evaluation(found)
    if report is not None:
        write_page(found, report)


def _labelled(data: list[Path], request: Request, model: BaseEstimator) -> tuple[Any, NDArray]:
    if request.target is None and data[0].suffix != ".npz":
        raise ValueError("Which column holds the labels? Say --target.")
    samples = read_samples(data, request)
    if samples.y is None:
        raise ValueError(
            f"{data[0]} holds no labels to compare with: --target, or y in an NPZ file."
        )
    return model_input(samples, data, model), samples.y


def check_report(report: Path | None, inputs: list[Path], force: bool) -> None:
    """Refuse a page that cannot be written, before any work."""
    if report is None:
        return
    from ..report.html_file import required_jinja2

    if report.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"--report must end in .html, got {report}.")
    required_jinja2()
    check_output(report, inputs, force, "--report")


def write_page(found: EvaluationRecord, report: Path) -> None:
    """Write the page and say where."""
    from ..report import write_evaluation

    console.print(f"Report: {write_evaluation(found, report)}", markup=False)


def tell_evaluation(found: EvaluationRecord) -> None:
    """The numbers of an evaluation on the screen."""
    console.print(
        f"Accuracy: {found.accuracy:.1f} % of {found.n_samples} samples (95 % interval "
        f"{found.low:.1f} to {found.high:.1f}; the largest class has {found.majority:.1f} %)",
        markup=False,
        highlight=False,
    )
    if len(found.scores) > MOST_CLASSES:
        return
    table = plain_table("Classes, in percent", ("class", "precision", "recall", "F1", "samples"))
    for score in found.scores:
        numbers = [
            "" if x is None else f"{x:.1f}" for x in (score.precision, score.recall, score.f1)
        ]
        table.add_row(score.name, *numbers, str(score.count))
    console.print(table)
