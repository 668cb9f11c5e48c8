"""Label-consistent and discriminative K-SVD, linear and in kernel space."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...dictionary_learning.loop import Progress
from ...kernels.names import KernelLike
from ...validation import check_positive
from .ksvd import BaseStackedKSVD


class LabelConsistentKSVD(BaseStackedKSVD):
    r"""Learn dictionary and linear classifier by one K-SVD (LC-KSVD, kernel LC-KSVD).

    .. math:: \min_{D, T, W, Y}\ \|\Phi(X) - \Phi(D) Y\|^2 + \alpha\kappa\,\|Q - T Y\|^2
              + \beta\kappa\,\|H - W Y\|^2, \qquad \|y_i\|_0 \le n

    H holds the labels of the samples, one-hot, and :math:`Q_{ki} = 1` where atom k was learned for
    the class of sample i. :math:`\kappa` is the mean of :math:`k(x_i, x_i)`, so that
    weights do not depend on the scale of the samples. A new sample is coded by orthogonal matching
    pursuit without its label, and the class with the largest :math:`W y` wins.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A name, a kernel of ``kernelcoding.kernels``, or a function. ``"linear"`` gives the
        published method, for many features of which classes are nearly subspaces, as faces are.
    n_atoms : int or None, default=None
        Number of atoms, shared equally between the classes as far as these have samples: a class
        never gets more atoms than it has samples, others take over the rest. None: 100, or the
        number of samples where that is less, but at least one per class.
    n_nonzero : int or None, default=None
        The most atoms a code may use. None: 3 of 10 atoms, but no more than a twelfth of the
        dimension that samples span in H, at least 5 and at most 30 (``n_nonzero_``). With few,
        codes of many classes or of histograms say little; with many in few dimensions, atoms of
        all classes explain a sample together.
    label_weight : float, default=1e-4
        :math:`\alpha`, the weight of label consistency; without it, see
        :class:`DiscriminativeKSVD`.
    classifier_weight : float, default=1e-3
        :math:`\beta`, the weight of the classifier's error. Zero: LC-KSVD1, the classifier is a
        ridge regression on the codes, after learning.
    update : {"aksvd", "ksvd"}, default="aksvd"
        Approximate K-SVD (one power step per atom, as in the authors' scripts) or exact K-SVD.
    max_iter : int, default=20
        Largest number of rounds of codes and atoms.
    init_iter : int, default=1
        Largest number of rounds of K-SVD on each class alone, which give the first dictionary. The
        authors take 20; where codes may use all atoms of a class, this turns samples into an
        arbitrary basis of their span and costs accuracy.
    tol : float, default=1e-4
        Learning ends when a round lowers the objective by less than this fraction.
    callback : callable, default=None
        Called after every half-step with an object that has ``iteration``, ``step``,
        ``objective`` and ``seconds``; a true answer ends learning.
    verbose : int, default=0
        1 shows a bar of rounds (lines, without tqdm), 2 a line per half-step.
    n_jobs : int, default=None
        Threads for coding.
    random_state : int, RandomState or None, default=0
        For the samples that classes' dictionaries start from.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    dictionary_ : Dictionary
        The atoms, of unit norm.
    classifier_ : LinearClassifier
        W as ``weights`` of shape (n_atoms, n_classes), without intercepts.
    atom_classes_ : array of shape (n_atoms,)
        Index into ``classes_`` of the class each atom was started for.
    n_atoms_ : int
        Number of atoms that were learned.
    n_nonzero_ : int
        The most atoms a code uses.
    coder_ : KernelMatchingPursuit
        Fitted with the dictionary.
    kernel_ : Kernel
        Resolved on the training data.
    objective_history_ : array of shape (n_half_steps,)
        Half the objective above, a mean over samples, after every half-step: first codes, then
        atoms, codes, atoms, codes, ... It never rises.
    objective_steps_ : array of str of shape (n_half_steps,)
        Which half-step each of these was after: "codes", "atoms".
    n_iter_ : int
        Rounds.
    n_replaced_ : int
        Atoms replaced because no sample used them or another atom equalled them.
    status_ : str
        "converged", "max_iter", "callback" or "interrupted".

    See Also
    --------
    DiscriminativeKSVD : Without the label-consistency term.

    Notes
    -----
    Jiang, Lin, Davis (2013). Started as published, T repeats the rows of W once for every atom of
    the class, and both label terms are one with weight :math:`\alpha p + \beta` for p atoms per
    class (Kviatkovsky et al., 2017): LC-KSVD is D-KSVD with a larger weight, and costs no more
    here.

    The authors' scripts state square roots of weights, 4 and 2 for Extended YaleB, and do not
    normalise features: with a mean squared norm of 4e6, that of random faces, they are 4e-6 and
    1e-6 here. With weights near one, labels choose the codes of training samples; new samples have
    no label, and their codes are then of little use to the classifier.

    Where the classifier is a ridge regression, it is one on codes without labels, as new samples
    have them, and with :math:`\kappa` as its ridge.

    Learning needs the kernel matrix of all samples and its eigenvectors.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from kernelcoding import LabelConsistentKSVD
    >>> X, y = load_digits(return_X_y=True)
    >>> X = normalize(X)
    >>> classifier = LabelConsistentKSVD("linear", n_atoms=100, n_nonzero=5, max_iter=5)
    >>> _ = classifier.fit(X[:1000], y[:1000])
    >>> classifier.score(X[1000:], y[1000:]) > 0.9
    True
    """

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        n_atoms: int | None = None,
        n_nonzero: int | None = None,
        label_weight: float = 1e-4,
        classifier_weight: float = 1e-3,
        update: str = "aksvd",
        max_iter: int = 20,
        init_iter: int = 1,
        tol: float = 1e-4,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.kernel = kernel
        self.n_atoms = n_atoms
        self.n_nonzero = n_nonzero
        self.label_weight = label_weight
        self.classifier_weight = classifier_weight
        self.update = update
        self.max_iter = max_iter
        self.init_iter = init_iter
        self.tol = tol
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if self.label_weight == 0:
            raise ValueError(
                "label_weight=0 leaves out label consistency: that is DiscriminativeKSVD."
            )
        check_positive("label_weight", self.label_weight)
        super()._check_parameters()


class DiscriminativeKSVD(BaseStackedKSVD):
    r"""Learn dictionary and linear classifier by one K-SVD, without label consistency (D-KSVD).

    .. math:: \min_{D, W, Y}\ \|\Phi(X) - \Phi(D) Y\|^2 + \beta\kappa\,\|H - W Y\|^2,
              \qquad \|y_i\|_0 \le n

    Parameters
    ----------
    kernel, n_atoms, n_nonzero, update, max_iter, init_iter, tol : various
        As in :class:`LabelConsistentKSVD`.
    callback, verbose, n_jobs, random_state : various
        As in :class:`LabelConsistentKSVD`.
    classifier_weight : float, default=1e-3
        :math:`\beta`, the weight of the classifier's error, in units of :math:`\kappa`, the mean
        of :math:`k(x_i, x_i)`. Zero: the classifier is a ridge regression on the codes of K-SVD.

    Attributes
    ----------
    classes_, dictionary_, classifier_, atom_classes_, n_atoms_, n_nonzero_ : various
        As in :class:`LabelConsistentKSVD`.
    coder_, kernel_, objective_history_, n_iter_, n_replaced_, status_ : various
        As in :class:`LabelConsistentKSVD`.

    See Also
    --------
    LabelConsistentKSVD : With the label-consistency term.

    Notes
    -----
    Zhang, Li (2010), started from K-SVD on each class as LC-KSVD is.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelcoding import DiscriminativeKSVD
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = DiscriminativeKSVD(n_atoms=100, max_iter=5).fit(X[:1000], y[:1000])
    >>> classifier.score(X[1000:], y[1000:]) > 0.9
    True
    """

    label_weight = 0.0

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        n_atoms: int | None = None,
        n_nonzero: int | None = None,
        classifier_weight: float = 1e-3,
        update: str = "aksvd",
        max_iter: int = 20,
        init_iter: int = 1,
        tol: float = 1e-4,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.kernel = kernel
        self.n_atoms = n_atoms
        self.n_nonzero = n_nonzero
        self.classifier_weight = classifier_weight
        self.update = update
        self.max_iter = max_iter
        self.init_iter = init_iter
        self.tol = tol
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
