"""Classification by reconstruction residuals."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..blocks import Blocks
from ..coders.base import require_coder
from ..coders.coding import code_samples, problems
from ..coders.owner import CoderOwner, given_or_sparse
from ..coders.transformer import CodingTransformer
from ..coders.zero_codes import why_zero
from ..codes import Codes
from ..dictionary import Dictionary, PointDictionary
from ..dictionary_learning.base import BaseDictionaryLearning
from ..dictionary_learning.far import at_hand
from ..distributed.inputs import is_lazy
from ..distributed.methods import one_number, over_blocks, refuse_lazy
from ..validation import check_codes
from ..views import sequence_of
from .answers import class_probabilities, class_scores, one_label
from .carried_labels import CarriedLabels, carried_labels
from .class_residuals import ClassResiduals
from .labels import one_label_each
from .residual_calibration import ResidualCalibration


def _calibrate(classifier: ResidualClassifier) -> None:
    """Find the temperature of probabilities, once for all blocks."""
    rule = classifier._residual_rule()
    kept = classifier._kept_calibration(rule)
    kept.probabilities(np.zeros((1, rule.n_classes)), rule, classifier.coder_._coding())


class ResidualClassifier(ClassifierMixin, CoderOwner):
    r"""The class whose own atoms explain a sample best wins.

    A sample is coded over the atoms of all classes; class s is judged by its part
    :math:`y_{(s)}` of the code alone:

    .. math:: \varepsilon_s(x) = -2\,y_{(s)}^\top k + y_{(s)}^\top K y_{(s)}

    With a sparse coder and the linear kernel this is SRC.

    Parameters
    ----------
    coder : estimator, default=None
        A coder of this package, or an estimator that learns a dictionary
        (:class:`KernelDictionaryLearning`, with ``per_class=True`` for one dictionary per class;
        :class:`SupervisedKernelCoding`), which is fitted with the labels. None is
        ``KernelSparseCoder()``. Atoms that are training samples carry their labels
        (``atoms=None``, or an integer with a sampling ``init``), and so do the samples that atoms
        are combinations of (learned dictionaries, ``init="kernel-k-means"``), also where
        ``atoms=`` is a dictionary that was learned from these samples before.
    atom_labels : array-like of shape (n_atoms,), default=None
        Labels of the atoms where they are not known: points given as ``atoms``, or a dictionary
        that was learned elsewhere.
    landmark_labels : array-like of shape (n_landmarks,), default=None
        Labels of the landmarks of a learned dictionary, where these are not samples of ``fit``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    coder_ : coder
        Fitted.
    atom_classes_ : array of shape (n_atoms,)
        Index into ``classes_`` of each atom, where atoms carry the labels.
    landmark_classes_ : array of shape (n_landmarks,)
        Index into ``classes_`` of each landmark, where landmarks do.

    Notes
    -----
    The rule without dictionary learning of the paper's experiments, and for learned atoms: with
    :math:`\Phi(D) = \Phi(Z)A` and labelled landmarks Z, a code is weights :math:`\beta = Ay` of
    landmarks, and :math:`\beta_{(s)}` takes the place of :math:`y_{(s)}`. ``k(x, x)`` is left out
    of the residuals: it is the same for all classes.

    With ``KernelCoder(prior=Ridge(), constraint=Free())`` codes are those of kernel collaborative
    representation (CRC): a linear system, solved for all samples at once.

    A class without a part in the code is never elected: its residual, k(x, x), may be less than
    those of parts that explain badly (LLC with a narrow kernel). Where all parts are worse than
    nothing, empty classes are put behind the worst of them, at twice its residual.

    A code of zeros (alpha too large, a sample unlike all atoms) has the same residual for every
    class. Such a sample gets the class of the atom (or landmark) nearest to it in H, each class is
    scored by its nearest one, with weight one, in place of its part of the code, and a
    ConvergenceWarning says how many they are. :meth:`concentration` is zero for them.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelcoding import KernelLLC, ResidualClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = ResidualClassifier(KernelLLC(n_neighbors=20)).fit(X[:1000], y[:1000])
    >>> classifier.score(X[1000:], y[1000:]) > 0.95
    True

    Kernel collaborative representation:

    >>> from kernelcoding import KernelCoder, constraints, priors
    >>> ridge = KernelCoder(prior=priors.Ridge(), constraint=constraints.Free(), alpha=0.01)
    >>> crc = ResidualClassifier(ridge.set_params(kernel="rbf", kernel__gamma="median"))
    >>> crc.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.95
    True
    """

    classes_: NDArray
    coder_: CodingTransformer
    atom_classes_: NDArray
    landmark_classes_: NDArray
    # As in models of files from before these could be given.
    atom_labels: ArrayLike | None = None
    landmark_labels: ArrayLike | None = None

    def __init__(
        self,
        coder: CodingTransformer | None = None,
        atom_labels: ArrayLike | None = None,
        landmark_labels: ArrayLike | None = None,
    ) -> None:
        self.coder = coder
        self.atom_labels = atom_labels
        self.landmark_labels = landmark_labels

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the coder and remember the labels of its atoms.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), (n_samples, p, q) or (n_samples, n_samples)
            Samples as the coder wants them. Samples of Dask stay where they are, for coders that
            learn from them (``KernelDictionaryLearning(n_landmarks=...)``): only the landmarks and
            200 samples for probabilities are fetched.
        y : array-like of shape (n_samples,), or labels of Dask
            Labels of any kind; a single class is accepted and always predicted.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        coder = given_or_sparse(self.coder)
        _require_source_of_codes(coder)
        far = self._samples_far_away(coder, X)
        if far is not None:
            X, y = cast(NDArray, far), cast(NDArray, at_hand(y, far))
        y = one_label_each(self, sequence_of(X), y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        self.coder_ = clone(coder)
        frozen = self.coder_ is coder  # FrozenEstimator: fitted before, to other samples perhaps
        elsewhere = frozen or isinstance(getattr(coder, "atoms", None), Dictionary)
        self.coder_.fit(X, y)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.coder_, name):
                setattr(self, name, getattr(self.coder_, name))
        given = (self.atom_labels, self.landmark_labels)
        carried = carried_labels(self.coder_, X, self.classes_, numbers, given, elsewhere)
        self._take(carried)
        samples = self.coder_._validate_query(X) if far is None else cast(NDArray, far)
        self._calibration = ResidualCalibration.of(
            samples, numbers, carried.samples, len(self.classes_)
        )
        return self

    def _samples_far_away(self, coder: CodingTransformer, X: object) -> Blocks | None:
        """Samples of Dask as blocks; None: in memory. ValueError if the coder needs them here."""
        if not (isinstance(coder, BaseDictionaryLearning) and coder._learns_far and is_lazy(X)):
            refuse_lazy(self, X, training=True)
            return None
        from ..distributed.samples import DaskSamples

        return DaskSamples(X)

    def _take(self, carried: CarriedLabels) -> None:
        """Remember whose labels decide."""
        for name in ("atom_classes_", "landmark_classes_"):
            if name in vars(self):
                delattr(self, name)
        setattr(
            self,
            "landmark_classes_" if carried.of_landmarks else "atom_classes_",
            carried.classes,
        )
        self._rule = ClassResiduals(
            self.coder_.dictionary_, carried.classes, len(self.classes_), carried.of_landmarks
        )

    @over_blocks(class_scores)
    def decision_function(self, X: ArrayLike) -> NDArray:
        """Negative residuals: the larger, the better the class explains the sample.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`.

        Returns
        -------
        scores : array of shape (n, n_classes), or (n,) for two classes
            With two classes, the score of the second minus that of the first. A class without
            a part in the code is never the best; where the code is all zero, a class without
            atoms scores minus infinity.
        """
        scores = -self._residuals(X, self._codes(X), stacklevel=5)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @over_blocks(one_label)
    def predict(self, X: ArrayLike) -> NDArray:
        """The class of smallest residual.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`.

        Returns
        -------
        labels : array of shape (n,)
            One of ``classes_`` each.
        """
        residuals = self._residuals(X, self._codes(X), stacklevel=5)
        return self.classes_[residuals.argmin(axis=1)]

    @over_blocks(class_probabilities, before=_calibrate)
    def predict_proba(self, X: ArrayLike) -> NDArray:
        r"""Probabilities of the classes, in the order of the scores.

        .. math:: p_s(x) \propto \exp(-\tau\,\varepsilon_s(x))

        with one temperature for all samples and classes, which makes the labels of (at most 200)
        training samples most likely. They are coded without themselves: in five folds, without the
        atoms that they are; where landmarks carry the labels, the sample's own weight is left out.
        It is found when probabilities are first asked for.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`.

        Returns
        -------
        probabilities : array of shape (n, n_classes)
            Rows sum to one.
        """
        residuals = self._residuals(X, self._codes(X), stacklevel=5)
        rule, coding = self._residual_rule(), self.coder_._coding()
        return self._kept_calibration(rule).probabilities(residuals, rule, coding)

    @over_blocks(one_label)
    def predict_from_codes(self, X: ArrayLike, codes: Codes) -> NDArray:
        """The class of smallest residual for samples whose codes are known already.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`.
        codes : array or CSR array of shape (n, n_atoms)
            Their codes.

        Returns
        -------
        labels : array of shape (n,)
            One of ``classes_`` each.
        """
        check_is_fitted(self)
        return self.classes_[self._residuals(X, codes, stacklevel=5).argmin(axis=1)]

    @over_blocks(one_number)
    def concentration(self, X: ArrayLike) -> NDArray:
        r"""Sparsity concentration index, a rejection score in [0, 1].

        .. math:: \mathrm{SCI}(y) = \frac{S \max_s \|y_{(s)}\|_1 / \|y\|_1 - 1}{S - 1}

        One: a single class explains the sample. Zero: all classes do alike; the sample may
        belong to none. A code of zeros scores zero, a single class scores one. Where landmarks
        carry the labels, :math:`\beta` takes the place of y.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`.

        Returns
        -------
        index : array of shape (n,)
            Reject where it is small.
        """
        n_classes = len(self.classes_)
        per_class = self._residual_rule().masses(self._codes(X))
        total = per_class.sum(axis=1)
        if n_classes == 1:
            return np.where(total > 0, 1.0, 0.0)
        share = np.divide(
            per_class.max(axis=1), total, out=np.full(len(total), 1.0 / n_classes), where=total > 0
        )
        return (n_classes * share - 1.0) / (n_classes - 1.0)

    def _residual_rule(self) -> ClassResiduals:
        check_is_fitted(self)
        if "_rule" in vars(self):
            return self._rule
        # A model file from before learned dictionaries had the rule.
        return ClassResiduals(
            self.coder_.dictionary_, self.atom_classes_, len(self.classes_), False
        )

    def _kept_calibration(self, rule: ClassResiduals) -> ResidualCalibration:
        if "_calibration" in vars(self):
            return self._calibration
        # A model file from before there were probabilities: atoms are training samples there.
        atoms = rule.dictionary
        assert isinstance(atoms, PointDictionary)
        every = np.arange(atoms.n_atoms)
        return ResidualCalibration.of(atoms.points, rule.classes, every, rule.n_classes)

    def _codes(self, X: ArrayLike) -> Codes:
        """Codes as ``transform`` of the coder gives them; zeros are reported by the rule."""
        check_is_fitted(self)
        X = self.coder_._validate_query(X)
        formulation, options = self.coder_._coding()
        compact = replace(options, sparse_output=options.sparse_output or formulation.is_sparse)
        dictionary = self.coder_.dictionary_
        return code_samples(formulation, compact, dictionary, X, stacklevel=7, tell_zeros=False)

    def _residuals(self, X: ArrayLike, codes: Codes, stacklevel: int) -> NDArray:
        """Residual of each class up to k(x, x), (n, n_classes)."""
        rule = self._residual_rule()
        X = self.coder_._validate_query(X)
        codes = check_codes(codes, self.coder_.dictionary_.n_atoms, len(X))
        residuals, silent = rule.vote(X, codes)
        if silent.any():
            self._warn_silent(X, np.flatnonzero(silent), stacklevel)
        return residuals

    def _warn_silent(self, X: NDArray, silent: NDArray, stacklevel: int) -> None:
        """Say how many codes are all zero, and what to do."""
        formulation, _ = self.coder_._coding()
        blocks = problems(self.coder_.dictionary_, X[silent])
        why = why_zero((formulation, problem) for _, problem in blocks)
        carrier = "landmark" if self._residual_rule().of_landmarks else "atom"
        warnings.warn(
            f"{len(silent)} of {len(X)} codes are all zero, and the residuals of all classes are "
            f"the same: these samples get the class of the nearest {carrier}. The reason: {why}",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        coder = given_or_sparse(self.coder)
        if hasattr(coder, "__sklearn_tags__"):  # anything else is reported by fit
            tags.input_tags = coder.__sklearn_tags__().input_tags
        return tags


def _require_source_of_codes(given: object) -> None:
    """Refuse what is neither a coder nor learns a dictionary for one: ValueError."""
    if isinstance(given, type) or not callable(getattr(given, "_coding", None)):
        require_coder(given)
