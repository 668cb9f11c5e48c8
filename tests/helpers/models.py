"""A fitted model of every kind, and everything that it can say about samples."""

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

import kernelcoding as kc
from kernelcoding import aggregation, images
from kernelcoding import kernels as ks

X, Y = load_digits(return_X_y=True)
X, Q, Y = normalize(X[:60]), normalize(X[60:75]), Y[:60]
NAMES = np.array(["nil", "one, or so", 'the "two"'])[Y % 3]
FEW = {"max_iter": 3}


def several():
    """Labels of several kinds, none excluding another."""
    return np.stack([Y % 2 == 0, Y % 3 == 0, Y > 4], axis=1).astype(int)


def covariances(count, seed):
    parts = np.random.default_rng(seed).normal(size=(count, 3, 8))
    return parts @ parts.transpose(0, 2, 1) / 8


def sets(count, seed):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(12, 4)) for _ in range(count)]


def gram(A, B):
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(-1))


def two_kernels():
    views = ks.View([*range(32)], ks.Gaussian()), ks.View([*range(32, 64)], ks.Linear())
    return ks.MultipleKernel(views)


def supervised(classifier, **changes):
    given = {"n_atoms": 9, **FEW, **changes}
    return kc.SupervisedKernelCoding(classifier=classifier, **given)


def learned(**changes):
    return kc.KernelDictionaryLearning(n_atoms=8, **{**FEW, **changes})


CODERS = {
    "sparse": kc.KernelSparseCoder(),
    "sparse output": kc.KernelSparseCoder(sparse_output=True),
    "positive": kc.KernelSparseCoder(positive=True, kernel="linear"),
    "groups": kc.KernelSparseCoder(groups=np.arange(60) % 6),
    "words": kc.KernelBagOfWords(),
    "local": kc.KernelLLC(),
    "coordinates": kc.KernelLCC(),
    "pursuit": kc.KernelMatchingPursuit(sparse_output=True),
    "general": kc.KernelCoder(prior=kc.priors.ElasticNet(), constraint=kc.constraints.Simplex()),
    "chosen atoms": kc.KernelSparseCoder(atoms=7, random_state=0),
    "own width": kc.KernelSparseCoder(learn_kernel=True),
    "settings": kc.KernelSparseCoder(learn_kernel=kc.KernelLearning(max_iter=2)),
    "algebra": kc.KernelLLC(kernel=0.5 * ks.Gaussian() + ks.Linear() * ks.Polynomial(degree=2)),
    "centred": kc.KernelSparseCoder(kernel=ks.Centered(ks.ChiSquared(gamma=0.5))),
    "normalized": kc.KernelLLC(kernel=ks.Normalized(ks.ChiSquared(gamma=0.5))),
    "views": kc.KernelSparseCoder(kernel=two_kernels()),
    "outliers": kc.KernelOutlierDetector(kc.KernelLLC(n_neighbors=4), contamination=0.1),
    "landmark map": kc.LandmarkMap(n_landmarks=9, landmarks="greedy"),
}


def fitted():
    """Name -> (fitted model, samples to try it on)."""
    models = {name: (coder.fit(X), Q) for name, coder in CODERS.items()}
    single, other = X.astype(np.float32), Q.astype(np.float32)
    rows = [gram(X, X), gram(Q, X)]
    spd = covariances(30, 0), covariances(6, 1)
    on_digits = {
        "dictionary": learned(),
        "landmarks": learned(n_landmarks=20),
        "kernel weights": learned(
            coder=kc.KernelSparseCoder(kernel=two_kernels()), learn_kernel=True
        ),
        "linear": supervised("linear"),
        "bilinear": supervised("bilinear"),
        "margin": supervised("max-margin"),
        "task-driven": supervised("logistic", training="task-driven"),
        "lc-ksvd": kc.LabelConsistentKSVD("linear", n_atoms=12, max_iter=2),
        "d-ksvd": kc.DiscriminativeKSVD(n_atoms=12, kernel="rbf", max_iter=2),
        "pairs": kc.KernelDictionaryPairLearning("rbf", n_atoms=12, max_iter=2),
        "pairs of landmarks": kc.KernelDictionaryPairLearning(n_atoms=9, n_landmarks=20),
        "residual": kc.ResidualClassifier(kc.KernelLLC()),
        "class-wise": learned(per_class=True),
        "residual of learned": kc.ResidualClassifier(learned()),
        "residual of class-wise": kc.ResidualClassifier(learned(per_class=True)),
    }
    models |= {name: (model.fit(X, NAMES), Q) for name, model in on_digits.items()}
    models |= {
        "object labels": (kc.ResidualClassifier().fit(X, NAMES.astype(object)), Q),
        "several labels": (supervised("linear").fit(X, several()), Q),
        "several bilinear": (supervised("bilinear").fit(X, several()), Q),
        "single precision": (kc.KernelSparseCoder().fit(single), other),
        "single learned": (learned().fit(single), other),
        "precomputed": (kc.KernelSparseCoder(kernel="precomputed").fit(rows[0]), rows[1]),
        "covariances": (kc.KernelLLC(kernel="log-euclidean").fit(spd[0]), spd[1]),
        "stein": (kc.KernelSparseCoder(kernel="stein").fit(spd[0]), spd[1]),
        "vlad": (aggregation.VLAD(n_words=3, random_state=0).fit(sets(5, 0)), sets(3, 1)),
        "kernel vlad": (
            aggregation.KernelVLAD(n_words=3, n_landmarks=8, random_state=0).fit(sets(5, 0)),
            sets(3, 1),
        ),
        "fisher": (
            aggregation.FisherVector(n_components=2, n_pca=3, random_state=0).fit(sets(5, 0)),
            sets(3, 1),
        ),
        "vlad of axes": (
            aggregation.VLAD(n_words=3, n_pca=2, random_state=0).fit(sets(5, 0)),
            sets(3, 1),
        ),
        "kernel fisher": (
            aggregation.KernelFisherVector(n_components=2, n_axes=3, random_state=0).fit(
                sets(5, 0)
            ),
            sets(3, 1),
        ),
        "whitened words": (
            images.VisualWords(n_words=5, n_components=2, random_state=0).fit(sets(5, 0)),
            sets(3, 1),
        ),
        "faces": (images.RandomFaces(n_components=5).fit(X.reshape(-1, 8, 8)), Q.reshape(-1, 8, 8)),
    }
    return models


ANSWERS = (
    *("transform", "predict", "decision_function", "predict_proba", "reconstruction_error"),
    "score_samples",
)


def answers(model, samples):
    """Everything a model can say about samples, as dense arrays."""
    found = {}
    for name in ANSWERS:
        if hasattr(model, name):
            said = getattr(model, name)(samples)
            found[name] = said.toarray() if sparse.issparse(said) else np.asarray(said)
    return found
