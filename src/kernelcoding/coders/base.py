"""What all coders share: validate, build the dictionary, hand over, store."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from ..atoms import build_dictionary
from ..certificates import certify
from ..dictionary import Dictionary, PointDictionary
from ..formulation import Formulation
from ..kernels import Kernel, as_kernel
from ..priors import Prior
from ..problem import Codes, CodingProblem
from ..solvers.choose import Options, choose_solver, codes_are_sparse, solve
from ..solvers.parallel import map_blocks
from ..solvers.result import CodingResult

# Samples are coded in blocks whose cross-similarities take about this many numbers: small enough
# to stay in cache between the kernel and the solver, large enough for an efficient product.
BLOCK_SIZE = 2**18


# Learns the kernel of a fitted coder in place. The room that knows how lies further down the flow
# and hangs its function here when it is imported.
learner: Callable | None = None


class BaseKernelCoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Samples in, codes out. Subclasses say what a code minimises."""

    kernel: Any
    atoms: Any
    init: str
    learn_kernel: bool
    sparse_output: bool
    n_jobs: int | None
    random_state: Any
    keeps_codes = False  # whether learning must keep the codes of samples it does not keep

    def fit(self, X, y=None):
        """Resolve the kernel on the data and build the dictionary.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), (n_samples, p, q) or (n, n)
            Vectors, stacks of matrices, or the training Gram matrix, as the kernel wants.
        y : array-like of shape (n_samples,), default=None
            Labels; used only where a parameter says so (``groups="y"``).

        Returns
        -------
        self : object
            The fitted coder.
        """
        self._check_parameters()
        kernel = self._given_kernel()
        X = self._validate(X, kernel, reset=True)
        self.kernel_ = self._resolve(kernel, X)
        random_state = check_random_state(self.random_state)
        self.dictionary_ = build_dictionary(self.kernel_, X, self.atoms, self.init, random_state)
        self._n_features_out = self.dictionary_.n_atoms
        self.n_iter_ = 1
        self._prepare_formulation(X, y)
        if self.learn_kernel:
            if isinstance(self.atoms, Dictionary):
                raise ValueError(
                    "learn_kernel=True needs atoms of this coder's own: a dictionary made "
                    "elsewhere brings its kernel. Use learn_kernel=False."
                )
            assert learner is not None
            learner(self, X, y, random_state)
        return self

    def transform(self, X):
        """Code samples.

        Parameters
        ----------
        X : array-like
            Samples as in :meth:`fit`; with a precomputed kernel, their similarities to all
            training samples, shape (n, n_train).

        Returns
        -------
        codes : array of shape (n, n_atoms), or CSR array with ``sparse_output=True``
            One code a row, in the precision of X.
        """
        X = self._validate_query(X)
        compact = self.sparse_output or self._codes_are_sparse()
        options = replace(self._options(), n_jobs=1, certify=False, sparse_output=compact)
        # Zeros cost nothing until they are touched: sparse codes touch few.
        make = np.zeros if compact else np.empty
        codes = None if self.sparse_output else make((len(X), self._n_features_out), X.dtype)

        def encode(rows: slice) -> CodingResult:
            if codes is None:
                return self.encode(self.dictionary_, X[rows], options)
            into = replace(options, out=codes[rows])
            result = self.encode(self.dictionary_, X[rows], into)
            if compact:
                result.codes.astype(codes.dtype, copy=False).toarray(out=codes[rows])
            elif not np.shares_memory(result.codes, codes):
                codes[rows] = result.codes
            return replace(result, codes=None)

        results = map_blocks(encode, len(X), self._block_rows(), self.n_jobs)
        self._warn_if_unfinished(results)
        if codes is None:
            blocks = [result.codes for result in results]
            codes = sparse.vstack(blocks, format="csr").astype(X.dtype, copy=False)
        return codes

    def reconstruction_error(self, X, codes=None) -> NDArray:
        r"""Squared distance in H between samples and their reconstructions.

        Parameters
        ----------
        X : array-like
            Samples.
        codes : array of shape (n, n_atoms), default=None
            Their codes; computed where not given.

        Returns
        -------
        errors : array of shape (n,)
            :math:`\|\phi(x) - \Phi(D) y\|^2`.
        """
        codes = self.transform(X) if codes is None else self.check_codes(codes)
        self._require_finite(codes)
        errors = np.empty(codes.shape[0])
        for rows, problem in self.problems(X, codes.shape[0]):
            errors[rows] = problem.squared_error(codes[rows].astype(np.float64))
        return errors

    def certify(self, X, codes) -> NDArray:
        """Upper bound on how far each code is from the optimum of its problem.

        Parameters
        ----------
        X : array-like
            Samples.
        codes : array or CSR array of shape (n, n_atoms)
            Codes of any origin.

        Returns
        -------
        gaps : array of shape (n,)
            In units of the objective; infinite for a code outside the constraint.
        """
        X = self._validate_query(X)
        codes = self.check_codes(codes)
        _check_as_many(len(X), codes.shape[0])
        return np.concatenate(
            [self._gap(self.dictionary_, X[rows], codes[rows]) for rows in self._blocks(X)]
        )

    def problems(self, X, n_codes: int | None = None):
        """The coding problems of samples, block by block, in double precision.

        Parameters
        ----------
        X : array-like
            Samples.
        n_codes : int, default=None
            Number of codes that belong to them; refused where it differs.

        Yields
        ------
        rows : slice
            Which samples.
        problem : CodingProblem
            Their similarities.
        """
        X = self._validate_query(X)
        if n_codes is not None:
            _check_as_many(len(X), n_codes)
        for rows in self._blocks(X):
            yield rows, CodingProblem.of(self.dictionary_, X[rows]).astype(np.float64)

    def inverse_transform(self, codes) -> NDArray:
        """Combine the atoms in input space with the weights of the codes.

        With the linear kernel this is the reconstruction itself; with others it is its usual
        first approximation, exact when the code is a single atom of weight one.

        Parameters
        ----------
        codes : array or CSR array of shape (n, n_atoms)
            Codes.

        Returns
        -------
        X : array of shape (n, n_features)
            Points of the input space.
        """
        codes = self.check_codes(codes)
        self._require_finite(codes)
        dictionary = self.dictionary_
        if (
            not isinstance(dictionary, PointDictionary)
            or self.kernel_.uses_index
            or dictionary.points.ndim != 2
        ):
            raise ValueError(
                "inverse_transform needs atoms that are vectors; this dictionary has none "
                "(precomputed kernel, stacks of matrices, or combinations of landmarks)."
            )
        return codes @ dictionary.points

    def atom_indices(self) -> NDArray | None:
        """Which training samples the atoms are, (n_atoms,); None where they are not."""
        check_is_fitted(self)
        made_elsewhere = isinstance(self.atoms, Dictionary)  # its index is of other samples
        return None if made_elsewhere else getattr(self.dictionary_, "index", None)

    def check_codes(self, codes) -> Codes:
        """Codes as an array or CSR array with one column an atom, or ValueError."""
        check_is_fitted(self)
        if sparse.issparse(codes):
            codes = sparse.csr_array(codes)
        else:
            codes = check_array(codes, dtype=[np.float64, np.float32], ensure_all_finite=False)
        n_atoms = self.dictionary_.n_atoms
        if codes.shape[1] != n_atoms:
            raise ValueError(
                f"codes must have one column for each of the {n_atoms} atoms, "
                f"got shape {codes.shape}."
            )
        return codes

    # What subclasses say ------------------------------------------------------------------

    def formulation(self) -> Formulation:
        """Prior, constraint and weight."""
        raise NotImplementedError

    def _codes_are_sparse(self) -> bool:
        """Whether codes are made of few numbers a row."""
        return codes_are_sparse(self.formulation())

    def _check_parameters(self) -> None:
        """Refuse parameters that no data could make sense of."""

    def _prepare_formulation(self, X: NDArray, y) -> None:
        """Refuse what cannot be solved, now that the dictionary is known."""
        formulation = self.formulation()
        choose_solver(formulation)
        n_atoms = self.dictionary_.n_atoms
        empty = CodingProblem(np.empty(0), np.empty((0, n_atoms)), np.empty((n_atoms, n_atoms)))
        if formulation.kind in ("sparse", "group") and hasattr(formulation.prior, "for_atoms"):
            formulation.penalty(empty)  # weights and groups must fit the number of atoms

    def encode(self, dictionary: Dictionary, X: NDArray, options: Options) -> CodingResult:
        """Code checked samples with any dictionary."""
        return solve(CodingProblem.of(dictionary, X), self.formulation(), options)

    def at(self, block: Any) -> BaseKernelCoder:
        """The coder of a block of training samples; codes that look at labels have their own."""
        return self

    def prior_value(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """What the objective of each code has beside half its squared error, (n,)."""
        return self.formulation().prior_value(problem, codes)

    def distance_weights(self, problem: CodingProblem, codes: Codes) -> Codes | None:
        """Twice the derivatives of :meth:`prior_value` in squared distances; None: no distance."""
        formulation = self.formulation()
        if not isinstance(formulation.prior, Prior):
            return None
        weights = formulation.prior.distance_weights(problem, codes)
        return None if weights is None else formulation.alpha * weights

    def _gap(self, dictionary: Dictionary, X: NDArray, codes: Codes) -> NDArray:
        return certify(CodingProblem.of(dictionary, X), self.formulation(), codes)

    # Machinery ----------------------------------------------------------------------------

    def _options(self) -> Options:
        names = ("tol", "max_iter", "n_jobs", "sparse_output")
        return Options(**{name: getattr(self, name) for name in names if hasattr(self, name)})

    def training_options(self) -> Options:
        """Options for coding in bulk: no certificates, codes in their natural form."""
        return replace(self._options(), certify=False, sparse_output=self._codes_are_sparse())

    def _check_neighbors(self) -> None:
        n_neighbors, n_atoms = self.n_neighbors, self.dictionary_.n_atoms
        if n_neighbors > n_atoms:
            warnings.warn(
                f"n_neighbors={n_neighbors} exceeds the number of atoms ({n_atoms}): all atoms "
                f"are used. Set n_neighbors to at most {n_atoms}.",
                UserWarning,
                stacklevel=3,
            )

    @staticmethod
    def _warn_if_unfinished(results: list[CodingResult]) -> None:
        converged = np.concatenate([result.converged for result in results])
        if not converged.all():
            failed = next(result for result in results if not result.converged.all())
            warnings.warn(
                f"{np.count_nonzero(~converged)} of {len(converged)} codes did not converge: "
                f"{failed.status.value}.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _block_rows(self) -> int:
        return max(16, BLOCK_SIZE // self.dictionary_.n_atoms)

    def _blocks(self, X: NDArray):
        return gen_batches(len(X), self._block_rows())

    def _given_kernel(self) -> Kernel:
        """The kernel as the user gave it; a dictionary made elsewhere brings its own."""
        return self.atoms.kernel if isinstance(self.atoms, Dictionary) else as_kernel(self.kernel)

    def _resolve(self, kernel: Kernel, X: NDArray) -> Kernel:
        if isinstance(self.atoms, Dictionary):
            return kernel
        return kernel.resolve(X, getattr(self, "feature_names_in_", None))

    def _validate(self, X, kernel: Kernel, reset: bool) -> NDArray:
        return validate_data(
            self,
            X,
            dtype=[np.float64, np.float32],
            allow_nd=kernel.input_ndim != 2,
            reset=reset,
        )

    def _validate_query(self, X) -> NDArray:
        check_is_fitted(self)
        return self._validate(X, self.kernel_, reset=False)

    @staticmethod
    def _require_finite(codes: Codes) -> None:
        if not np.isfinite(codes.data if sparse.issparse(codes) else codes).all():
            raise ValueError("codes must be finite, got NaN or infinity.")

    def set_params(self, **params):
        """Set parameters; ``kernel__gamma`` works for a kernel given by name, too."""
        return super().set_params(**with_kernel_object(params, self.kernel))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        try:
            kernel = self._given_kernel()
        except (TypeError, ValueError):  # reported by fit
            return tags
        tags.input_tags.pairwise = kernel.uses_index
        tags.input_tags.positive_only = kernel.wants_nonnegative
        tags.input_tags.three_d_array = kernel.input_ndim == 3
        tags.input_tags.two_d_array = kernel.input_ndim != 3
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def with_kernel_object(params: dict[str, Any], kernel: Any) -> dict[str, Any]:
    """Parameters that reach into the kernel need an object to reach into, not its name."""
    given = params.get("kernel", kernel)
    if isinstance(given, str) and any(name.startswith("kernel__") for name in params):
        return {**params, "kernel": as_kernel(given)}
    return params


def _check_as_many(n_samples: int, n_codes: int) -> None:
    if n_samples != n_codes:
        raise ValueError(f"There are {n_samples} samples but {n_codes} codes.")


def check_positive(name: str, value: Any) -> None:
    """Refuse a parameter that is not a positive finite number."""
    if not isinstance(value, (int, float, np.number)) or isinstance(value, bool):
        raise ValueError(f"{name} must be a positive number, got {value!r}.")
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a positive number, got {value!r}.")


def check_count(name: str, value: Any) -> None:
    """Refuse a parameter that is not an integer of at least one."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")
