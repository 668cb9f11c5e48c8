"""Dictionary pair learning on explicit vectors, as published (Gu et al., 2014), written out."""

import numpy as np


def objective(X, y, classes, D, P, A, tau, separation, ridge):
    """The four terms, summed over classes; samples are rows of X, columns in the formulas."""
    total = 0.0
    for k, label in enumerate(classes):
        own, others = X[y == label].T, X[y != label].T
        total += np.sum((own - D[k] @ A[k]) ** 2) + tau * np.sum((P[k] @ own - A[k]) ** 2)
        total += separation * np.sum((P[k] @ others) ** 2) + ridge * np.sum(P[k] ** 2)
    return total


def codes(own, D, P, tau):
    return np.linalg.solve(D.T @ D + tau * np.eye(D.shape[1]), tau * P @ own + D.T @ own)


def analysis(own, others, A, tau, separation, ridge):
    M = tau * own @ own.T + separation * others @ others.T + ridge * np.eye(len(own))
    return tau * A @ own.T @ np.linalg.inv(M)


def atoms(own, A, n_steps=4000):
    """Least squares over columns in the unit ball, by ADMM with a fixed penalty."""
    m = len(A)
    rho = float(np.mean(np.diag(A @ A.T)))
    left = np.linalg.inv(A @ A.T + rho * np.eye(m))
    S, T = np.zeros((len(own), m)), np.zeros((len(own), m))
    for _ in range(n_steps):
        D = (own @ A.T + rho * (S - T)) @ left
        last, S = S, (D + T) / np.maximum(1.0, np.linalg.norm(D + T, axis=0))
        T = T + D - S
        if max(np.abs(D - S).max(), np.abs(S - last).max()) < 1e-14:  # nothing moves any more
            break
    return S


def learn(X, y, D, n_rounds, tau, separation, ridge):
    """Codes, then rounds of maps, atoms and codes from P = 0; last the maps of the last codes."""
    classes = np.unique(y)
    D = [d.copy() for d in D]
    P = [np.zeros(d.T.shape) for d in D]
    A = [codes(X[y == label].T, D[k], P[k], tau) for k, label in enumerate(classes)]
    given = tau, separation, ridge
    history = [objective(X, y, classes, D, P, A, *given)]
    for _ in range(n_rounds):
        parts = [(X[y == label].T, X[y != label].T) for label in classes]
        P = [analysis(own, others, A[k], *given) for k, (own, others) in enumerate(parts)]
        history.append(objective(X, y, classes, D, P, A, *given))
        D = [atoms(own, A[k]) for k, (own, _) in enumerate(parts)]
        history.append(objective(X, y, classes, D, P, A, *given))
        A = [codes(own, D[k], P[k], tau) for k, (own, _) in enumerate(parts)]
        history.append(objective(X, y, classes, D, P, A, *given))
    P = [analysis(own, others, A[k], *given) for k, (own, others) in enumerate(parts)]
    return D, P, np.array(history)


def scores(Q, D, P):
    """Minus the squared residual of each class, (n, S)."""
    return -np.stack(
        [((Q.T - d @ (p @ Q.T)) ** 2).sum(axis=0) for d, p in zip(D, P, strict=True)], axis=1
    )
