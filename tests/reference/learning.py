"""Dictionary learning on explicit vectors, written out."""

import numpy as np


def error(samples, atoms, codes):
    """Half the mean squared error."""
    return 0.5 * np.mean(((samples - codes @ atoms) ** 2).sum(axis=1))


def descent_sweep(samples, atoms, codes):
    """Every atom in turn: least squares on what the others leave, then into the unit ball."""
    atoms = atoms.copy()
    for r in range(len(atoms)):
        left = samples - codes @ atoms + np.outer(codes[:, r], atoms[r])
        best = codes[:, r] @ left / (codes[:, r] @ codes[:, r])
        atoms[r] = best / max(1.0, np.linalg.norm(best))
    return atoms


def ksvd_sweep(samples, atoms, codes, approximate):
    """K-SVD (Aharon et al., 2006), or Rubinstein's approximate form (2008, algorithm 5)."""
    atoms, codes = atoms.copy(), codes.copy()
    for r in range(len(atoms)):
        rows = np.flatnonzero(codes[:, r])
        if rows.size == 0:
            continue
        atoms[r] = 0.0
        left = samples[rows] - codes[rows] @ atoms
        if approximate:
            atom = left.T @ codes[rows, r]
            atoms[r] = atom / np.linalg.norm(atom)
            codes[rows, r] = left @ atoms[r]
        else:
            u, s, vt = np.linalg.svd(left, full_matrices=False)
            atoms[r], codes[rows, r] = vt[0], u[:, 0] * s[0]
    return atoms, codes


def numeric_gradient(function, at, step=1e-5):
    """Central differences of a function of an array."""
    gradient = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        shift = np.zeros_like(at)
        shift[place] = step
        gradient[place] = (function(at + shift) - function(at - shift)) / (2.0 * step)
    return gradient
