"""What all coders share: validate, build the dictionary, hand over, store."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags, check_random_state

from ..dictionary import Dictionary
from ..dictionary.building import build_dictionary
from ..formulations import Formulation
from ..kernel_learning import (
    KernelLearning,
    as_settings,
    learn_kernel,
    moved,
    prepared_start,
    truth_of,
)
from ..kernels import Kernel, as_kernel
from ..kernels.names import KernelLike
from ..parallel import steady_blas
from ..solvers.result import Options
from ..stacks import Stack, width
from ..validation import samples
from .transformer import CodingTransformer, take_features

AtomsLike = int | ArrayLike | Dictionary | None


class BaseKernelCoder(CodingTransformer):
    """Samples in, codes out. Subclasses say what a code is, by :meth:`formulation`.

    A coder of your own inherits this class, takes its parameters in ``__init__`` (at least
    ``kernel`` and ``atoms``; the others below have these defaults where it does not) and returns a
    :class:`~kernelcoding.formulations.Formulation`, such as a subclass of
    :class:`~kernelcoding.formulations.BaseFormulation`. It then codes, learns dictionaries and
    kernels, and classifies by residuals as any coder of this package.

    Examples
    --------
    >>> from kernelcoding import constraints, priors
    >>> from kernelcoding.coders import BaseKernelCoder
    >>> from kernelcoding.formulations import Penalised
    >>> class KernelSimplexCoder(BaseKernelCoder):
    ...     def __init__(self, kernel="rbf", atoms=None):
    ...         self.kernel = kernel
    ...         self.atoms = atoms
    ...
    ...     def formulation(self):
    ...         return Penalised(priors.NoPrior(), constraints.Simplex())
    >>> codes = KernelSimplexCoder().fit([[0.0], [1.0], [2.0]]).transform([[0.5]])
    >>> round(float(codes.sum()), 6)
    1.0
    """

    kernel: KernelLike = "rbf"
    atoms: AtomsLike = None
    init: str = "k-means++"
    learn_kernel: bool | KernelLearning = False
    sparse_output: bool = False
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = 0

    kernel_history_: NDArray
    kernel_objective_: float
    kernel_status_: str

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Resolve the kernel on the data and build the dictionary.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), (n_samples, p, q) or (n_samples, n_samples)
            Vectors (also sparse), stacks of matrices, or the training Gram matrix, as the kernel
            wants; for a kernel of several views, a dict, a tuple, a data frame or
            :class:`~kernelcoding.Views` of such stacks; for a function of yours, a sequence of
            whatever it takes.
        y : array-like of shape (n_samples,), default=None
            Labels; used only where a parameter says so (``groups="y"``).

        Returns
        -------
        self : object
            The fitted coder.
        """
        self._check_parameters()
        kernel = self._given_kernel()
        stack: Stack = samples(self, X, kernel, reset=True)
        random_state = check_random_state(self.random_state)
        outline = self._outline()
        # A spectrum, where a kernel's sign is not known, costs more than all comparisons.
        cost = width(stack) if kernel.is_positive_definite else len(stack)
        with steady_blas(len(stack) ** 2 * cost):
            self.kernel_ = self._resolve(kernel, stack)
            self.dictionary_ = build_dictionary(
                self.kernel_,
                stack,
                self.atoms,
                self.init,
                random_state,
                whole=outline.uses_gram,
                by_parts=outline.rows_by_parts(1) > 0,
            )
        self._n_features_out = self.dictionary_.n_atoms
        self._take_labels(stack, y)
        self.formulation().check(self.dictionary_.n_atoms)
        if self.learn_kernel:
            self._learn_kernel(stack, y, random_state)
        return self

    # What subclasses say ------------------------------------------------------------------

    def formulation(self) -> Formulation:
        """What a code of this coder is."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        """Refuse parameters that no data could make sense of."""

    def _outline(self, n_atoms: int = 1) -> Formulation:
        """The formulation as far as it is known before labels are: its facts are right."""
        return self.formulation()

    def _with_atom_labels(self, labels: NDArray | None) -> Self:
        """The coder for learned atoms that started from samples with these labels."""
        return self

    def _with_labels_of(self, other: BaseKernelCoder) -> Self:
        """The coder for the atoms of another one, which has learned their labels."""
        return self

    def _take_labels(self, X: NDArray, y: ArrayLike | None) -> None:
        """Remember what the formulation needs of labels, now that the dictionary is known."""

    # Machinery ----------------------------------------------------------------------------

    def _learn_kernel(
        self, X: NDArray, y: ArrayLike | None, random_state: np.random.RandomState
    ) -> None:
        """Learn the kernel for the present atoms; these move to its space."""
        if isinstance(self.atoms, Dictionary):
            raise ValueError(
                "learn_kernel=True needs atoms of this coder's own: a dictionary made "
                "elsewhere brings its kernel. Use learn_kernel=False."
            )
        settings = as_settings(self.learn_kernel)
        start, truth = prepared_start(self.kernel_, X, y, settings), truth_of(X, y, settings)
        if truth is not None and self.dictionary_.index is not None:
            truth = truth.of_atoms(np.asarray(self.dictionary_.index))
        learned = learn_kernel(
            self.formulation(),
            options_of(self),
            start,
            X,
            self.dictionary_,
            settings,
            random_state,
            truth,
        )
        self.kernel_ = learned.kernel
        self.kernel_history_ = np.array(learned.history)
        self.kernel_objective_ = learned.objective
        self.dictionary_ = moved(self.dictionary_, learned.kernel)
        self.kernel_status_ = learned.status
        learned.warn(stacklevel=4)

    def _given_kernel(self) -> Kernel:
        """The kernel as the user gave it; a dictionary made elsewhere brings its own."""
        return self.atoms.kernel if isinstance(self.atoms, Dictionary) else as_kernel(self.kernel)

    def _resolve(self, kernel: Kernel, X: NDArray) -> Kernel:
        if isinstance(self.atoms, Dictionary):
            return kernel
        return kernel.resolve(X, getattr(self, "feature_names_in_", None))

    def _coding(self) -> tuple[Formulation, Options]:
        return self.formulation(), options_of(self)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__gamma`` works for a kernel given by name, too."""
        return super().set_params(**with_kernel_object(params, self.kernel))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            kernel = self._given_kernel()
        except (TypeError, ValueError):  # reported by fit
            return tags
        tags.input_tags.pairwise = kernel.uses_index
        tags.input_tags.positive_only = kernel.wants_nonnegative
        tags.input_tags.three_d_array = kernel.input_ndim == 3
        tags.input_tags.two_d_array = kernel.input_ndim != 3
        tags.input_tags.sparse = kernel.takes_sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def options_of(coder: BaseKernelCoder) -> Options:
    """How a coder wants its problems solved."""
    names = ("tol", "max_iter", "n_jobs", "sparse_output")
    return Options(**{name: getattr(coder, name) for name in names if hasattr(coder, name)})


def atom_indices(coder: CodingTransformer) -> NDArray | None:
    """Which training samples the atoms are, (n_atoms,); None where they are not."""
    # A dictionary made elsewhere has the index of other samples; learners are given none.
    given = getattr(coder, "atoms", None)
    return None if isinstance(given, Dictionary) else coder.dictionary_.index


def fitted_with(
    coder: BaseKernelCoder, dictionary: Dictionary, like: BaseEstimator
) -> BaseKernelCoder:
    """A coder like the given one, fitted with a dictionary; ``like`` knows the features."""
    fitted = clone(coder).set_params(atoms=dictionary)
    fitted.kernel_, fitted.dictionary_ = dictionary.kernel, dictionary
    fitted._n_features_out = dictionary.n_atoms
    take_features(fitted, like)
    return fitted


def require_coder(given: object) -> None:
    """Refuse what is no coder: ValueError."""
    if isinstance(given, type) or not callable(getattr(given, "formulation", None)):
        raise ValueError(
            "coder must be a coder of this package, such as KernelSparseCoder(), or one of your "
            f"own that inherits kernelcoding.coders.BaseKernelCoder, got {given!r}."
        )


def with_kernel_object(params: dict[str, Any], kernel: KernelLike) -> dict[str, Any]:
    """Parameters that reach into the kernel need an object to reach into, not its name."""
    given = params.get("kernel", kernel)
    if isinstance(given, str) and any(name.startswith("kernel__") for name in params):
        return {**params, "kernel": as_kernel(given)}
    return params
