"""What every criterion of kernel learning promises, for every coder and kernel."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import kernelcoding as kc
from helpers.kernel_learning import AT_A_BOUND, CODERS, KERNELS
from helpers.learning import digits
from kernelcoding import persistence
from kernelcoding.kernels import Gaussian, MultipleKernel

STATUSES = {"learned", "flat", "bound", "vanishing", "labels", "not finite"}
CRITERIA = ["ratio", "held-out"]
pytestmark = [
    AT_A_BOUND,
    pytest.mark.filterwarnings("ignore:The ratio of kernel learning falls until:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*did not converge.*", "ignore:.*codes are all zero.*"),
]


def settings(criterion, **options):
    return kc.KernelLearning(criterion=criterion, max_iter=4, **options)


def samples(kernel_name, n=24):
    kernel, sample = KERNELS[kernel_name]
    return kernel, sample(np.random.default_rng(0), n), np.arange(n) % 3


# Every coder with every kernel, by one criterion or the other: both are tried with every part.
CELLS = [
    (coder_name, kernel_name, CRITERIA[(row + column) % 2])
    for row, coder_name in enumerate(name for name in CODERS if name != "groups")
    for column, kernel_name in enumerate(KERNELS)
]


@pytest.mark.parametrize(("coder_name", "kernel_name", "criterion"), CELLS)
def test_parameters_stay_in_bounds_and_what_is_minimised_never_rises(
    coder_name, kernel_name, criterion
):
    kernel, X, y = samples(kernel_name)
    coder = clone(CODERS[coder_name]).set_params(kernel=kernel, learn_kernel=settings(criterion))
    if hasattr(coder, "tol"):
        coder.set_params(tol=1e-6)
    coder.fit(X, y)
    assert coder.kernel_status_ in STATUSES
    assert np.isfinite(coder.kernel_.theta).all()
    assert (np.diff(coder.kernel_history_) <= 1e-9 * np.abs(coder.kernel_history_[:-1])).all()
    assert coder.dictionary_.kernel is coder.kernel_
    if coder.kernel_status_ != "learned" and not isinstance(kernel, MultipleKernel):
        assert_allclose(coder.kernel_.theta, kernel.theta, atol=1e-12)
    assert np.isfinite(coder.transform(X[:3])).all()


MODELS = {
    **{
        f"coder, {criterion}": kc.KernelSparseCoder(
            Gaussian(30.0), alpha=0.02, learn_kernel=settings(criterion)
        )
        for criterion in CRITERIA
    },
    **{
        f"atoms, {criterion}": kc.KernelDictionaryLearning(
            kc.KernelSparseCoder(Gaussian(30.0), alpha=0.02), 12, learn_kernel=settings(criterion)
        )
        for criterion in CRITERIA
    },
    **{
        f"supervised, {criterion}": kc.SupervisedKernelCoding(
            kc.KernelSparseCoder(Gaussian(30.0), alpha=0.02),
            12,
            max_iter=2,
            learn_kernel=settings(criterion),
        )
        for criterion in [*CRITERIA, "joint"]
    },
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_cloning_pickling_saving_and_fitting_again(model, tmp_path):
    X, y = digits(80, labels=True)
    fitted = clone(model).fit(X, y)
    assert fitted.kernel_.gamma != 30.0
    codes = fitted.transform(X[:9])
    criterion = model.learn_kernel.criterion
    assert clone(fitted).get_params()["learn_kernel__criterion"] == criterion
    assert f"criterion='{criterion}'" in repr(fitted) or criterion == "ratio"
    again = clone(fitted).fit(X, y)
    assert again.kernel_.gamma == fitted.kernel_.gamma
    assert_array_equal(again.transform(X[:9]), codes)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(X[:9]), codes)
    persistence.save(fitted, tmp_path / "model.kc")
    loaded = persistence.load(tmp_path / "model.kc")
    assert_array_equal(loaded.transform(X[:9]), codes)
    assert loaded.learn_kernel.get_params() == fitted.learn_kernel.get_params()
    assert loaded.kernel_status_ == fitted.kernel_status_
    single = clone(model).fit(X.astype(np.float32), y)
    assert_allclose(single.kernel_.gamma, fitted.kernel_.gamma, rtol=0.02)


def test_grid_search_over_criteria():
    X, y = digits(90, labels=True)
    model = MODELS["supervised, ratio"]
    grid = {"learn_kernel__criterion": [*CRITERIA, "joint"]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    chosen = search.best_params_["learn_kernel__criterion"]
    assert search.best_estimator_.learn_kernel.criterion == chosen
    by_hand = clone(model).set_params(learn_kernel__criterion=chosen).fit(X, y)
    assert by_hand.kernel_.gamma == search.best_estimator_.kernel_.gamma


def test_settings_of_files_from_before_there_was_a_choice():
    old = kc.KernelLearning()
    del old.__dict__["criterion"], old.__dict__["rule"]
    X = digits(60)
    coder = kc.KernelSparseCoder(alpha=0.05, learn_kernel=old).fit(X)
    assert coder.kernel_.gamma == clone(coder).set_params(learn_kernel=True).fit(X).kernel_.gamma
