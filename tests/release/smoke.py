"""What a fresh installation must be able to do: run by `make dist` in an empty environment."""

import importlib.metadata
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import kernelcoding as kc


def main():
    assert Path(kc.__file__).is_relative_to(sys.prefix), f"not the installed package: {kc.__file__}"
    assert importlib.metadata.version("kernelcoding") == kc.__version__
    assert (Path(kc.__file__).parent / "py.typed").exists()

    X, y = load_digits(return_X_y=True)
    X, Q, y, labels = X[:500] / 16, X[500:] / 16, y[:500], y[500:]
    coder = kc.KernelSparseCoder("rbf", alpha=0.02).fit(X)
    codes = coder.transform(Q)
    assert codes.shape == (len(Q), len(X))
    assert coder.certify(Q, codes).max() < 1e-5
    rule = kc.ResidualClassifier(kc.KernelLLC(n_neighbors=20)).fit(X, y)
    accuracy = rule.score(Q, labels)
    assert accuracy > 0.9
    learner = kc.KernelDictionaryLearning(n_atoms=20, max_iter=3).fit(X)
    assert learner.objective_history_[-1] <= learner.objective_history_[0]
    with tempfile.TemporaryDirectory() as folder:
        kc.save(rule, f"{folder}/model.kc")
        np.testing.assert_array_equal(kc.load(f"{folder}/model.kc").predict(Q), rule.predict(Q))
    sys.stdout.write(f"kernelcoding {kc.__version__} works: {100 * accuracy:.1f} % of digits\n")


if __name__ == "__main__":
    main()
