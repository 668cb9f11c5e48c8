"""A prior of your own: codes whose entries differ little from those of neighbouring atoms."""

import numpy as np
from kernelcoding import KernelCoder, KernelDictionaryLearning, constraints


class Smooth:
    """Half the squared differences of neighbouring entries, r(y) = 1/2 sum_j (y_(j+1) - y_j)^2."""

    def value(self, codes):
        """R of each row, (n,)."""
        return 0.5 * np.square(np.diff(codes, axis=1)).sum(axis=1)

    def prox(self, points, scale):
        """Each row's argmin_y 1/2 ||y - v||^2 + scale r(y): a linear system, (n, N)."""
        differences = np.diff(np.eye(points.shape[1]), axis=0)
        system = np.eye(points.shape[1]) + scale * differences.T @ differences
        return np.linalg.solve(system, points.T).T


times = np.linspace(0, 1, 40)[:, None]  # atoms in an order: here along a line
coder = KernelCoder("rbf", prior=Smooth(), constraint=constraints.NonNegative(), alpha=0.1)
codes = coder.fit(times).transform([[0.3], [0.62]])
print("largest jump between neighbours:", np.abs(np.diff(codes, axis=1)).max())
learned = KernelDictionaryLearning(coder, n_atoms=8, max_iter=3).fit(times)
