"""The judge: times competitors in turns, recomputes what they claim in double precision."""

import gc
import json
import platform
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

RESULTS = Path("benchmarks/results")


@dataclass
class Measured:
    """What a race has shown."""

    ours: float  # seconds
    theirs: float  # seconds
    peak: float = np.nan  # megabytes that our side added to the resident set

    @property
    def ratio(self):
        """How many times faster than the peer."""
        return self.theirs / self.ours


@dataclass
class Row:
    """One line of a table: our time, the peer's, and what else was measured."""

    suite: str
    case: str
    peer: str
    threads: int
    measured: Measured
    facts: dict = field(default_factory=dict)

    @property
    def ratio(self):
        """How many times faster than the peer."""
        return self.measured.ratio


def peak_memory(function):
    """Megabytes by which a call raised the resident set at its peak (Linux; else NaN)."""
    status, refs = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not status.exists() or not refs.exists():
        return np.nan

    def kilobytes(name):
        line = next(ln for ln in status.read_text().splitlines() if ln.startswith(name))
        return int(line.split()[1])

    gc.collect()
    refs.write_text("5")  # the peak starts again from here
    before = kilobytes("VmRSS:")
    answer = function()
    after = kilobytes("VmHWM:")
    del answer
    return (after - before) / 1024


def race(ours, theirs, repeats=5, at_least=0.3, at_most=10.0, clock=time.perf_counter):
    """Best time of each side and its last answer; compiled code is warm."""
    ours()
    peak = peak_memory(ours)
    best, answers = in_turns((ours, theirs), repeats, at_least, at_most, clock)
    return Measured(*best, peak), answers


def in_turns(functions, repeats=5, at_least=0.3, at_most=10.0, clock=time.perf_counter):
    """Best time of each function and its last answer; they take turns.

    Short runs are repeated for ``at_least`` seconds, long ones not beyond ``at_most``. Where one
    thread is all there is, ``time.process_time`` is a clock that other programs disturb less.
    """
    answers = [None] * len(functions)
    best = [np.inf] * len(functions)
    start = time.perf_counter()
    rounds = 0
    while rounds < repeats or time.perf_counter() - start < at_least:
        if rounds > 0 and time.perf_counter() - start > at_most:
            break
        for side, function in enumerate(functions):
            gc.collect()
            begin = clock()
            answers[side] = function()
            best[side] = min(best[side], clock() - begin)
        rounds += 1
    return best, answers


def lasso_objective(problem, codes, alpha):
    """Mean objective, without the constant k(x, x) / 2."""
    correlation = problem.correlation(codes)
    return float(
        np.mean(
            -0.5 * (codes * (problem.cross + correlation)).sum(axis=1)
            + alpha * np.abs(codes).sum(axis=1)
        )
    )


def kkt_residual(problem, codes, alpha):
    """Largest violation of the lasso's optimality conditions, as a fraction of alpha."""
    correlation = problem.correlation(codes)
    at_zero = np.maximum(np.abs(correlation) - alpha, 0.0)
    elsewhere = np.abs(correlation - alpha * np.sign(codes))
    return float(np.where(codes == 0, at_zero, elsewhere).max() / alpha)


def machine():
    """What the measurements were made on."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [ln for ln in cpuinfo.read_text().splitlines() if ln.startswith("model name")]
        name = f"{models[0].split(':')[1].strip()}, {len(models)} cores" if models else name
    return f"{name}; Python {platform.python_version()}; NumPy {np.__version__}"


def save(suite, rows):
    """One JSON line per row, with the machine."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    with (RESULTS / f"{suite}.jsonl").open("w") as file:
        for row in rows:
            file.write(json.dumps({**asdict(row), "ratio": row.ratio, "machine": machine()}) + "\n")


def show(suite, rows):
    """A table in Markdown, with the geometric mean of the ratios."""
    names = list(dict.fromkeys(name for row in rows for name in row.facts))
    head = ["case", "peer", "threads", "ours ms", "peer ms", "ratio", "peak MB", *names]
    lines = [f"### {suite}", "", "| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for row in rows:
        measured = row.measured
        cells = [row.case, row.peer, str(row.threads), f"{1e3 * measured.ours:.1f}"]
        cells += [f"{1e3 * measured.theirs:.1f}", f"{row.ratio:.2f}"]
        cells += ["" if np.isnan(measured.peak) else f"{measured.peak:.0f}"]
        cells += [format_fact(row.facts.get(name, "")) for name in names]
        lines.append("| " + " | ".join(cells) + " |")
    for peer in dict.fromkeys(row.peer for row in rows):
        ratios = [row.ratio for row in rows if row.peer == peer]
        lines += ["", f"{peer}: geometric mean {np.exp(np.mean(np.log(ratios))):.2f}, "]
        lines[-1] += f"smallest {min(ratios):.2f}"
    text = "\n".join(lines)
    print(text, flush=True)
    return text


def format_fact(fact):
    """Short text for a number or a word."""
    return f"{fact:.2g}" if isinstance(fact, float) else str(fact)


def plot(suite, rows):
    """Horizontal bars of the ratios."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 0.3 * len(rows) + 1.2), layout="constrained")
    labels = [f"{row.case} vs {row.peer} ({row.threads}t)" for row in rows]
    axes.barh(labels[::-1], [row.ratio for row in rows][::-1], color="#4477aa")
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set(xlabel="times faster than the peer", title=suite, xscale="log")
    RESULTS.mkdir(parents=True, exist_ok=True)
    figure.savefig(RESULTS / f"{suite}.png", dpi=120)
    plt.close(figure)
