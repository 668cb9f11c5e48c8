"""Extended YaleB with square roots of pixels: the same splits and methods, less of the light.

Not the paper's features. A light that is twice as strong doubles pixels and moves their logarithms
by a constant; square roots lie between the two and keep dark pixels from being mostly noise.
"""

from __future__ import annotations

from dataclasses import replace

from numpy.typing import NDArray

from ..definition import Dataset, Experiment, Method, Split, Table, Variants
from ..rows.one_kernel import code_machine_rows, learned_residual_rows, sparse_coder
from .yaleb import (
    N_ATOMS,
    N_FEATURES,
    PAPER_ALL,
    every_face,
    paired_table,
    sparse_rows,
    supervised_rows,
    yaleb_experiment,
)
from .yaleb_anchors import pair_rows, sampled_ridge_rows, sampled_src
from .yaleb_scale import FULL, QUICK, YalebScale

POWER = 0.5
PROTOCOL = (
    "As yaleb, with square roots of pixels in place of pixels before the random projection, which "
    "was found by cross-validation in the training parts of two of the splits. All samples: every "
    "training face is an atom, the residual rule decides. 570 atoms: dictionaries learned without "
    "labels, read through the samples that atoms are combinations of or, class-wise, one by one; a "
    "linear SVM on codes; supervised methods and their controls; dictionary pairs (DPL); sparse "
    "and ridge codes (SRC, CRC) over 15 sampled faces of each person; twice as many splits, since "
    "rows differ by a face or two; supervised methods at one setting, too. Fewer "
    "atoms: what labels are worth there."
)


def root_faces(dataset: Dataset, split: Split) -> NDArray:
    """Random projections of square roots of pixels, drawn anew for every split."""
    from ...images import RandomFaces

    faces = RandomFaces(N_FEATURES, power=POWER, random_state=split.seed)
    return faces.fit_transform(dataset.samples)


def roots_experiment(scale: YalebScale, quick: bool = False, n_atoms: int = N_ATOMS) -> Experiment:
    """The experiment at a scale.

    Parameters
    ----------
    scale, quick, n_atoms
        As in :func:`~.yaleb.yaleb_experiment`.
    """
    space = scale.spaces["supervised kSC"]
    learned = (
        *learned_residual_rows(scale.spaces, scale.rounds),
        *code_machine_rows(scale.spaces, scale.rounds, scale.costs),
        *supervised_rows(scale, ("kSC", sparse_coder, space)),
        Method("SRC", sampled_src, scale.spaces["SRC"]),
        *sampled_ridge_rows(),
        *pair_rows(),
    )
    few = (*sparse_rows(scale), *pair_rows())
    return replace(
        yaleb_experiment(scale, quick, n_atoms),
        name="yaleb-roots",
        title="Extended YaleB, random faces of square roots",
        protocol=PROTOCOL + scale.note,
        tables=(
            Table("all samples, residual rule", every_face(scale), paper=PAPER_ALL),
            Table(f"{n_atoms} atoms", learned, "more", sizes=(n_atoms,)),
            paired_table(scale, n_atoms),
            Table("fewer atoms", few, "learned", sizes=scale.sizes[1:4]),
        ),
        views={"samples": root_faces},
    )


VARIANTS = Variants(roots_experiment(FULL), roots_experiment(QUICK, quick=True))
