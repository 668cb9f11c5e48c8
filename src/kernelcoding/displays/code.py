"""One code: which atoms it uses, and how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils import _safe_indexing

from ..codes import Codes, dense
from ..views import Views, is_frame, sequence_of
from .canvas import Display, as_pictures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import StemContainer
    from matplotlib.offsetbox import AnnotationBbox
    from matplotlib.text import Annotation

PICTURE = 32  # points that the longer side of a picture takes
HEADROOM = 0.5  # of the height of the stems, for the row of pictures


class CodeDisplay(Display):
    """Stems at the atoms that a code uses; the strongest are named.

    Best made by :meth:`from_estimator` or :meth:`from_codes`.

    Parameters
    ----------
    code : array of shape (n_atoms,)
        The code.
    labels : sequence of n_atoms strings, default=None
        Names of the atoms; None takes their numbers.
    images : array of shape (n_atoms, height, width), default=None
        Pictures of the atoms; those of the strongest are drawn in a row above the stems.
    n_strongest : int, default=5
        How many atoms are named.

    Attributes
    ----------
    strongest_ : array of int of shape (n_strongest,)
        Indices of the strongest atoms, strongest first.
    stem_ : matplotlib StemContainer
    texts_ : list of matplotlib Text
    pictures_ : list of matplotlib AnnotationBbox
    ax_, figure_
        Axes and figure.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.displays import CodeDisplay
    >>> display = CodeDisplay.from_codes(np.array([[0.0, 0.7, 0.0, -0.9]]), n_strongest=2)
    >>> [text.get_text() for text in display.texts_]
    ['3', '1']
    """

    def __init__(
        self,
        code: NDArray,
        *,
        labels: Sequence[object] | None = None,
        images: NDArray | None = None,
        n_strongest: int = 5,
    ):
        self.code = code
        self.labels = labels
        self.images = images
        self.n_strongest = n_strongest

    @classmethod
    def from_estimator(
        cls,
        estimator: TransformerMixin,
        X: ArrayLike,
        index: int = 0,
        images: NDArray | None = None,
        *,
        labels: Sequence[object] | None = None,
        n_strongest: int = 5,
        ax: Axes | None = None,
    ) -> CodeDisplay:
        """Code one sample and draw the code.

        Parameters
        ----------
        estimator : fitted coder or dictionary learning
            Anything with ``transform``.
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as the estimator takes them.
        index : int, default=0
            Which sample is coded.
        images, labels, n_strongest
            As for the class.
        ax : matplotlib Axes, default=None
            Where to draw.
        """
        samples = sequence_of(X)
        if not (isinstance(samples, Views) or is_frame(samples)):
            samples = np.asarray(samples)
        count = len(samples)
        _check_index(index, count)
        rows = [index % count]
        one = _safe_indexing(samples, rows) if is_frame(samples) else samples[rows]
        codes = estimator.transform(one)
        return cls.from_codes(codes, labels=labels, images=images, n_strongest=n_strongest, ax=ax)

    @classmethod
    def from_codes(
        cls,
        codes: Codes,
        index: int = 0,
        images: NDArray | None = None,
        *,
        labels: Sequence[object] | None = None,
        n_strongest: int = 5,
        ax: Axes | None = None,
    ) -> CodeDisplay:
        """Draw one row of codes, an array or a sparse one."""
        _check_index(index, codes.shape[0])
        code = dense(codes[[index]]).ravel()
        return cls(code, labels=labels, images=images, n_strongest=n_strongest).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        code = np.asarray(self.code)
        used = np.flatnonzero(code)
        # No stems without atoms: matplotlib refuses empty ones.
        self.stem_: StemContainer | None = (
            ax.stem(used, code[used], basefmt=" ") if len(used) else None
        )
        order = used[np.argsort(-np.abs(code[used]), kind="stable")]
        self.strongest_ = order[: self.n_strongest]
        ax.axhline(0.0, color="0.6", linewidth=0.8)
        ax.margins(y=0.25)
        ax.set(xlabel="atom", ylabel="weight", xlim=(-0.5, len(code) - 0.5))
        self.pictures_: list[AnnotationBbox] = []
        if self.images is None:
            self.texts_ = [self._name(ax, atom) for atom in self.strongest_]
        else:
            self._draw_pictures(ax)
        ax.set_title(f"{len(used)} of {len(code)} atoms")

    def _check(self) -> None:
        count = len(self.code)
        for name, given in (("labels", self.labels), ("images", self.images)):
            if given is not None and len(given) != count:
                raise ValueError(
                    f"{name} must be one for each of the {count} atoms, got {len(given)}."
                )

    def _label(self, atom: int) -> str:
        return str(atom if self.labels is None else self.labels[atom])

    def _name(self, ax: Axes, atom: int) -> Annotation:
        height = float(self.code[atom])
        return ax.annotate(
            self._label(atom),
            (atom, height),
            xytext=(0, 6 if height > 0 else -6),
            textcoords="offset points",
            ha="center",
            va="bottom" if height > 0 else "top",
        )

    def _draw_pictures(self, ax: Axes) -> None:
        """A row of pictures at the top, each with its name above and a line to its atom."""
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + HEADROOM * (high - low))
        width = ax.get_window_extent().width * 72 / ax.figure.dpi
        wanted = (np.asarray(self.strongest_) + 0.5) / len(self.code)
        places = _apart(wanted, (PICTURE + 8) / width)
        pairs = list(zip(self.strongest_, places, strict=True))
        self.texts_ = [self._name_above(ax, atom, place) for atom, place in pairs]
        self.pictures_ = [self._show(ax, atom, place) for atom, place in pairs]

    def _name_above(self, ax: Axes, atom: int, place: float) -> Annotation:
        return ax.annotate(
            self._label(atom),
            (place, 1.0),
            xycoords="axes fraction",
            xytext=(0, -3),
            textcoords="offset points",
            ha="center",
            va="top",
        )

    def _show(self, ax: Axes, atom: int, place: float) -> AnnotationBbox:
        from matplotlib.offsetbox import AnnotationBbox, OffsetImage

        picture = as_pictures(np.asarray(self.images)[[atom]], None, "images")[0]
        box = AnnotationBbox(
            OffsetImage(picture, zoom=PICTURE / max(picture.shape[:2]), cmap="gray"),
            (atom, float(self.code[atom])),
            xybox=(place, 1.0),
            boxcoords="axes fraction",
            box_alignment=(0.5, 1.5),  # half a picture below the top: room for the name
            pad=0.1,
            arrowprops={"arrowstyle": "-", "color": "0.6", "linewidth": 0.8},
        )
        ax.add_artist(box)
        return box


def _apart(wanted: NDArray, distance: float) -> NDArray:
    """Places in (0, 1) near the wanted ones, in their order, this far apart where there is room."""
    count = len(wanted)
    distance = min(distance, 1.0 / max(count, 1))
    order = np.argsort(wanted, kind="stable")
    steps = distance * np.arange(count)
    places = np.maximum.accumulate(np.maximum(wanted[order], distance / 2) - steps)
    return (np.minimum(places, 1.0 - distance * (count - 0.5)) + steps)[np.argsort(order)]


def _check_index(index: int, count: int) -> None:
    if not -count <= index < count:
        raise IndexError(f"index={index} is not within the {count} samples.")
