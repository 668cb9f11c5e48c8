"""Every sample an atom, from 2,000 to 60,000 images of Fashion-MNIST.

Times are processor time of one thread (OPENBLAS_NUM_THREADS=1), and the peer of every coder is the
block of similarities between queries and atoms, which is the least that any of them computes.
"""

import time

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import kernelcoding as kc
from kernelcoding.kernels import Gaussian

from .data import fashion_with_labels
from .judge import Measured, Row, peak_memory

SIZES = (2_000, 8_000, 16_000, 60_000)
WHOLE = 8_000  # atoms up to which the solver with the whole Gram matrix is asked, too
QUERIES, TIMED = 1_000, 128  # samples coded together; those of them whose block is timed
SVC_SAMPLES = 20_000
BEYOND = 1e-3  # gigabytes: no Gram matrix here is within this budget
CODERS = {
    "LLC, 20 neighbours": kc.KernelLLC(n_neighbors=20),
    "soft words": kc.KernelBagOfWords(sigma=5.0),
    "hard words": kc.KernelBagOfWords(assignment="hard"),
    "300 candidates, alpha .05": kc.KernelSparseCoder(alpha=0.05, n_candidates=300),
    "working sets, alpha .05": kc.KernelSparseCoder(alpha=0.05),
    "working sets, alpha .01": kc.KernelSparseCoder(alpha=0.01),
}


def seconds(function):
    """Processor time of a call, and its answer."""
    start = time.process_time()
    answer = function()
    return time.process_time() - start, answer


def violation(kernel, atoms, queries, codes, alpha):
    """Largest violation of the lasso's conditions over all atoms, as a part of alpha.

    A pass of its own in double precision, in tiles.
    """
    used = np.unique(codes.indices)
    weights, worst = codes[:, used].toarray(), 0.0
    for start in range(0, len(atoms), 2_000):
        some = slice(start, start + 2_000)
        found = kernel(queries, atoms[some]) - weights @ kernel(atoms[used], atoms[some])
        code = codes[:, some].toarray()
        wrong = np.where(code == 0, np.abs(found) - alpha, np.abs(found - alpha * np.sign(code)))
        worst = max(worst, float(wrong.max()) / alpha)
    return worst


def objective_difference(coder, kernel, atoms, queries, codes):
    """Largest difference to the objectives of the solver that has the whole Gram matrix."""
    whole = kc.KernelSparseCoder(kernel, alpha=coder.alpha, sparse_output=True).fit(atoms)
    problem, formulation = whole.dictionary_.problem(queries), whole.formulation()
    theirs = formulation.objective(problem, whole.transform(queries))
    return float(np.abs(formulation.objective(problem, codes) - theirs).max())


def measured_row(name, coder, kernel, atoms, queries):
    """One coder on one dictionary."""
    coder = coder.set_params(kernel=kernel, sparse_output=True)
    with kc.memory_budget(BEYOND):
        fit, _ = seconds(lambda: coder.fit(atoms))
        coder.transform(queries[:8])  # compiles, and sets up what all queries share
        block = min(seconds(lambda: coder.dictionary_.cross(queries[:TIMED]))[0] for _ in range(3))
        answers = []
        peak = peak_memory(lambda: answers.append(seconds(lambda: coder.transform(queries))))
        spent, codes = answers[0]
    per_query, least = spent / len(queries), block / TIMED
    facts = {"fit s": fit, "times the block": per_query / least}
    if name.startswith("working"):
        facts["KKT / alpha"] = violation(kernel, atoms, queries, codes, coder.alpha)
        if len(atoms) <= WHOLE:
            facts["objective"] = objective_difference(coder, kernel, atoms, queries, codes)
    case = f"{name}, {len(atoms)} atoms"
    return Row("large", case, "block alone", 1, Measured(per_query, least, peak), facts)


def accuracy_rows(kernel, atoms, labels, queries, truth):
    """The residual rule beside nearest neighbours and a support vector machine."""
    svc = SVC(C=10.0, gamma=kernel.gamma)
    rules = {
        "residuals, " + name: kc.ResidualClassifier(CODERS[name].set_params(kernel=kernel))
        for name in ("LLC, 20 neighbours", "working sets, alpha .05", "working sets, alpha .01")
    }
    peer, own = seconds(lambda: KNeighborsClassifier(5).fit(atoms, labels).score(queries, truth))
    yield Row("large", "5-NN", "5-NN", 1, Measured(peer, peer), {"accuracy": own})
    few = atoms[:SVC_SAMPLES], labels[:SVC_SAMPLES]
    spent, score = seconds(lambda: svc.fit(*few).score(queries, truth))
    facts = {"accuracy": score, "samples": len(few[0])}
    yield Row("large", "SVC", "5-NN", 1, Measured(spent, peer), facts)
    for name, rule in rules.items():
        with kc.memory_budget(BEYOND):
            rule.fit(atoms, labels)
            coding, _ = seconds(lambda rule=rule: rule.coder_.transform(queries))
            spent, found = seconds(lambda rule=rule: rule.predict(queries))
        facts = {"accuracy": float(np.mean(found == truth)), "times coding": spent / coding}
        yield Row("large", name, "5-NN", 1, Measured(spent, peer), facts)


def run(quick=False):
    """Rows of the suite; none where the data are not there."""
    found = fashion_with_labels()
    if found is None:
        return
    samples, labels, queries, truth = found
    samples, queries = (
        part / np.linalg.norm(part, axis=1, keepdims=True) for part in (samples, queries)
    )
    queries, truth = queries[:QUERIES], truth[:QUERIES]
    for size in SIZES[:2] if quick else SIZES:
        kernel = Gaussian("median").resolve(samples[:size])
        for name, coder in CODERS.items():
            yield measured_row(name, coder, kernel, samples[:size], queries)
    yield from accuracy_rows(kernel, samples[:size], labels[:size], queries, truth)
