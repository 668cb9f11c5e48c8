"""Extended YaleB: faces under many lights, as random projections.

Both halves of the paper's table: every training sample an atom, and 570 learned atoms. Beside them
classifiers of other libraries, and accuracy against the number of atoms.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import Bunch

from ...datasets import fetch_yaleb
from ...kernels import Gaussian, Linear
from ..definition import (
    Dataset,
    Experiment,
    Method,
    Numbers,
    Request,
    Settings,
    Space,
    Split,
    Splits,
    Table,
    Variants,
)
from ..rows import peers
from ..rows.anchors import collaborative_rows
from ..rows.learned_widths import supervised_width_rows, width_rows
from ..rows.one_kernel import (
    CoderBuilder,
    code_machine_rows,
    control_row,
    learned_residual_rows,
    linear_head,
    linear_svm_row,
    local_coder,
    nearest_code_row,
    residual_row,
    sparse_coder,
    supervised_row,
    svm_row,
    unlabelled_residual_rows,
)
from ..running.splitting import halves
from .yaleb_anchors import (
    PUBLISHED,
    d_ksvd,
    kernel_ksvd_row,
    lc_ksvd,
    pair_rows,
    point_row,
    sampled_ridge_rows,
    sampled_src,
    sparser_rows,
)
from .yaleb_scale import FULL, QUICK, YalebScale

N_FEATURES = 504
N_TRAIN = 32  # samples per class, as in the LC-KSVD authors' split
N_PEOPLE = 38
N_ATOMS = 570
# One setting each where another library takes long, looked at in one fold of one training part.
CURVE: Space = {"width": (0.1,), "alpha": (3e-4, 1e-3)}
PAIRED: Space = {"width": (0.1,), "alpha": (3e-4,)}
SKLEARN: Space = {"alpha": (0.1,)}
DICTLEARN: Space = {"classifier_weight": (0.1,)}
DICTLEARN_LABELS: Space = {"gamma": (0.13,), "label_weight": (0.01,), "n_nonzero": (30,)}
DICTLEARN_KERNEL = Method(
    "dictlearn kernel D-KSVD",
    peers.kernel_discriminative,
    {"gamma": (1.3,), "classifier_weight": (1.0,), "n_nonzero": (10,)},
    requires="dictlearn",
)
PROTOCOL = (
    f"{N_TRAIN} of about 64 faces of each of 38 people for training, the others for testing; "
    f"{N_FEATURES} random projections of unit norm; each split has its own projection and its own "
    "random division. Settings by stratified cross-validation in the training part, four folds "
    "where every face is an atom, two where atoms are learned. All samples: "
    "every training face is an atom, the residual rule decides. 570 atoms: dictionaries are "
    "learned, the nearest neighbour's label decides (distance, Euclidean or cosine, searched); "
    "SRC and CRC have 15 sampled faces of each person; the K-SVD methods, the SVM on codes and the "
    "supervised methods decide by their own classifiers. Controls are the supervised methods with "
    "a loss that counts for nothing while the dictionary is learned; at one setting: neither "
    "chooses, on twice as many splits. 570 atoms, "
    "residual rule: the same kind of dictionary, read through the samples that its atoms are "
    "combinations of; class-wise: a dictionary of each person alone, kernel K-SVD too. Labels "
    "balance the faces that dictionaries start from, unless the row says otherwise; four folds: "
    "with more settings, by four folds instead of two. Learned "
    "widths start at the median and are found by the paper's ratio as printed, by ours, by labels "
    "of samples left out, or jointly with a classifier; alpha and neighbours are fixed there, at "
    "values that searches chose often. "
    "In cross-validation the number of atoms is in proportion to the samples. Accuracy against "
    "atoms: on the first five splits, at one width, alpha one of two by two folds. Dictionaries "
    "of dictlearn and scikit-learn: one setting, on the first five splits; codes by matching "
    "pursuit with 30 atoms (15 for the LC-KSVD of dictlearn, which refuses more; 10 for its kernel "
    "D-KSVD)."
)
PAPER_ALL: Numbers = {
    ("SRC", None): 97.2,
    ("kSC", None): 98.2,
    ("kLLC", None): 98.4,
    ("LC-KSVD", None): 96.7,
}
PAPER_ATOMS = {"SRC": 80.5, "LC-KSVD": 95.0, "kSC": 96.9, "kLLC": 97.2}
CLASSIFIER_LETTERS = {"linear": "l", "bilinear": "bi", "max-margin": "mm"}


def yaleb_dataset(request: Request) -> Dataset:
    """Images; projections belong to the splits."""
    faces: Bunch = fetch_yaleb(request.data_home, request.download, features="images")
    return Dataset(faces.images, faces.target, tuple(faces.target_names), pictures=faces.images)


def random_faces(dataset: Dataset, split: Split) -> NDArray:
    """Random projections, drawn anew for every split."""
    from ...images import RandomFaces

    return RandomFaces(N_FEATURES, random_state=split.seed).fit_transform(dataset.samples)


def nearest_neighbour(settings: Settings, n_atoms: int) -> KNeighborsClassifier:
    """The nearest training face."""
    return KNeighborsClassifier(1)


def machine_row() -> Method:
    """A support vector machine with the same kernel."""
    return svm_row("SVC", Gaussian(), {"width": (0.3, 1.0), "C": (10.0, 100.0)})


def every_face(scale: YalebScale) -> tuple[Method, ...]:
    """Rows of the half with all samples."""
    spaces = scale.spaces
    return (
        residual_row("SRC", sparse_coder, Linear(), spaces["SRC"]),
        residual_row("kSC", sparse_coder, Gaussian(), spaces["kSC"]),
        residual_row("kLLC", local_coder, Gaussian(), spaces["kLLC"]),
        Method("1-NN", nearest_neighbour),
        machine_row(),
        Method("LinearSVC", peers.linear_svm, spaces["LinearSVC"]),
        *collaborative_rows((0.1,)),
        Method("LC-KSVD", lc_ksvd, PUBLISHED),
        *pair_rows(),
    )


def learned_atoms(scale: YalebScale) -> tuple[Method, ...]:
    """Rows of the half with 570 atoms."""
    spaces, rounds = scale.spaces, scale.rounds
    sparse, local = spaces["kSC, atoms"], spaces["kLLC, atoms"]
    return (
        Method("SRC", sampled_src, spaces["SRC"]),
        *sampled_ridge_rows(),
        Method("LC-KSVD", lc_ksvd, spaces["K-SVD"]),
        Method("D-KSVD", d_ksvd, spaces["D-KSVD"]),
        nearest_code_row("SC", sparse_coder, Linear(), spaces["SC, atoms"], rounds),
        nearest_code_row("kSC", sparse_coder, Gaussian(), sparse, rounds),
        nearest_code_row("kLLC", local_coder, Gaussian(), local, rounds),
        *code_machine_rows(spaces, rounds, scale.costs),
        *supervised_rows(
            scale,
            ("kSC", sparse_coder, spaces["supervised kSC"]),
            ("kLLC", local_coder, spaces["supervised kLLC"]),
        ),
        *pair_rows(),
        point_row(rounds, scale.costs),
    )


def supervised_rows(
    scale: YalebScale, *parts: tuple[str, CoderBuilder, Space]
) -> tuple[Method, ...]:
    """Each supervised method, then its control.

    Parameters
    ----------
    scale : YalebScale
    *parts
        Name, coder and search space of what is supervised.
    """
    rows = []
    for classifier in scale.supervised:
        for name, coder, space in parts:
            row = supervised_row(
                f"{CLASSIFIER_LETTERS[classifier]}-S{name}",
                coder,
                classifier,
                Gaussian(),
                space,
                scale.rounds,
            )
            rows += [row, control_row(row)]
    return tuple(rows)


def paired_table(scale: YalebScale, n_atoms: int) -> Table:
    """Supervised methods and their controls with equal settings: nothing differs but the labels."""
    rows = supervised_rows(scale, ("kSC", sparse_coder, PAIRED))
    return Table(f"{n_atoms} atoms, supervised at one setting", rows, "more", sizes=(n_atoms,))


def four_folds(spaces: Mapping[str, Space]) -> dict[str, Space]:
    """The wider spaces that four folds are searched in: three quarters hold 400 neighbours."""
    return {f"{name}, read": spaces[f"{name}, four folds"] for name in ("kSC", "kLLC")}


def other_libraries(scale: YalebScale) -> tuple[Method, ...]:
    """Learned atoms by dictlearn and scikit-learn."""
    consistent, kernel = partial(peers.label_consistent, N_PEOPLE), peers.kernel_label_consistent
    space = scale.spaces["dictlearn LC-KSVD"]
    return (
        Method("dictlearn LC-KSVD", consistent, space, requires="dictlearn"),
        Method("dictlearn D-KSVD", peers.discriminative, DICTLEARN, requires="dictlearn"),
        Method("dictlearn kernel LC-KSVD", kernel, DICTLEARN_LABELS, requires="dictlearn"),
        DICTLEARN_KERNEL,
        Method(
            "scikit-learn dictionary, SVM",
            partial(peers.minibatch_dictionary, scale.rounds),
            SKLEARN,
            head=linear_head,
            head_space={"C": scale.costs},
        ),
    )


def sparse_rows(scale: YalebScale) -> tuple[Method, ...]:
    """Sparse codes of learned atoms, with and without labels, and controls."""
    rounds = scale.rounds
    return (
        nearest_code_row("kSC", sparse_coder, Gaussian(), CURVE, rounds),
        linear_svm_row("kSC, SVM", sparse_coder, Gaussian(), CURVE, rounds, scale.costs),
        *supervised_rows(scale, ("kSC", sparse_coder, CURVE)),
    )


def against_atoms(scale: YalebScale) -> tuple[Method, ...]:
    """Rows of accuracy against atoms."""
    return (
        *sparse_rows(scale),
        Method("LC-KSVD", lc_ksvd, PUBLISHED),
        *pair_rows(),
        DICTLEARN_KERNEL,
    )


def learned_tables(scale: YalebScale, n_atoms: int) -> tuple[Table, ...]:
    """A learned dictionary of the paper's size: with classifiers, and read by the residual rule."""
    paper: Numbers = {(name, n_atoms): value for name, value in PAPER_ATOMS.items()}
    sizes, title = (n_atoms,), f"{n_atoms} atoms"
    residual = (
        *learned_residual_rows(scale.spaces, scale.rounds),
        *unlabelled_residual_rows(scale.spaces, scale.rounds),
        kernel_ksvd_row(scale.rounds),
    )
    four = learned_residual_rows(four_folds(scale.spaces), scale.rounds)
    return (
        Table(title, learned_atoms(scale), "learned", sizes=sizes, paper=paper),
        paired_table(scale, n_atoms),
        Table(f"{title}, sparser SRC", sparser_rows(), "learned", sizes=sizes),
        Table(f"{title}, residual rule", residual, "learned", sizes=sizes),
        Table(f"{title}, residual rule, four folds", four, sizes=sizes),
    )


def yaleb_experiment(scale: YalebScale, quick: bool = False, n_atoms: int = N_ATOMS) -> Experiment:
    """The experiment at a scale.

    Parameters
    ----------
    scale : YalebScale
    quick : bool
        Whether the records call it the quick version.
    n_atoms : int
        Of the second half.
    """
    return Experiment(
        name="yaleb",
        title="Extended YaleB, random faces",
        protocol=PROTOCOL + scale.note,
        metric="accuracy",
        load=yaleb_dataset,
        splits={
            "splits": Splits(scale.n_splits, halves(scale.n_folds, N_TRAIN)),
            "learned": Splits(scale.n_splits, halves(scale.n_folds_of_learned, N_TRAIN)),
            "curve": Splits(scale.curve_splits, halves(scale.n_folds_of_learned, N_TRAIN)),
            "more": Splits(scale.more_splits, halves(scale.n_folds_of_learned, N_TRAIN)),
        },
        tables=(
            Table("all samples, residual rule", every_face(scale), paper=PAPER_ALL),
            *learned_tables(scale, n_atoms),
            Table("all samples, learned widths", width_rows(scale.spaces), "learned"),
            Table(
                "supervised, learned widths",
                supervised_width_rows(sparse_coder, {"alpha": (3e-4,)}, scale.rounds),
                "curve",
                sizes=scale.sizes[1:2],
            ),
            Table(
                f"{n_atoms} atoms, other libraries",
                other_libraries(scale),
                "curve",
                sizes=(n_atoms,),
            ),
            Table(
                "accuracy against atoms",
                against_atoms(scale),
                "curve",
                sizes=scale.sizes,
                anchors=(machine_row(), *collaborative_rows((0.1,))),
            ),
        ),
        views={"samples": random_faces},
        quick=quick,
    )


VARIANTS = Variants(yaleb_experiment(FULL), yaleb_experiment(QUICK, quick=True))
