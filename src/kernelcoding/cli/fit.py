"""fit: from a user's file to a model file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..kernels import as_kernel
from ..model_search import Choices
from .console import check_jobs, friendly
from .evaluate import check_report
from .options import (
    DATA,
    MODEL,
    OUTPUT,
    SEARCH,
    ClassifierName,
    ClassWeight,
    CoderName,
    Data,
    Effort,
    Encoding,
    Engine,
    EngineOption,
    Force,
    Header,
    Masks,
    Report,
    SafeCsv,
    Separator,
    Target,
    Verbose,
    one_folder,
    refuse_given,
    request_for,
)
from .output_files import check_output
from .pictures import Features, fit_folder
from .tables import ColumnOptions, Names, fit_table


@friendly
def fit_command(
    data: Data,
    out: Annotated[
        Path, typer.Option(help="Where the model is written.", rich_help_panel=OUTPUT)
    ] = Path("model.kc"),
    target: Target = None,
    search: Annotated[
        Effort, typer.Option(help="How models are compared.", rich_help_panel=SEARCH)
    ] = Effort.quick,
    groups: Annotated[
        str | None,
        typer.Option(help="Column: equal entries stay together.", rich_help_panel=SEARCH),
    ] = None,
    coder: Annotated[
        CoderName | None, typer.Option(help="How samples are coded.", rich_help_panel=MODEL)
    ] = None,
    classifier: Annotated[
        ClassifierName,
        typer.Option(
            help="auto: by search; else residual, or linear with --atoms.", rich_help_panel=MODEL
        ),
    ] = ClassifierName.auto,
    kernel: Annotated[
        str | None,
        typer.Option(help="rbf (the default), linear, poly, chi2, ...", rich_help_panel=MODEL),
    ] = None,
    gamma: Annotated[
        str | None,
        typer.Option(help="Width: a number, median, 0.3*median, scale.", rich_help_panel=MODEL),
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Weight of the prior.", rich_help_panel=MODEL)
    ] = None,
    neighbors: Annotated[
        int | None, typer.Option(help="Neighbours of LLC.", rich_help_panel=MODEL)
    ] = None,
    atoms: Annotated[
        int | None,
        typer.Option(help="Learned atoms; default: all samples.", rich_help_panel=MODEL),
    ] = None,
    landmarks: Annotated[
        int | None, typer.Option(help="Rows that the model keeps.", rich_help_panel=MODEL)
    ] = None,
    class_weight: Annotated[
        ClassWeight | None, typer.Option(help="Weights of classes.", rich_help_panel=MODEL)
    ] = None,
    max_iter: Annotated[
        int | None, typer.Option(help="Rounds of learning atoms.", rich_help_panel=MODEL)
    ] = None,
    learn_kernel: Annotated[
        bool, typer.Option("--learn-kernel", help="Learn the width.", rich_help_panel=MODEL)
    ] = False,
    drop: Annotated[Names, typer.Option(help="Columns to leave out.", rich_help_panel=DATA)] = None,
    columns: Annotated[
        Names, typer.Option(help="The only columns to use.", rich_help_panel=DATA)
    ] = None,
    keep: Annotated[
        Names,
        typer.Option(help="Columns to use although they look useless.", rich_help_panel=DATA),
    ] = None,
    types: Annotated[
        Names,
        typer.Option(
            help="column=category, number, date or text.",
            metavar="COLUMN=KIND",
            rich_help_panel=DATA,
        ),
    ] = None,
    scale: Annotated[
        bool,
        typer.Option("--scale/--no-scale", help="Standardise numbers.", rich_help_panel=DATA),
    ] = True,
    features: Annotated[
        Features, typer.Option(help="Descriptors of pictures.", rich_help_panel=DATA)
    ] = Features.auto,
    masks: Masks = None,
    header: Header = None,
    sep: Separator = None,
    encoding: Encoding = None,
    engine: EngineOption = Engine.c,
    safe_csv: SafeCsv = False,
    n_jobs: Annotated[
        int, typer.Option(help="Threads; -1 is all cores.", rich_help_panel=OUTPUT)
    ] = -1,
    seed: Annotated[int, typer.Option(help="Of all random choices.", rich_help_panel=MODEL)] = 0,
    report: Report = None,
    verbose: Verbose = False,
    force: Force = False,
) -> None:
    """Fit a model to a table: columns are prepared, models compared, the best one is kept.

    [dim]kernelcoding fit data.csv --target label[/]

    [dim]kernelcoding fit data.npz --out model.kc[/]

    [dim]kernelcoding fit folder/ --out model.kc[/]  (sub-folders of pictures are classes)

    [dim]kernelcoding fit data.csv --target label --atoms 200 --classifier bilinear[/]
    """
    check_jobs(n_jobs)
    check_output(out, data, force)
    check_report(report, data, force)
    choices = Choices(
        coder=coder and str(coder),
        classifier=None if classifier is ClassifierName.auto else str(classifier),
        kernel=kernel or "rbf",
        gamma=_width(gamma),
        alpha=alpha,
        neighbors=neighbors,
        atoms=atoms,
        landmarks=landmarks,
        class_weight=class_weight and str(class_weight),
        max_iter=max_iter,
        learn_kernel=learn_kernel,
        n_jobs=n_jobs,
        seed=seed,
    )
    as_kernel(choices.kernel)  # what no kernel is called is told before the work, and so is
    choices.kernel_of(choices.gamma)  # a width that the kernel does not have
    if any(path.is_dir() for path in data):
        given = {"--target": target, "--groups": groups, "--kernel": kernel, "--drop": drop,
                 "--columns": columns, "--keep": keep, "--types": types, "--header": header,
                 "--sep": sep, "--encoding": encoding}  # fmt: skip
        refuse_given(given, "Sub-folders are the classes of pictures, which have no columns")
        fit_folder(one_folder(data), masks, features, choices, str(search), out, report, verbose)
        return
    refuse_given({"--masks": masks}, "Masks are for folders of pictures")
    asked = ColumnOptions.of(drop, columns, keep, types)
    aside = () if groups is None else (groups,)
    request = replace(
        request_for(None, target, header, sep, encoding, aside, safe_csv),
        engine=str(engine),
        words=asked.words(target),
    )
    fit_table(data, request, asked, scale, choices, search, out, report, verbose)


def _width(gamma: str | None) -> str | float | None:
    if gamma is None or gamma == "scale" or gamma.strip().endswith("median"):
        return gamma
    try:
        return float(gamma)
    except ValueError:
        raise ValueError(
            "--gamma must be a number, median, a multiple such as 0.3*median, or scale, "
            f"got {gamma!r}."
        ) from None
