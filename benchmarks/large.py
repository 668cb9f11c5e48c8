"""Every sample an atom, from 2,000 to 60,000 images of Fashion-MNIST.

Times are processor time of one thread (OPENBLAS_NUM_THREADS=1), and the peer of every coder is the
block of similarities between queries and atoms, which is the least that any of them computes.

``python -m benchmarks large --part 2000 60000 accuracy learning`` measures these parts only. What
was measured is in ``benchmarks/results/large-cells.jsonl``, one line per row, and is not measured
again: a run cut short loses nothing. Remove the file to start anew.
"""

import json
import time
from dataclasses import asdict
from functools import cache

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import kernelcoding as kc
from kernelcoding.kernels import Gaussian

from .data import fashion_with_labels
from .judge import RESULTS, Measured, Row, machine, peak_memory

SIZES = (2_000, 8_000, 16_000, 60_000)
WHOLE = 16_000  # atoms up to which the solver with the whole Gram matrix is asked, too
# Samples coded together; those of them whose block is timed; those whose codes are judged.
QUERIES, TIMED, JUDGED = 1_000, 128, 250
ATOMS, LANDMARKS, ROUNDS = 1_000, 2_000, 2  # of a dictionary that is learned from all images
SVC_SAMPLES = 20_000
BEYOND = 1e-3  # gigabytes: no Gram matrix here is within this budget
TILE = 2_000  # atoms that the judge looks at together
CODERS = {
    "LLC, 20 neighbours": kc.KernelLLC(n_neighbors=20),
    "soft words": kc.KernelBagOfWords(sigma=5.0),
    "hard words": kc.KernelBagOfWords(assignment="hard"),
    "pursuit of 10": kc.KernelMatchingPursuit(n_nonzero=10),
    "300 candidates, alpha .05": kc.KernelSparseCoder(alpha=0.05, n_candidates=300),
    "300 candidates, alpha .01": kc.KernelSparseCoder(alpha=0.01, n_candidates=300),
    "working sets, alpha .05": kc.KernelSparseCoder(alpha=0.05),
    "working sets, alpha .01": kc.KernelSparseCoder(alpha=0.01),
}
RULES = ("LLC, 20 neighbours", "300 candidates, alpha .05", "working sets, alpha .05",
         "working sets, alpha .01")  # fmt: skip


class Cells:
    """Rows in a file, each written as soon as it is known."""

    def __init__(self, path=RESULTS / "large-cells.jsonl"):
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.rows = {line["case"]: line for line in map(json.loads, lines)}

    def row(self, case, measure):
        """The row of a case: from the file, or measured now."""
        if case not in self.rows:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.rows[case] = {**asdict(measure()), "machine": machine()}
            with self.path.open("a") as file:
                file.write(json.dumps(self.rows[case]) + "\n")
        found = {name: self.rows[case][name] for name in Row.__dataclass_fields__}
        return Row(**{**found, "measured": Measured(**found["measured"])})


@cache
def images():
    """Unit rows: training samples, their labels, queries, theirs; None where they are not there."""
    found = fashion_with_labels()
    if found is None:
        return None
    samples, labels, queries, truth = found
    for part in (samples, queries):
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return samples, labels, queries[:QUERIES], truth[:QUERIES]


def seconds(function):
    """Processor time of a call, and its answer."""
    start = time.process_time()
    answer = function()
    return time.process_time() - start, answer


def violation(kernel, atoms, queries, codes, alpha):
    """Largest violation of the lasso's conditions over all atoms, as a part of alpha.

    A pass of its own in double precision, in tiles.
    """
    used, places = np.unique(codes.indices, return_inverse=True)
    shape = len(queries), len(used)
    weights = sparse.csr_array((codes.data, places.reshape(-1), codes.indptr), shape=shape)
    by_columns, worst = codes.tocsc(), 0.0
    for start in range(0, len(atoms), TILE):
        some = slice(start, start + TILE)
        found = kernel(queries, atoms[some]) - weights @ kernel(atoms[used], atoms[some])
        code = by_columns[:, some].toarray()
        wrong = np.where(code == 0, np.abs(found) - alpha, np.abs(found - alpha * np.sign(code)))
        worst = max(worst, float(wrong.max()) / alpha)
    return worst


def objective_difference(alpha, kernel, atoms, queries, codes):
    """Largest difference to the objectives of the solver that has the whole Gram matrix."""
    whole = kc.KernelSparseCoder(kernel, alpha=alpha, sparse_output=True).fit(atoms)
    problem, formulation = whole.dictionary_.problem(queries), whole.formulation()
    theirs = formulation.objective(problem, whole.transform(queries))
    return float(np.abs(formulation.objective(problem, codes) - theirs).max())


def coder_row(name, size):
    """One coder on one dictionary."""
    samples, _, queries, _ = images()
    atoms = samples[:size]
    kernel = Gaussian("median").resolve(atoms)
    coder = clone(CODERS[name]).set_params(kernel=kernel, sparse_output=name != "soft words")
    with kc.memory_budget(BEYOND):
        clone(coder).fit(atoms[:512]).transform(queries[:8])  # compiles
        answers = []

        def fitted_and_coded():
            answers.append(seconds(lambda: coder.fit(atoms))[0])
            coder.transform(queries[:TIMED])  # sets up what all queries share
            answers.append(seconds(lambda: coder.transform(queries)))

        peak = peak_memory(fitted_and_coded)
        block = min(seconds(lambda: coder.dictionary_.cross(queries[:TIMED]))[0] for _ in range(5))
    fit, (spent, codes) = answers
    per_query, least = spent / len(queries), block / TIMED
    facts = {"fit s": fit, "times the block": per_query / least}
    if name.startswith("working"):
        judged = kernel, atoms, queries[:JUDGED], codes[:JUDGED]
        facts["KKT / alpha"] = violation(*judged, coder.alpha)
        if size <= WHOLE:
            facts["objective"] = objective_difference(coder.alpha, *judged)
    measured = Measured(per_query, least, peak)
    return Row("large", f"{name}, {size} atoms", "block alone", 1, measured, facts)


def peer_row(name):
    """Nearest neighbours, or a support vector machine on fewer samples: time of 1,000 answers."""
    samples, labels, queries, truth = images()
    if name == "5-NN":
        peer, n = KNeighborsClassifier(5), len(samples)
    else:
        gamma = Gaussian("median").resolve(samples).gamma
        peer, n = SVC(C=10.0, gamma=gamma), SVC_SAMPLES
    fit, _ = seconds(lambda: peer.fit(samples[:n], labels[:n]))
    spent, score = seconds(lambda: peer.score(queries, truth))
    facts = {"accuracy": score, "samples": n, "fit s": fit}
    return Row("large", name, name, 1, Measured(spent, spent), facts)


def rule_row(name):
    """The residual rule; its peer is coding alone."""
    samples, labels, queries, truth = images()
    kernel = Gaussian("median").resolve(samples)
    rule = kc.ResidualClassifier(clone(CODERS[name]).set_params(kernel=kernel, sparse_output=True))
    with kc.memory_budget(BEYOND):
        fit, _ = seconds(lambda: rule.fit(samples, labels))
        rule.predict(queries[:TIMED])
        spent, found = seconds(lambda: rule.predict(queries))
        coding, _ = seconds(lambda: rule.coder_.transform(queries))
    facts = {"accuracy": float(np.mean(found == truth)), "samples": len(samples), "fit s": fit}
    facts["queries"] = len(queries)
    facts["times coding"] = spent / coding
    return Row("large", f"residuals, {name}", "coding", 1, Measured(spent, coding), facts)


def learning_row():
    """A dictionary learned from all images by landmarks; its peer is their similarities to these.

    Rounds and memory are those of one call of ``fit``, first atoms and last codes included.
    """
    samples = images()[0]
    kernel = Gaussian("median").resolve(samples)
    coder = kc.KernelSparseCoder(kernel, alpha=0.1, sparse_output=True)
    learner = kc.KernelDictionaryLearning(
        coder, n_atoms=ATOMS, n_landmarks=LANDMARKS, max_iter=ROUNDS, random_state=0
    )
    clone(learner).set_params(n_atoms=10, n_landmarks=20).fit(samples[:200])  # compiles
    spent = []
    peak = peak_memory(lambda: spent.append(seconds(lambda: learner.fit(samples))[0]))
    block, _ = seconds(lambda: kernel(samples[:LANDMARKS], samples[:LANDMARKS]))
    facts = {"samples": len(samples), "rounds": ROUNDS, "objective": learner.objective_history_[-1]}
    case = f"learning {ATOMS} atoms, {LANDMARKS} landmarks"
    measured = Measured(spent[0], block * len(samples) / LANDMARKS, peak)
    return Row("large", case, "block alone", 1, measured, facts)


def run(quick=False, parts=None):
    """Rows of the suite; none where the data are not there."""
    if images() is None:
        return
    cells = Cells()
    sizes = [str(size) for size in (SIZES[:2] if quick else SIZES)]
    for part in parts or [*sizes, "accuracy", "learning"]:
        if part == "learning":
            yield cells.row(f"learning {ATOMS} atoms, {LANDMARKS} landmarks", learning_row)
            continue
        if part != "accuracy":
            for name in CODERS:
                case = f"{name}, {part} atoms"
                yield cells.row(case, lambda name=name, part=part: coder_row(name, int(part)))
            continue
        for name in ("5-NN", "SVC"):
            yield cells.row(name, lambda name=name: peer_row(name))
        for name in RULES:
            yield cells.row(f"residuals, {name}", lambda name=name: rule_row(name))
