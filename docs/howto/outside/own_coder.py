"""A coder of your own: a formulation that says what a code is, and a class with its parameters."""

import numpy as np
from kernelcoding import KernelDictionaryLearning, ResidualClassifier
from kernelcoding.coders import BaseKernelCoder
from kernelcoding.codes import row_sums
from kernelcoding.formulations import BaseFormulation
from sklearn.datasets import load_digits


class RidgeCodes(BaseFormulation):
    """min 1/2 ||phi(x) - Phi(D) y||^2 + alpha/2 ||y||^2."""

    is_minimiser = True  # a classifier's loss can be added
    is_cone = True  # a multiple of a code is a code

    def __init__(self, alpha):
        self.alpha = alpha

    def code(self, problem):
        """Codes (n, N) from problem.cross (n, N) and problem.gram (N, N)."""
        system = problem.gram + self.alpha * np.eye(problem.n_atoms)
        return np.linalg.solve(system, problem.cross.T).T

    def value(self, problem, codes):
        """What is minimised beside half the squared error, (n,)."""
        return 0.5 * self.alpha * row_sums(codes, codes)


class KernelRidgeCoder(BaseKernelCoder):
    """Ridge codes, with any kernel of the package."""

    def __init__(self, kernel="rbf", atoms=None, alpha=0.1):
        self.kernel = kernel
        self.atoms = atoms
        self.alpha = alpha

    def formulation(self):
        """What a code is."""
        return RidgeCodes(self.alpha)


X, y = load_digits(return_X_y=True)
X, y = X[:300] / 16, y[:300]
rule = ResidualClassifier(KernelRidgeCoder()).fit(X[:200], y[:200])
print("accuracy:", rule.score(X[200:], y[200:]))
learned = KernelDictionaryLearning(KernelRidgeCoder(), n_atoms=20, max_iter=3).fit(X)
