"""One code: which atoms it uses, and how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin

from ..codes import Codes, dense
from ..views import Views, sequence_of
from .canvas import Display, as_pictures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import StemContainer
    from matplotlib.offsetbox import AnnotationBbox
    from matplotlib.text import Annotation


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
        Pictures of the atoms, drawn at the strongest ones.
    n_strongest : int, default=5
        How many atoms are named.

    Attributes
    ----------
    strongest_ : array
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
        X : array-like
            Samples.
        index : int, default=0
            Which sample is coded.
        images, labels, n_strongest
            As for the class.
        ax : matplotlib Axes, default=None
            Where to draw.
        """
        X = sequence_of(X)
        X = X if isinstance(X, Views) else np.asarray(X)
        _check_index(index, len(X))
        codes = estimator.transform(X[index : index + 1] if index >= 0 else X[[index]])
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
        self.texts_ = [self._name(ax, atom) for atom in self.strongest_]
        self.pictures_ = [] if self.images is None else [self._show(ax, a) for a in self.strongest_]
        ax.axhline(0.0, color="0.6", linewidth=0.8)
        ax.margins(y=0.25 if self.images is None else 0.5)
        ax.set(xlabel="atom", ylabel="weight", xlim=(-0.5, len(code) - 0.5))
        ax.set_title(f"{len(used)} of {len(code)} atoms")

    def _check(self) -> None:
        count = len(self.code)
        for name, given in (("labels", self.labels), ("images", self.images)):
            if given is not None and len(given) != count:
                raise ValueError(
                    f"{name} must be one for each of the {count} atoms, got {len(given)}."
                )

    def _name(self, ax: Axes, atom: int) -> Annotation:
        height = float(self.code[atom])
        label = str(atom if self.labels is None else self.labels[atom])
        return ax.annotate(
            label,
            (atom, height),
            xytext=(0, 6 if height > 0 else -6),
            textcoords="offset points",
            ha="center",
            va="bottom" if height > 0 else "top",
        )

    def _show(self, ax: Axes, atom: int) -> AnnotationBbox:
        from matplotlib.offsetbox import AnnotationBbox, OffsetImage

        picture = as_pictures(np.asarray(self.images)[[atom]], None, "images")[0]
        height = float(self.code[atom])
        box = AnnotationBbox(
            OffsetImage(picture, zoom=32 / max(picture.shape[:2]), cmap="gray"),
            (atom, height),
            xybox=(0, 36 if height > 0 else -36),
            boxcoords="offset points",
            pad=0.1,
        )
        ax.add_artist(box)
        return box


def _check_index(index: int, count: int) -> None:
    if not -count <= index < count:
        raise IndexError(f"index={index} is not within the {count} samples.")
