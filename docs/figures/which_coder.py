"""Draws the chart of which-coder.md: python docs/figures/which_coder.py."""

from __future__ import annotations

from pathlib import Path

WIDTH, HEIGHT, STEP = 220, 44, 74
API = "api/generated/kernelcoding."
Box = tuple[int, float, str, str, str]  # column, row, first line, second line, link or ""

QUESTIONS: list[Box] = [
    (0, 0, "Are there labels?", "", ""),
    (1, 0, "How many samples?", "codes are the goal", ""),
    (1, 3, "What are labels?", "", ""),
    (2, 2.5, "How small a model?", "classes", ""),
]
ANSWERS: list[Box] = [
    (2, -1, "KernelSparseCoder", "thousands: all are atoms", f"{API}KernelSparseCoder.html"),
    (2, 0, "KernelDictionaryLearning", "more: learned atoms", f"{API}KernelDictionaryLearning.html"),
    (2, 1, "Dask, partial_fit", "more than memory", "scale.html"),
    (3, 2, "ResidualClassifier", "all samples are atoms", f"{API}ResidualClassifier.html"),
    (3, 3, "SupervisedKernelCoding", "few learned atoms", f"{API}SupervisedKernelCoding.html"),
    (2, 4, "KernelOutlierDetector", "one normal class", f"{API}KernelOutlierDetector.html"),
]
ARROWS = [
    ((0, 0), (1, 0), "no"),
    ((0, 0), (1, 3), "yes"),
    ((1, 0), (2, -1), ""),
    ((1, 0), (2, 0), ""),
    ((1, 0), (2, 1), ""),
    ((1, 3), (2, 2.5), ""),
    ((1, 3), (2, 4), ""),
    ((2, 2.5), (3, 2), ""),
    ((2, 2.5), (3, 3), ""),
]


def corner(column: float, row: float) -> tuple[float, float]:
    """Left and top edge of a box."""
    return 4 + column * (WIDTH + 46), 4 + (row + 1) * STEP


def box(item: Box) -> str:
    """A rectangle with one or two lines of text; answers are links."""
    column, row, first, second, link = item
    x, y = corner(column, row)
    colour = "var(--pst-color-primary, #0a7d91)" if link else "currentColor"
    middle = y + HEIGHT / 2 + (-3 if second else 5)
    text = f'<text x="{x + WIDTH / 2}" y="{middle}" font-weight="600" fill="{colour}">{first}</text>'
    if second:
        text += f'<text x="{x + WIDTH / 2}" y="{middle + 17}" font-size="12">{second}</text>'
    shape = (
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="{6 if link else 22}" '
        f'fill="none" stroke="{colour}" stroke-width="1.5"/>'
    )
    return f'<a href="{link}">{shape}{text}</a>' if link else shape + text


def arrow(start: tuple[float, float], end: tuple[float, float], label: str) -> str:
    """A curve from the right edge of a box to the left edge of another."""
    (x, y), (to_x, to_y) = corner(*start), corner(*end)
    x, y, to_y = x + WIDTH, y + HEIGHT / 2, to_y + HEIGHT / 2
    middle = (x + to_x) / 2
    path = f"M{x} {y} C{middle} {y} {middle} {to_y} {to_x - 6} {to_y}"
    drawn = f'<path d="{path}" fill="none" stroke="currentColor" opacity="0.6" marker-end="url(#tip)"/>'
    where = (y + to_y) / 2 - 5 if y != to_y else y - 6
    return drawn + (f'<text x="{middle}" y="{where}" font-size="12">{label}</text>' if label else "")


def chart() -> str:
    """The whole picture."""
    width, height = 4 * WIDTH + 3 * 46 + 8, 6 * STEP - 20
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            'aria-label="From labels and number of samples to an estimator" '
            'style="width: 100%; max-width: 60rem" font-family="inherit" font-size="14" '
            'text-anchor="middle" fill="currentColor">',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="currentColor"/>'
            "</marker></defs>",
            *(arrow(*each) for each in ARROWS),
            *(box(item) for item in QUESTIONS + ANSWERS),
            "</svg>",
        ]
    )


if __name__ == "__main__":
    Path(__file__).with_name("which-coder.svg").write_text(chart() + "\n")
