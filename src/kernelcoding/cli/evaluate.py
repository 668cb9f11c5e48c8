"""evaluate: how a model does on samples with known labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import persistence
from ..own_data.evaluation import evaluated
from ..own_data.parts import features_of
from ..own_data.pictures import is_picture_model, labelled_pictures
from ..records import EvaluationRecord
from ..tables import read_samples
from .comparison import plain_table
from .console import console, friendly
from .options import (
    OUTPUT,
    Data,
    Encoding,
    Force,
    Header,
    Model,
    SafeCsv,
    Separator,
    Target,
    Verbose,
    request_for,
)
from .output_files import check_output
from .predict import model_input
from .progress import heard

MOST_CLASSES = 30
Report = Annotated[
    Path | None, typer.Option(help="A page to write, .html.", rich_help_panel=OUTPUT)
]


@friendly
def evaluate_command(
    model: Model,
    data: Data,
    target: Target = None,
    report: Report = None,
    header: Header = None,
    sep: Separator = None,
    encoding: Encoding = None,
    safe_csv: SafeCsv = False,
    verbose: Verbose = False,
    force: Force = False,
) -> None:
    """Judge a model on samples with known labels; the labels are where they were in training.

    [dim]kernelcoding evaluate model.kc test.csv --report page.html[/]
    """
    check_report(report, [model, *data], force)
    fitted, about = persistence.load(model), persistence.about(model)
    if not hasattr(fitted, "predict"):
        raise ValueError(f"{model} holds a {type(fitted).__name__}, which predicts no labels.")
    where = ", ".join(path.name for path in data)
    if is_picture_model(fitted):
        pictures = labelled_pictures(data[0], None)
        assert pictures.labels is not None
        title = f"{model.name} on {where}"
        found = evaluated(fitted, pictures.images, pictures.labels, about, where, title)
        _finish(found, report)
        return
    features = features_of(fitted)
    wanted = target if target is not None else features.target
    if wanted is None and data[0].suffix != ".npz":
        raise ValueError("Which column holds the labels? Say --target.")
    request = request_for(features, wanted, header, sep, encoding, (), safe_csv)
    samples = read_samples(data, request)
    if samples.y is None:
        raise ValueError(
            f"{data[0]} holds no labels to compare with: --target, or y in an NPZ file."
        )
    X = model_input(samples, data, fitted)
    with heard(verbose):
        found = evaluated(fitted, X, samples.y, about, where, f"{model.name} on {where}")
    _finish(found, report)


def _finish(found: EvaluationRecord, report: Path | None) -> None:
    tell_evaluation(found)
    if report is not None:
        write_page(found, report)


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
