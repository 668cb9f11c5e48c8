"""Objects of scikit-learn from strangers: compiled code meets none whose parts do not fit."""

import copy
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import kernelcoding as kc
from helpers.model_files import forge, refused
from helpers.pipelines import estimators
from kernelcoding import kernels as ks
from kernelcoding.persistence import checks, scikit_learn

GONE = object()


@pytest.fixture(scope="module")
def models():
    return {name: model for name, (model, _) in estimators().items()}


@pytest.fixture
def refuse(tmp_path, monkeypatch):
    """Loading refuses a model with some attributes changed, that saving did not look at."""

    def refuse(model, match=None, **changes):
        model = copy.deepcopy(model)
        for name, value in changes.items():
            if value is GONE:
                delattr(model, name)
            else:
                setattr(model, name, value)
        with monkeypatch.context() as unwary:
            unwary.setattr(scikit_learn, "check", lambda name, value: None)
            kc.save(model, tmp_path / "model.kc")
        refused(tmp_path / "model.kc", match or "do not go together")

    return refuse


def variants(array):
    """Arrays of other sizes, shapes, types and kinds."""
    yield from (array[:-1], np.concatenate([array, array[-1:]]), array[None], array[:0])
    yield from (array.tolist(), None)
    for dtype in (np.float32, np.int64, complex, object, array.dtype.newbyteorder()):
        if np.dtype(dtype) != array.dtype:
            yield array.astype(dtype)


@pytest.mark.parametrize("name", checks.SVC_PARTS)
def test_incomplete_machines_are_refused(name, models, refuse):
    for kind in ("svc rbf 4", "sparse svc", "svc of a matrix"):
        refuse(models[kind], "not complete", **{name: GONE})


@pytest.mark.parametrize("name", ["support_", "_n_support", "_intercept_", "_dual_coef_"])
def test_machines_of_other_sizes_are_refused(name, models, refuse):
    for kind in ("svc rbf 2", "svc linear 4", "svc of a matrix", "svc with probabilities"):
        for other in variants(getattr(models[kind], name)):
            refuse(models[kind], **{name: other})


def test_machines_of_other_support_are_refused(models, refuse):
    model = models["svc rbf 4"]
    support, counts = model.support_, model._n_support
    refuse(model, support_=np.append(support[:-1], np.int32(60)))
    refuse(model, support_=np.append(support[:-1], np.int32(-1)))
    refuse(model, _n_support=counts + np.int32([1, 0, 0, 0]))
    refuse(model, _n_support=counts + np.int32([2**31 - 40, 0, 0, 0]))
    refuse(model, _n_support=counts - (counts[0] + 1) * np.int32([1, -1, 0, 0]))
    for vectors in (model.support_vectors_[:, :-1], model.support_vectors_[:-1], np.empty((0, 0))):
        refuse(model, support_vectors_=vectors)
    for change in ({"n_features_in_": 7}, {"n_features_in_": 6.0}, {"n_features_in_": True}):
        refuse(model, **change)
    for shape in ((60,), (3, 6), (60, 7), [60, 6], (60.0, 6), None):
        refuse(model, shape_fit_=shape)
    for classes in (model.classes_[:-1], None, 3):
        refuse(model, classes_=classes)


def test_machines_of_other_kinds_are_refused(models, refuse):
    refuse(models["svc rbf 4"], kernel="precomputed")
    refuse(models["svc of a matrix"], kernel="rbf")
    refuse(models["sparse svc"], kernel="precomputed")
    for kernel in (ks.Gaussian(), "cubic", 3, None):
        refuse(models["svc rbf 4"], "scikit-learn's own kernels", kernel=kernel)
    for flag in (True, 1, 0, None, "no"):
        refuse(models["svc rbf 4"], _sparse=flag)
    for flag in (False, 1, None):
        refuse(models["sparse svc"], _sparse=flag)


def test_sparse_machines_of_other_sizes_are_refused(models, refuse):
    model = models["sparse svc"]
    vectors, weights = model.support_vectors_, model._dual_coef_
    for other in (vectors[:-1], vectors[:, :-1], vectors.tocsc(), vectors.toarray()):
        refuse(model, support_vectors_=other)
    refuse(model, support_vectors_=vectors.astype(np.float32))
    for other in (weights[:-1], weights[:, :-1], weights.toarray(), weights.astype(np.float32)):
        refuse(model, _dual_coef_=other)


def test_machines_without_the_sigmoids_they_promise_are_refused(models, refuse):
    for kind in ("svc rbf 4", "sparse svc"):
        for promise in (True, 1, 2, "yes"):
            refuse(models[kind], probability=promise)
            refuse(models[kind], _effective_probability=promise)
    for name in ("_probA", "_probB"):
        for other in (np.ones(1), np.ones(4), np.ones(0), np.ones(3, dtype="f4"), None):
            refuse(models["svc with probabilities"], **{name: other})


@pytest.mark.parametrize("name", checks.NEIGHBOR_PARTS)
def test_incomplete_neighbours_are_refused(name, models, refuse):
    for kind in ("neighbours in a tree", "neighbours, all", "neighbours, several"):
        refuse(models[kind], "not complete", **{name: GONE})


KINDS = ("neighbours in a tree", "neighbours in balls", "neighbours, all", "neighbours, l1")


@pytest.mark.parametrize("kind", KINDS)
def test_neighbours_with_labels_of_nobody_are_refused(kind, models, refuse):
    model = models[kind]
    labels = model._y
    for other in variants(labels):
        refuse(model, _y=other)
    for wrong in (-1, len(model.classes_), 10**9):
        refuse(model, _y=np.append(labels[:-1], wrong))
    refuse(model, classes_=model.classes_[:-1])
    refuse(model, classes_=list(model.classes_))
    refuse(model, outputs_2d_=True)


def test_neighbours_with_several_labels_of_nobody_are_refused(models, refuse):
    model = models["neighbours, several"]
    for other in (model._y[:, :-1], model._y + 1, model._y - 1, model._y[:-1], model._y.ravel()):
        refuse(model, _y=other)
    refuse(model, classes_=model.classes_[:-1])
    refuse(model, classes_=[*model.classes_[:-1], 3])
    refuse(model, outputs_2d_=False)
    refuse(model, outputs_2d_=1)


@pytest.mark.parametrize("kind", KINDS)
def test_neighbours_of_other_points_are_refused(kind, models, refuse):
    model = models[kind]
    points = model._fit_X
    others = [points[:, :-1], points[:-1], points[0], points[..., None], points.astype(object)]
    others += [points.astype(complex), points.tolist(), None, sparse.csc_array(points)]
    for other in others:
        refuse(model, _fit_X=other)
    for change in ({"n_features_in_": 5}, {"n_samples_fit_": 61}, {"n_samples_fit_": None}):
        refuse(model, **change)
    for change in ({"_fit_method": "tree"}, {"n_neighbors": -1}, {"n_neighbors": 2.5}):
        refuse(model, **change)
    for change in ({"leaf_size": -1}, {"leaf_size": None}):
        refuse(model, **change)


def test_neighbours_by_other_distances_are_refused(models, refuse):
    for kind in KINDS:
        model = models[kind]
        refuse(model, "needs one of the metrics", metric="haversine")
        refuse(model, "needs one of the metrics", metric=ks.Gaussian())
        refuse(model, "needs one of the metrics", metric_params={"w": np.ones(2)})
        refuse(model, "needs weights", weights=ks.Gaussian())
        refuse(model, metric="precomputed")
        refuse(model, effective_metric_="precomputed")
        refuse(model, effective_metric_="seuclidean")
        refuse(model, effective_metric_params_={"V": 3})
        refuse(model, p=7)
    refuse(models["neighbours by matrix"], effective_metric_="euclidean")
    refuse(models["neighbours, sparse"], _fit_method="kd_tree")
    gaps = models["neighbours in a tree"]._fit_X * np.nan
    refuse(models["neighbours in a tree"], "is not a model file", _fit_X=gaps)
    refuse(models["neighbours in a tree"], "is not a model file", leaf_size=0)


@pytest.mark.parametrize("name", checks.ONE_HOT_PARTS)
def test_incomplete_encoders_are_refused(name, models, refuse):
    for kind in ("one hot", "one hot, rare dropped"):
        refuse(models[kind], "not complete", **{name: GONE})


def test_encoders_of_other_widths_are_refused(models, refuse):
    for kind in ("one hot", "one hot, first", "one hot, rare", "one hot, numbers"):
        model = models[kind]
        widths = model._n_features_outs
        for other in (
            *(
                [widths[0] - 1, *widths[1:]],
                [*widths[:-1], widths[-1] - 1],
                [*widths[:-1], -1],
                [*widths[:-1], 2.0],
            ),
            *([*widths, 1], widths[:-1], tuple(widths), np.array(widths), None),
        ):
            refuse(model, _n_features_outs=other)
        for change in ({"n_features_in_": 1}, {"n_features_in_": None}):
            refuse(model, **change)
        refuse(model, categories_=[known[:-1] for known in model.categories_])
        refuse(model, categories_=tuple(model.categories_))
        refuse(model, categories_=[known.tolist() for known in model.categories_])


def test_encoders_of_unsorted_numbers_are_refused(models, refuse):
    model = models["one hot, numbers"]
    first, second = model.categories_
    for other in (first[::-1], first * 0, first[:, None]):
        refuse(model, categories_=[other, second])
        refuse(model, categories_=[other.astype(object), second])
    refuse(model, categories_=[first.astype(complex), second])
    gaps = models["one hot, gaps"]
    refuse(gaps, categories_=[gaps.categories_[0][::-1]])


def test_encoders_that_drop_what_is_not_there_are_refused(models, refuse):
    for kind in ("one hot, first", "one hot, binary", "one hot, rare dropped"):
        model = models[kind]
        dropped = model._drop_idx_after_grouping
        for wrong in (-1, 99, 0.5, True, "a"):
            other = dropped.copy()
            other[-1] = wrong
            refuse(model, _drop_idx_after_grouping=other)
        refuse(model, _drop_idx_after_grouping=None)
        refuse(model, _drop_idx_after_grouping=dropped[:-1])
        refuse(model, _drop_idx_after_grouping=list(dropped))


def test_encoders_of_other_groups_are_refused(models, refuse):
    model = models["one hot, rare"]
    rare, groups = model._infrequent_indices, model._default_to_infrequent_mappings
    place = next(i for i, known in enumerate(rare) if known is not None)
    both = {"_infrequent_indices": rare, "_default_to_infrequent_mappings": groups}
    for name, values in both.items():
        known = values[place]
        for other in (known - 9, known + 9, known[:0], known.astype(float), None, [1], 3):
            refuse(model, **{name: [*values[:place], other, *values[place + 1 :]]})
        for other in (values[:-1], None, tuple(values)):
            refuse(model, **{name: other})
    refuse(model, _infrequent_enabled=False)
    refuse(model, _infrequent_enabled=1)


def test_trees_are_built_here_and_not_read(tmp_path):
    tree = {"class": "sklearn.KNeighborsClassifier", "state": {"_tree": None}}
    refused(forge(tmp_path / "model.kc", tree), "sets '_tree'")


SETTINGS = ["_impl", "_sparse_kernels", "_parameter_constraints", "fit", "coef_"]


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_classes_are_not_data(name, tmp_path):
    for item in (3, "nu_svc", {"list": []}, {"dict": []}):
        tree = {"class": "sklearn.SVC", "state": {name: item}}
        refused(forge(tmp_path / "model.kc", tree), f"sets '{name}'")
    own = {"class": "KernelLLC", "state": {"_doc_link_template": "javascript:"}}
    refused(forge(tmp_path / "model.kc", own), "sets '_doc_link_template'")


def test_pipelines_that_name_a_folder_of_pickles_are_refused(tmp_path):
    tree = {"class": "sklearn.Pipeline", "state": {"steps": {"list": []}, "memory": "folder"}}
    refused(forge(tmp_path / "model.kc", tree), "sets 'memory'")


def test_objects_that_can_be_called_are_no_functions(tmp_path):
    kernel = {"class": "Linear", "state": {}}
    for name in ("func", "inverse_func", "feature_names_out"):
        tree = {"class": "sklearn.FunctionTransformer", "state": {name: kernel}}
        refused(forge(tmp_path / "model.kc", tree), "functions are code")


def test_parts_that_grow_after_they_were_looked_at_are_refused(tmp_path):
    """A list that holds the encoder that it belongs to is not complete when the encoder is."""
    state = {
        "categories_": {"list": [{"objects": ["a"], "shape": [1]}]},
        **{"_n_features_outs": {"same": 1}, "n_features_in_": 1, "_infrequent_enabled": False},
        "_drop_idx_after_grouping": None,
    }
    encoder = {"class": "sklearn.OneHotEncoder", "state": state}
    tree = {"class": "sklearn.Pipeline", "state": {"steps": {"list": [1, encoder]}}}
    refused(forge(tmp_path / "model.kc", tree), "do not go together")


def test_parts_that_were_looked_at_are_shared_with_nobody(models, tmp_path):
    """Or the other, when it goes on learning, would change them."""
    for kind in ("neighbours, all", "svc rbf 4", "one hot, rare"):
        model = models[kind]
        parts = [part for part in vars(model).values() if isinstance(part, (np.ndarray, list))]
        kc.save(Pipeline([("scale", StandardScaler(copy=parts)), ("last", model)]), tmp_path / "m")
        (_, other), (_, again) = kc.load(tmp_path / "m").steps
        arrays = [*arrays_in(vars(again).values())]
        assert arrays
        for part in arrays_in(other.copy):
            assert not any(np.shares_memory(part, array) for array in arrays)


def arrays_in(values):
    """All arrays in lists of lists."""
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, list):
            yield from arrays_in(value)


X = np.random.default_rng(0).normal(size=(20, 3))
Y = np.arange(20) % 2
UNSAVABLE = {
    "model cannot be saved: an SVC needs one of scikit-learn's own kernels": (
        lambda: SVC(kernel=ks.Gaussian(gamma=1.0)).fit(X, Y)
    ),
    "model cannot be saved: a KNeighborsClassifier needs one of the metrics": (
        lambda: KNeighborsClassifier(metric="seuclidean", metric_params={"V": np.ones(3)}).fit(X, Y)
    ),
    "model cannot be saved: a KNeighborsClassifier needs weights": (
        lambda: KNeighborsClassifier(weights=lambda distances: distances).fit(X, Y)
    ),
    r"model\.feature_name_combiner is a builtins\.function.* Functions are code": (
        lambda: OneHotEncoder(feature_name_combiner=lambda a, b: a).fit([["a"]])
    ),
}


@pytest.mark.parametrize("message", UNSAVABLE)
def test_what_cannot_be_checked_is_not_saved(message, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = UNSAVABLE[message]()
    with pytest.raises(ValueError, match=message):
        kc.save(model, tmp_path / "model.kc")
    assert not list(tmp_path.iterdir())
