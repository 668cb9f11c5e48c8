"""Ctrl-C in the middle of compiled code, in real processes: KeyboardInterrupt, at once."""

import sys

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
    for n_jobs in (None, 2):
        coder.set_params(n_jobs=n_jobs).fit(D).transform(X[:20])
        for seconds in rng.uniform(0.05, 0.4, size=3):
            report(name, *interrupted_after(seconds, lambda: coder.transform(X)))
    expected = coder.transform(X[:40])
    assert np.array_equal(coder.set_params(n_jobs=None).transform(X[:40]), expected)
"""


def test_interrupted_transforms_raise_keyboard_interrupt_at_once():
    found = reports(CODERS)
    assert len(found) == 5 * 2 * 3
    for name, kind, _, late in found:
        assert kind == "KeyboardInterrupt", (name, kind)
        assert 0.0 <= late < LATE, name


LEARNING = """
warnings.simplefilter("ignore")
coder = kc.KernelSparseCoder(alpha=1e-3)
for n_jobs in (None, 2):
    for update in ("auto", "coordinate"):
        dl = kc.KernelDictionaryLearning(
            coder, n_atoms=150, update=update, max_iter=10_000, tol=0.0, n_jobs=n_jobs
        )
        seen = threading.Event()
        dl.set_params(callback=lambda progress: progress.iteration and seen.set())

        def interrupt(seconds):
            seen.wait(60)
            time.sleep(seconds)
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        sent.clear()
        thread = threading.Thread(target=interrupt, args=(rng.uniform(0.0, 0.5),))
        thread.start()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            dl.fit(X[:3000])
        late = time.perf_counter() - sent[0]
        thread.join()
        assert any("the best dictionary so far is kept" in str(one.message) for one in told)
        assert dl.transform(X[:5]).shape == (5, 150)
        assert dl.objective_history_[-1] < dl.objective_history_[0]
        report("learned", dl, late)
labels = (X[:3000, 0] > 0).astype(int)
for n_jobs in (None, 2):
    first = kc.KernelDictionaryLearning(coder, n_atoms=150, n_jobs=n_jobs)
    first.set_params(coder=kc.KernelSparseCoder(alpha=1e-5))
    report("before", *interrupted_after(0.3, lambda: first.fit(X[:20_000])))
    kernel = kc.KernelSparseCoder(alpha=1e-3, learn_kernel=True, atoms=300, n_jobs=n_jobs)
    report("kernel", *interrupted_after(0.5, lambda: kernel.fit(X[:4000])))
    supervised = kc.SupervisedKernelCoding(
        coder, n_atoms=100, max_iter=10_000, tol=0.0, n_jobs=n_jobs, eta=1.0, rho=1e-3
    )
    report("supervised", *interrupted_after(0.2, lambda: supervised.fit(X[:3000], labels)))
"""


def test_interrupted_learning_keeps_the_best_dictionary():
    found = reports(LEARNING)
    assert [name for name, *_ in found].count("learned") == 4
    for name, kind, status, late in found:
        if name == "learned":
            assert (kind, status) == ("KernelDictionaryLearning", "interrupted")
        else:  # nothing was learned yet
            assert kind == "KeyboardInterrupt", (name, kind)
        assert 0.0 <= late < LATE, name
