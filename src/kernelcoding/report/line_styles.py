"""How lines and points are told apart: colour, marker and dashes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

COLOURS = 9  # of the style sheet, .s0 to .s8: as many as the paper's figures have methods
MARKER_PATHS = (
    "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z",
    "M-3.2 -3.2h6.4v6.4h-6.4z",
    "M0 -4.3l4.2 7.4h-8.4z",
    "M0 4.3l4.2 -7.4h-8.4z",
    "M-4 -2.6l1.4 -1.4l2.6 2.6l2.6 -2.6l1.4 1.4l-2.6 2.6l2.6 2.6l-1.4 1.4l-2.6 -2.6l-2.6 2.6"
    "l-1.4 -1.4l2.6 -2.6z",
    "M-4 -1.3h2.7v-2.7h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7z",
    "M-4.2 -4.2h8.4l-3 4.2l3 4.2h-8.4l3 -4.2z",
)


@dataclass(frozen=True, slots=True)
class LineStyle:
    """Colour and marker of a method; its control has both, with dashes and hollow markers."""

    index: int
    is_control: bool = False

    @property
    def name(self) -> str:
        """What connects a legend's key with its lines."""
        return f"{self.index}{'c' if self.is_control else ''}"

    @property
    def css(self) -> str:
        """Classes of the style sheet; dots where there are more methods than colours."""
        dashes = " dashed" if self.is_control else " dotted" if self.index // COLOURS % 2 else ""
        return f"series s{self.index % COLOURS}{dashes}"

    @property
    def mark(self) -> str:
        """Class of its markers."""
        return "mark hollow" if self.is_control else "mark"

    @property
    def marker(self) -> str:
        """Path of its markers, around the origin."""
        return MARKER_PATHS[self.index % len(MARKER_PATHS)]


def line_styles_of(controls: Mapping[str, str | None]) -> dict[str, LineStyle]:
    """One style per method, in the order given; a control is paired with its method.

    Parameters
    ----------
    controls : mapping
        For each method, the one of which it is the control, or None. A control whose method is
        not among them is drawn as a method of its own.
    """
    owners = {
        name: owner if owner is not None and owner in controls else name
        for name, owner in controls.items()
    }
    indices = {owner: index for index, owner in enumerate(dict.fromkeys(owners.values()))}
    return {name: LineStyle(indices[owner], name != owner) for name, owner in owners.items()}
