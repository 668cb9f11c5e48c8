"""Ctrl-C in the middle of compiled code, in real processes: KeyboardInterrupt, at once."""

import sys
import textwrap
from itertools import takewhile

import pytest

from helpers.interrupts import reports

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no signals to oneself here")

LATE = 5.0  # seconds; a few milliseconds on an idle machine, but test machines are not idle

CODERS = """
coders = {
    "sparse": kc.KernelSparseCoder(alpha=1e-3),
    "group": kc.KernelSparseCoder(alpha=1e-3, groups=np.arange(400) // 8),
    "pursuit": kc.KernelMatchingPursuit(n_nonzero=40),
    "local": kc.KernelLLC(n_neighbors=100),
    "exact": kc.KernelLLC(n_neighbors=None),
}
for name, coder in coders.items():
    coder.fit(D)
    expected = coder.transform(X[:40])
    for n_jobs in (None, 2):
        coder.set_params(n_jobs=n_jobs)
        report(name, *interrupted_after(rng.uniform(0.02, 0.3), lambda: coder.transform(X)))
        assert np.array_equal(coder.transform(X[:40]), expected)
"""


def test_interrupted_transforms_raise_keyboard_interrupt_at_once(found):
    transforms = found["transforms"]
    assert len(transforms) == 5 * 2
    for name, kind, _, late in transforms:
        assert kind == "KeyboardInterrupt", (name, kind)
        assert 0.0 <= late < LATE, name


LEARNING = """
def learn(name, model, *data):
    '''Fit until a signal comes in the middle of a later round.'''
    begun = threading.Event()
    model.set_params(callback=lambda progress: progress.iteration and begun.set())
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        wait = lambda: (begun.wait(60), time.sleep(rng.uniform(0.0, 0.1)))
        found, late = interrupted_after(wait, lambda: model.fit(*data))
    if found is model:
        assert any("the best dictionary so far is kept" in str(one.message) for one in told)
        assert model.transform(X[:5]).shape == (5, model.n_atoms)
        assert np.isfinite(model.dictionary_.gram).all()
        assert model.objective_history_[-1] < model.objective_history_[0]
    report(name, found, late)

coder = kc.KernelSparseCoder(alpha=1e-3)
for n_jobs in (None, 2):
    endless = dict(n_atoms=100, max_iter=10_000, tol=0.0, n_jobs=n_jobs)
    for update in ("auto", "coordinate", "auto"):
        learn("learned", kc.KernelDictionaryLearning(coder, update=update, **endless), X[:1500])
    labels = (X[:400, 0] > 0).astype(int)
    supervised = kc.SupervisedKernelCoding(coder, eta=1.0, rho=1e-3, **endless)
    learn("supervised", supervised, X[:400], labels)
    learn("pairs", kc.KernelDictionaryPairLearning("rbf", **endless), X[:400], labels)
    kernel = kc.KernelSparseCoder(alpha=1e-3, learn_kernel=True, atoms=300, n_jobs=n_jobs)
    report("kernel", *interrupted_after(0.3, lambda: kernel.fit(X[:2000])))
    first = kc.KernelDictionaryLearning(kc.KernelSparseCoder(alpha=1e-6), n_jobs=n_jobs)
    report("first", *interrupted_after(0.3, lambda: first.fit(X[:4000])))
"""


def test_interrupted_learning_keeps_the_best_dictionary(found):
    for name, kind, status, late in found["learning"]:
        if name in ("kernel", "first"):  # nothing was learned yet
            assert kind == "KeyboardInterrupt", (name, kind)
        else:
            assert status == "interrupted", (name, kind)
        assert 0.0 <= late < LATE, name
    assert len(found["learning"]) == 2 * 7


LONG_CALLS = """
from functools import partial
from kernelcoding.gram import GramFacts
from kernelcoding.kernels import ChiSquared, Gaussian, Laplacian, Polynomial

wide = np.abs(rng.normal(size=(4000, 200)))
calls = {
    "product": partial(Gaussian(), np.tile(wide, (1, 5))),
    "cityblock": partial(Laplacian(), wide),
    "chi2": partial(ChiSquared(), wide),
    "power": partial(Polynomial(degree=2.5), wide),
    "factor": lambda: GramFacts(Gaussian()(wide[:2500])).span._factor,
    "spectrum": lambda: GramFacts(Gaussian()(wide[:1500])).spectrum,
}
for name, call in calls.items():
    report(name, *interrupted_after(0.15, call))
"""


@pytest.fixture(scope="module")
def found():
    """What all these calls say in one process, by script."""
    scripts = {"transforms": CODERS, "learning": LEARNING, "long calls": LONG_CALLS}
    mark = 'report("next", None, 0.0)\n'
    parts = iter(reports(mark.join(textwrap.dedent(script) for script in scripts.values())))
    return {name: list(takewhile(lambda line: line[0] != "next", parts)) for name in scripts}


def test_long_calls_of_other_libraries_do_not_hold_interrupts_up(found):
    assert len(found["long calls"]) == 6
    for name, kind, _, late in found["long calls"]:
        assert kind == "KeyboardInterrupt", (name, kind)
        assert 0.0 <= late < LATE, name


FIRST_USE = """
coder = kc.KernelSparseCoder("linear", alpha=1e-3).fit(D)
for seconds in (0.1, 0.2, 0.4):  # importing Numba takes about half a second
    report("first", *interrupted_after(seconds, lambda: coder.transform(X[:2000])))
report("after", coder.transform(X[:5]), 0.0)
"""


def test_an_interrupt_at_the_first_use_does_not_break_the_next():
    *interrupted, after = reports(FIRST_USE)
    assert [kind for _, kind, *_ in interrupted] == 3 * ["KeyboardInterrupt"]
    assert after[1] == "ndarray"
