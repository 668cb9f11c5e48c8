"""Nothing is computed in the client by surprise: what cannot be lazy says what can."""

import dask
import dask.array as da
import numpy as np
import pytest
from sklearn import config_context

import kernelcoding as kc
from helpers.lazy_models import LENGTHS, fitted, frame, lazy, vectors

X, Y = vectors(30, 0)
Q = vectors(sum(LENGTHS), 1)[0]


@pytest.fixture(autouse=True)
def _nothing_is_computed():
    """Computing is an error in here."""

    def refuse(*args, **kwargs):
        raise AssertionError("something was computed")

    with dask.config.set(scheduler=refuse):
        yield


LEARNERS = {
    "coder": kc.KernelSparseCoder(),
    "landmark map": kc.LandmarkMap(n_landmarks=3),
    "LC-KSVD": kc.LabelConsistentKSVD("linear", n_atoms=6),
    "pairs": kc.KernelDictionaryPairLearning("rbf", n_atoms=6),
    "residual": kc.ResidualClassifier(kc.KernelLLC()),
    "outliers": kc.KernelOutlierDetector(),
}


@pytest.mark.parametrize("model", LEARNERS.values(), ids=LEARNERS.keys())
def test_fitting_to_all_samples_of_dask_is_refused(model):
    with pytest.raises(ValueError, match=r"X\[:10_000\]\.compute\(\).*n_landmarks"):
        model.fit(lazy(X, (10, 20)), Y)
    with pytest.raises(ValueError, match=r"X\[:10_000\]\.compute\(\).*n_landmarks"):
        model.fit(lazy(frame(X), (10, 20)), Y)


def test_several_views_of_dask_are_refused():
    kernel = kc.kernels.MultipleKernel([kc.kernels.View("a", "rbf"), kc.kernels.View("b", "rbf")])
    coder = kc.KernelSparseCoder(kernel).fit({"a": X, "b": X})
    with pytest.raises(ValueError, match="list of delayed blocks, each of which holds"):
        coder.transform({"a": lazy(Q), "b": lazy(Q)})


def test_views_in_delayed_blocks_are_coded():
    kernel = kc.kernels.MultipleKernel([kc.kernels.View("a", "rbf"), kc.kernels.View("b", "rbf")])
    coder = kc.KernelSparseCoder(kernel).fit({"a": X, "b": X})
    codes = coder.transform([dask.delayed({"a": Q, "b": Q})])
    with dask.config.set(scheduler="sync"):
        np.testing.assert_array_equal(codes.compute(), coder.transform({"a": Q, "b": Q}))


def test_columns_in_several_chunks_are_refused():
    model, _ = fitted("array")["sparse"]
    with pytest.raises(ValueError, match=r"X\.rechunk\(\{1: -1\}\)"):
        model.transform(da.from_array(Q, chunks=(5, 2)))


def test_other_features_are_refused_before_anything_is_computed():
    model, _ = fitted("array")["sparse"]
    with pytest.raises(ValueError, match="3 features, but KernelSparseCoder is expecting 4"):
        model.transform(lazy(Q[:, :3]))
    named, table = fitted("frame")["residual"]
    other = table.rename(columns={"feature 1": "feature x"})
    with pytest.raises(ValueError, match=r"(?s)Feature names unseen.*feature x"):
        named.predict(lazy(other))
    with pytest.raises(ValueError, match="same order"):
        named.predict(lazy(table[table.columns[::-1]]))


def test_arrays_where_names_are_expected_are_told_of():
    model, table = fitted("frame")["sparse"]
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.transform(lazy(table.to_numpy()))


def test_unfitted_estimators_are_refused():
    with pytest.raises(ValueError, match="not fitted yet"):
        kc.KernelSparseCoder().transform(lazy(Q))


def test_codes_in_memory_beside_lazy_samples_are_refused():
    model, _ = fitted("array")["sparse"]
    codes = np.zeros((len(Q), 30))
    with pytest.raises(ValueError, match=r"from_array\(codes, chunks=\(X\.chunks\[0\], -1\)\)"):
        model.certify(lazy(Q), codes)
    with pytest.raises(ValueError, match="both must be lazy"):
        model.certify(Q, lazy(codes))
    with pytest.raises(ValueError, match=r"codes\.rechunk\(\{0: X\.chunks\[0\]\}\)"):
        model.certify(lazy(Q), da.from_array(codes, chunks=(7, 30)))
    with pytest.raises(ValueError, match="one column for each of the 30 atoms"):
        model.inverse_transform(lazy(codes[:, :4]))


def test_data_frames_as_output_are_refused():
    coder = kc.KernelSparseCoder().fit(X)
    with config_context(transform_output="pandas"), pytest.raises(ValueError, match="Dask arrays"):
        coder.transform(lazy(Q))
    coder.set_output(transform="pandas")
    with pytest.raises(ValueError, match=r'set_output\(transform="default"\)'):
        coder.transform(lazy(Q))


def test_mean_objectives_are_not_computed_by_surprise():
    model, _ = fitted("array")["dictionary"]
    with pytest.raises(ValueError, match=r"pass X\.compute\(\)"):
        model.score(lazy(Q))


def test_codes_are_those_of_the_moment_they_were_asked_for():
    model = kc.KernelDictionaryLearning(n_atoms=5, n_landmarks=10, max_iter=1).fit(X)
    expected = model.transform(Q[:5])
    codes = model.transform(lazy(Q, (5, 10)))[:5]
    model.partial_fit(X[::-1] + 0.1)
    with dask.config.set(scheduler="sync"):
        np.testing.assert_array_equal(codes.compute(), expected)
    assert not np.array_equal(model.transform(Q[:5]), expected)
