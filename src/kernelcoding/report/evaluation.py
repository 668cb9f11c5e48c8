"""The page on one's own data: an evaluation as tiles, tables and figures."""

from __future__ import annotations

from dataclasses import dataclass

from ..records import EvaluationRecord
from .charts import SMALL_CHART, Axes, Series, line_chart
from .confusion_matrices import confusion_chart
from .figures import Figure
from .formats import counted, decimal, duration
from .gallery import Gallery, card_of
from .line_styles import LineStyle
from .page import Tile
from .tables import Column, PageCell, PageTable, percent

OURS, PERFECT = LineStyle(0), LineStyle(1, is_control=True)


@dataclass(frozen=True, slots=True)
class EvaluationPage:
    """All there is to show."""

    title: str
    tiles: tuple[Tile, ...]
    notices: tuple[str, ...]
    protocol: str
    classes: PageTable
    confusion: str
    figures: tuple[Figure, ...]
    gallery: Gallery | None
    learned: tuple[tuple[str, str], ...]


def evaluation_page(record: EvaluationRecord) -> EvaluationPage:
    """The whole page."""
    label = f"Confusion matrix of {record.model}, rows are the truth"
    gallery = None
    if record.examples:
        gallery = Gallery(record.model, tuple(map(card_of, record.examples)), ())
    return EvaluationPage(
        record.title,
        _tiles(record),
        record.notes,
        f"{record.model}, judged on {record.data}.",
        _class_table(record),
        confusion_chart(record.classes, record.confusion, label),
        tuple(f for f in (_calibration(record), _coverage(record)) if f is not None),
        gallery,
        record.learned,
    )


def _tiles(record: EvaluationRecord) -> tuple[Tile, ...]:
    is_better = record.low > record.majority
    # In a narrow tile it has two lines: no sign of percent alone on the second.
    interval = f"{decimal(record.low)} to {decimal(record.high)}\N{NO-BREAK SPACE}%"
    tiles = [
        Tile(
            f"{decimal(record.accuracy)} %",
            "of labels are right",
            "better" if is_better else "below",
        ),
        Tile(interval, "95 % interval of that"),
        Tile(f"{decimal(record.majority)} %", "by naming the largest class"),
        Tile(decimal(record.n_samples, 0), "sample" if record.n_samples == 1 else "samples"),
        Tile(duration(record.seconds), "for all answers"),
    ]
    if record.megabytes is not None:
        tiles.append(Tile(f"{decimal(record.megabytes)} MB", "in the arrays of the model"))
    return tuple(tiles)


def _class_table(record: EvaluationRecord) -> PageTable:
    columns = (
        Column("Class", numeric=False),
        Column(percent("Precision"), hint="Of those called so, how many are"),
        Column(percent("Recall"), hint="Of those that are, how many are called so"),
        Column(percent("F1")),
        Column("Samples"),
    )
    rows = tuple(
        (
            PageCell(score.name, score.name),
            PageCell(decimal(score.precision), score.precision),
            PageCell(decimal(score.recall), score.recall),
            PageCell(decimal(score.f1), score.f1),
            PageCell(decimal(score.count, 0), score.count),
        )
        for score in record.scores
    )
    return PageTable("Scores of each class", columns, rows)


def _calibration(record: EvaluationRecord) -> Figure | None:
    bins = record.calibration
    if len(bins) < 2:
        return None
    x = [part.confidence for part in bins]
    ours = Series(
        OURS, "right labels", x, [part.right for part in bins],
        low=[part.low for part in bins], high=[part.high for part in bins],
    )  # fmt: skip
    ends = (min(x), max(x))
    perfect = Series(PERFECT, "perfect", ends, ends, marks=False)
    label = "Right labels against the largest probability"
    axes = Axes(label, "largest probability, %", "right, %", most_y=100.0)
    loss = "" if record.log_loss is None else f" Log loss {record.log_loss:.3f}."
    caption = (
        "Right labels among samples of about the same largest probability, with 95 % intervals; on "
        f"the dashed line probabilities mean what they say.{loss}"
    )
    return Figure("Calibration", caption, line_chart([perfect, ours], axes, SMALL_CHART))


def _coverage(record: EvaluationRecord) -> Figure | None:
    if len(record.coverage) < 2:
        return None
    x, y = zip(*record.coverage, strict=True)
    label = "Right labels against the samples kept"
    axes = Axes(label, "samples kept, %", "right, %", most_y=100.0)
    caption = (
        f"Right labels where only samples of largest {record.certainty} are answered: "
        f"{counted(record.n_samples, 'sample')} at the right end."
    )
    series = [Series(OURS, "right labels", x, y, marks=False)]
    return Figure("Coverage against rejection", caption, line_chart(series, axes, SMALL_CHART))
