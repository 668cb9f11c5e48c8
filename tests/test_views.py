"""Views of different kinds: what a kernel of them is worth, and that everything works with it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline

import kernelcoding as kc
from helpers.every_coder import EVERY_CODER
from helpers.several_views import LABELS, frame_of, kernel_of_views, part, several_views
from kernelcoding import Views
from kernelcoding.kernels import (
    ChiSquared,
    Fixed,
    Gaussian,
    Linear,
    LogEuclideanGaussian,
    MultipleKernel,
    Precomputed,
    ProjectionGaussian,
    View,
)

DATA_HOME = Path(os.environ.get("KERNELCODING_DATA", Path(__file__).parents[2] / "shared" / "data"))
TRAIN, TEST = np.arange(0, 60, 2), np.arange(1, 60, 2)


def by_hand(kernel, X, Z):
    """The kernel's value of two dictionaries of stacks, member by member."""
    weights = kernel.current_weights
    values = [
        Z["gram_rows"]
        if child.columns == "gram"
        else child.child(X[child.columns], Z[child.columns])
        for child in kernel.kernels
    ]
    return sum(weight * value for weight, value in zip(weights, values, strict=True))


@pytest.fixture
def views():
    return several_views()


# What it is -----------------------------------------------------------------------------------


def test_the_kernel_is_the_weighted_sum_over_views(views):
    coder = kc.KernelSparseCoder(kernel_of_views()).fit(part(views, TRAIN, TRAIN))
    queries, atoms = part(views, TEST, TRAIN), part(views, TRAIN, TRAIN)
    truth = by_hand(coder.kernel_, queries, atoms | {"gram_rows": queries["gram"]})
    assert_allclose(coder.dictionary_.cross(Views(queries)), truth, rtol=1e-12)
    gram = by_hand(coder.kernel_, atoms, atoms | {"gram_rows": atoms["gram"]})
    assert_allclose(coder.dictionary_.gram, gram, rtol=1e-12)


def test_widths_are_those_of_each_view(views):
    kernel = kc.KernelSparseCoder(kernel_of_views()).fit(views).kernel_
    alone = [
        LogEuclideanGaussian("median").resolve(views["covariance"]),
        ChiSquared("median").resolve(views["words"]),
        ProjectionGaussian("median").resolve(views["subspace"]),
    ]
    for view, truth in zip(kernel.kernels, alone, strict=False):
        assert view.kernel.gamma == truth.gamma


def test_samples_come_as_dict_tuple_frame_or_views(views):
    pytest.importorskip("pandas")
    coder = kc.KernelSparseCoder(kernel_of_views())
    by_position = kc.KernelSparseCoder(kernel_of_views(positions=True))
    truth = coder.fit(views).transform(views)
    assert np.ptp(truth) > 0
    for samples in (frame_of(views), Views(views, precomputed=["gram"])):
        assert_array_equal(clone(coder).fit(samples).transform(samples), truth)
        assert_array_equal(coder.transform(samples), truth)  # fitted to a dict
    stacks = tuple(views.values())
    assert_array_equal(by_position.fit(stacks).transform(stacks), truth)


def test_columns_of_numbers_beside_matrices(views):
    pytest.importorskip("pandas")
    frame = frame_of({"covariance": views["covariance"]})
    frame["a"], frame["b"] = views["words"][:, 0], views["words"][:, 1].astype(int)
    frame["remark"] = "not looked at"
    kernel = (
        View("covariance", LogEuclideanGaussian())
        + View(["b", "a"], Gaussian())
        + View("a", Linear())
    )
    numbers = views["words"][:, :2]
    truth = (
        LogEuclideanGaussian()(views["covariance"])
        + Gaussian()(numbers[:, ::-1])
        + numbers[:, :1] @ numbers[:, :1].T
    )
    assert_allclose(kernel(frame), truth, rtol=1e-12)
    coder = kc.KernelSparseCoder(kernel).fit(frame)
    assert_allclose(coder.dictionary_.gram, truth, rtol=1e-12)
    assert list(coder.feature_names_in_) == ["covariance", "a", "b", "remark"]
    assert coder.transform(frame[["a", "b", "covariance"]]).shape == (60, 60)


def test_one_column_of_numbers_by_name_or_position(rng):
    pandas = pytest.importorskip("pandas")
    X = rng.normal(size=(20, 3))
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    truth = Gaussian(0.5)(X[:, [1]])
    assert_allclose(View(1, Gaussian(0.5))(X), truth)
    assert_allclose(View("b", Gaussian(0.5))(frame), truth)
    coder = kc.KernelSparseCoder(View("b", Gaussian(0.5))).fit(frame)
    assert coder.kernel_.columns == 1
    assert_allclose(coder.dictionary_.gram, truth)


def test_a_view_of_texts():
    def same_words(X, Z):
        return np.array([[len(set(x.split()) & set(z.split())) for z in Z] for x in X], float)

    samples = {"text": ["a b c", "b c d", "x y", "y z"], "size": [1.0, 2.0, 3.0, 4.0]}
    kernel = View("text", kc.kernels.CallableKernel(same_words)) + View("size", Linear())
    truth = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]] + np.outer(*[range(1, 5)] * 2)
    assert_array_equal(kernel(samples), truth)
    coder = kc.KernelMatchingPursuit(kernel, n_nonzero=1).fit(samples)
    assert_array_equal(coder.dictionary_.gram, truth)


# Everything works with it ---------------------------------------------------------------------


@EVERY_CODER
def test_every_coder(coder, views):
    """Views code as the Gram matrix of their kernel does."""
    coder = clone(coder).set_params(kernel=kernel_of_views(), learn_kernel=False)
    train, test = part(views, TRAIN, TRAIN), part(views, TEST, TRAIN)
    fitted = coder.fit(train, LABELS[TRAIN])
    codes = fitted.transform(test)
    fixed = [k.self_similarity for k in (fitted.kernel_.kernels[3].kernel,)]
    assert fixed == [None]
    matrix = clone(coder).set_params(kernel=Precomputed())
    matrix.fit(fitted.dictionary_.gram, LABELS[TRAIN])
    truth = matrix.transform(fitted.dictionary_.cross(Views(test)))
    codes, truth = (c.toarray() if hasattr(c, "toarray") else c for c in (codes, truth))
    assert_allclose(codes, truth, atol=2e-5)
    assert np.isfinite(fitted.reconstruction_error(test)).all()
    assert fitted.certify(test, codes).shape == (30,)


@pytest.mark.parametrize("init", ["k-means++", "random", "leverage", "kernel-k-means"])
def test_chosen_atoms(init, views):
    coder = kc.KernelSparseCoder(kernel_of_views(), atoms=7, init=init, random_state=0).fit(views)
    gram = kc.KernelSparseCoder(coder.kernel_, alpha=0.01).fit(views).dictionary_.gram
    matrix = kc.KernelSparseCoder("precomputed", atoms=7, init=init, random_state=0).fit(gram)
    assert_allclose(coder.dictionary_.gram, matrix.dictionary_.gram, rtol=1e-9)


def test_given_atoms_are_views(views):
    views = several_views(gram=False)
    atoms = part(views, TRAIN, TRAIN)
    coder = kc.KernelSparseCoder(kernel_of_views(gram=False), atoms=atoms).fit(views)
    assert coder.transform(views).shape == (60, 30)
    assert_allclose(coder.dictionary_.cross(Views(atoms)), coder.dictionary_.gram)
    narrow = atoms | {"words": atoms["words"][:, :2]}
    with pytest.raises(ValueError, match=r"In the view 'words', atoms have shape \(2,\) each"):
        kc.KernelSparseCoder(kernel_of_views(gram=False), atoms=narrow).fit(views)


LEARNING = [
    {},
    {"n_landmarks": 20},
    {"init": "kernel-k-means"},
    {"update": "pinv"},
    {"update": "coordinate"},
    {"coder": kc.KernelBagOfWords(), "update": "gradient"},
    {"coder": kc.KernelMatchingPursuit(n_nonzero=2), "update": "ksvd"},
    {"coder": kc.KernelMatchingPursuit(n_nonzero=2), "update": "aksvd"},
]


@pytest.mark.parametrize("changes", LEARNING, ids=str)
def test_dictionary_learning_as_with_the_gram_matrix(changes, views):
    settings = {"n_atoms": 6, "max_iter": 3, "random_state": 0} | changes
    coder = settings.pop("coder", kc.KernelSparseCoder(alpha=0.05))
    coder = clone(coder).set_params(kernel=kernel_of_views())
    learned = kc.KernelDictionaryLearning(coder, **settings).fit(views, LABELS)
    gram = kc.KernelSparseCoder(learned.kernel_).fit(views).dictionary_.gram
    coder = clone(coder).set_params(kernel="precomputed")
    truth = kc.KernelDictionaryLearning(coder, **settings).fit(gram, LABELS)
    assert_allclose(learned.objective_history_, truth.objective_history_, rtol=1e-7)
    assert learned.objective_history_[-1] < learned.objective_history_[0]
    assert_allclose(learned.transform(views), truth.transform(gram), atol=1e-4)


def test_batches_of_views():
    views = several_views(gram=False)
    coder = kc.KernelSparseCoder(kernel_of_views(gram=False), alpha=0.05)
    learned = kc.KernelDictionaryLearning(coder, n_atoms=5)
    for rows in (TRAIN, TEST):
        learned.partial_fit(part(views, rows, rows))
    assert learned.transform(views).shape == (60, 5)
    assert isinstance(learned.preimages(), Views)
    with pytest.raises(ValueError, match="partial_fit needs samples"):
        kc.KernelDictionaryLearning(coder.set_params(kernel=kernel_of_views())).partial_fit(views)


@pytest.mark.parametrize("settings", [True, kc.KernelLearning(weights="alignment")], ids=str)
def test_kernel_learning_of_weights_and_widths(settings, views):
    coder = kc.KernelSparseCoder(kernel_of_views(), alpha=0.05, learn_kernel=settings)
    coder.fit(views, None if settings is True else LABELS)  # labels may veto widths
    start = kc.KernelSparseCoder(kernel_of_views()).fit(views).kernel_
    assert coder.kernel_.weights_.shape == (4,)
    assert np.ptp(coder.kernel_.weights_) > 0
    moved = [abs(np.log(a.kernel.gamma / b.kernel.gamma)) > 0.01 for a, b in
             zip(coder.kernel_.kernels[:3], start.kernels, strict=False)]  # fmt: skip
    if settings is True:
        assert all(moved)
    else:
        matrices = [child(Views(views)) for child in start.children]
        truth = kc.kernel_learning.alignment.aligned_weights(matrices, LABELS)
        assert_allclose(coder.kernel_.weights_ / coder.kernel_.weights_.sum(), truth, rtol=1e-6)


CLASSIFIERS = [
    kc.ResidualClassifier(kc.KernelSparseCoder(alpha=0.05)),
    kc.SupervisedKernelCoding(kc.KernelSparseCoder(alpha=0.05), n_atoms=9, max_iter=2),
    kc.LabelConsistentKSVD("linear", n_atoms=9, max_iter=2),
    kc.KernelDictionaryPairLearning("linear", n_atoms=9),
    make_pipeline(kc.KernelSparseCoder(alpha=0.05), LogisticRegression()),
]


def with_kernel(model, kernel):
    names = [name for name in model.get_params() if name.split("__")[-1] == "kernel"]
    return clone(model).set_params(**{names[0]: kernel})


@pytest.mark.parametrize("model", CLASSIFIERS, ids=[type(m).__name__ for m in CLASSIFIERS])
@pytest.mark.parametrize("gram", [True, False], ids=["gram", "no gram"])
def test_cross_validation(model, gram):
    """The same as choosing rows, and columns of the Gram matrix, by hand."""
    pytest.importorskip("pandas")
    views, model = several_views(gram), with_kernel(model, kernel_of_views(gram))
    folds = StratifiedKFold(3)
    truth = np.empty(60, dtype=int)
    for train, test in folds.split(LABELS, LABELS):
        fitted = clone(model).fit(part(views, train, train), LABELS[train])
        truth[test] = fitted.predict(part(views, test, train))
    X = Views(views, precomputed=["gram"] if gram else [])
    assert_array_equal(cross_val_predict(model, X, LABELS, cv=folds), truth)
    assert np.mean(truth == LABELS) > 0.5
    if not gram:
        frame = frame_of(views)
        assert_array_equal(cross_val_predict(model, frame, LABELS, cv=folds), truth)


def test_grid_search_reaches_every_member(views):
    X = Views(views, precomputed=["gram"])
    model = kc.ResidualClassifier(kc.KernelSparseCoder(kernel_of_views(), alpha=0.05))
    grid = {
        "coder__kernel__0__kernel__gamma": [0.1, "median"],
        "coder__kernel__1__kernel__gamma": [1e-3, "median"],  # a kernel given by name
        "coder__kernel__weights": [None, [1.0, 0.0, 0.0, 0.0]],
    }
    search = GridSearchCV(model, grid, cv=3).fit(X, LABELS)
    assert len(np.unique(search.cv_results_["mean_test_score"])) > 1
    scores = cross_val_score(clone(model).set_params(**search.best_params_), X, LABELS, cv=3)
    assert_allclose(scores.mean(), search.best_score_)


def test_saved_models_code_alike(views, tmp_path):
    pytest.importorskip("pandas")
    train, test = part(views, TRAIN, TRAIN), part(views, TEST, TRAIN)
    models = [
        kc.KernelSparseCoder(kernel_of_views()),
        kc.KernelDictionaryLearning(kc.KernelSparseCoder(kernel_of_views()), n_atoms=5, max_iter=2),
        make_pipeline(kc.KernelLLC(kernel_of_views()), LogisticRegression()),
        kc.ResidualClassifier(kc.KernelLLC(kernel_of_views())),
    ]
    for model in models:
        model.fit(train, LABELS[TRAIN])
        kc.save(model, tmp_path / "model.kc")
        loaded = kc.load(tmp_path / "model.kc")
        method = "transform" if hasattr(model, "transform") else "predict"
        assert_array_equal(getattr(loaded, method)(test), getattr(model, method)(test))
        assert_array_equal(getattr(loaded, method)(frame_of(test)), getattr(model, method)(test))


def test_single_precision():
    views = {name: stack.astype(np.float32) for name, stack in several_views(gram=False).items()}
    coder = kc.KernelSparseCoder(kernel_of_views(gram=False)).fit(views)
    assert coder.transform(views).dtype == np.float32
    double = several_views(gram=False) | {"words": views["words"]}
    assert coder.transform(double).dtype == np.float64


def test_frames_of_codes_and_pictures(views):
    pandas = pytest.importorskip("pandas")
    coder = kc.KernelSparseCoder(kernel_of_views(), atoms=5, random_state=0).fit(views)
    plain = coder.transform(views)
    labelled = frame_of(views).set_index(pandas.Index([f"s{i}" for i in range(60)]))
    codes = coder.set_output(transform="pandas").transform(labelled)
    assert list(codes.index[:2]) == ["s0", "s1"]
    assert_array_equal(codes.to_numpy(), plain)
    pytest.importorskip("matplotlib")
    from kernelcoding.displays import CodeDisplay

    coder.set_output(transform="default")
    assert_array_equal(CodeDisplay.from_estimator(coder, views, index=7).code, plain[7])


def test_views_of_real_images():
    """Views aligned with the labels are as good as the best of them, and better than the rest."""
    pytest.importorskip("cv2")
    from kernelcoding.datasets import fetch_virus
    from kernelcoding.images import DenseRootSIFT, RegionCovariance
    from kernelcoding.images.reading import gray_of

    if not (DATA_HOME / "virus").is_dir():
        pytest.skip(f"The virus textures are not in {DATA_HOME}; set KERNELCODING_DATA")
    files, y = fetch_virus(DATA_HOME, download_if_missing=False, return_X_y=True)
    some = np.concatenate([np.flatnonzero(y == label)[:30] for label in range(6)])
    files, y = [files[i] for i in some], y[some]
    histograms = [np.histogram(gray_of(path), bins=32, range=(0, 1))[0] for path in files]
    gradients = DenseRootSIFT().transform(files)
    X = Views({
        "covariance": RegionCovariance().fit_transform(files),
        "grey": np.array(histograms, dtype=float),
        "gradients": np.array([record.descriptors.mean(axis=0) for record in gradients]),
    })  # fmt: skip
    views = [View("covariance", "log-euclidean"), View("grey", "chi2"), View("gradients", "rbf")]
    aligned = kc.KernelLearning(weights="alignment")
    together = MultipleKernel([Fixed(view) for view in views])
    coders = [kc.KernelSparseCoder(view) for view in views]
    coders += [kc.KernelSparseCoder(together, learn_kernel=aligned)]
    folds = StratifiedKFold(3)
    *alone, score = (
        cross_val_score(kc.ResidualClassifier(c), X, y, cv=folds).mean() for c in coders
    )
    assert score > max(alone) - 0.02
    assert score > sorted(alone)[1] + 0.1
