"""Made-up records in the form that experiments write; their numbers mean nothing."""

import base64
import json
import struct
import zlib

import numpy as np

VERSIONS = {"kernelcoding": "0.1", "numpy": "2.2.0", "scikit-learn": "1.6.0"}
PAPER = "Harandi & Salzmann, Kernel Coding: General Formulation and Special Cases"
METHODS = ("SC", "LLC", "kBOW", "kSC", "kLLC", "l-SkSC", "l-SkLLC", "bi-SkSC", "bi-SkLLC")
VIRUSES = (
    "Adenovirus",
    "Astrovirus",
    "CCHF",
    "Cowpox",
    "Dengue",
    "Ebola",
    "Influenza",
    "Lassa",
    "Marburg",
    "Norovirus",
    "Orf",
    "Papilloma",
    "Rift Valley",
    "Rotavirus",
    "WestNile",
)


def header(experiment, **changes):
    line = {
        "kind": "experiment",
        "schema": 1,
        "experiment": experiment,
        "title": experiment.capitalize(),
        "protocol": "A made-up protocol for the sake of the page.",
        "paper": PAPER,
        "metric": "accuracy",
        "quick": False,
    }
    return line | changes


def result(experiment, table, method, split, value, **changes):
    size = changes.get("size")
    line = {
        "kind": "result",
        "schema": 1,
        "experiment": experiment,
        "key": f"{table}/{method}/{size}/{split}",
        "table": table,
        "method": method,
        "size": size,
        "split": split,
        "seed": split,
        "value": value,
        "paper": None,
        "seconds": 12.3 + split,
        "peak_memory_mb": 310.5,
        "nonzeros": 31.2,
        "configuration": {"alpha": 0.001, "kernel": "rbf"},
        "versions": VERSIONS,
        "finished": f"2026-11-16T05:{split:02d}:00Z",
        "artifacts": {},
    }
    return line | changes


def read_lines(path):
    """The objects of a file, by JSON alone: what is really on the disk."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def png(pixels):
    """A grey picture of values in [0, 1] as a data URI, by the definition of the format."""
    grey = (255 * np.clip(pixels, 0, 1)).astype(np.uint8)

    def chunk(kind, data):
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    rows = b"".join(b"\0" + row.tobytes() for row in grey)
    head = struct.pack(">IIBBBBB", grey.shape[1], grey.shape[0], 8, 0, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
    data += chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(data).decode()


def histories(rng, rounds, kernel=False):
    values = 0.02 + 0.1 * np.exp(-0.18 * np.arange(2 * rounds)) * rng.uniform(0.9, 1.1)
    steps = ["codes" if i % 2 == 0 else "atoms" for i in range(2 * rounds)]
    found = {"objective_history": values.tolist(), "objective_steps": steps}
    if kernel:
        found["kernel_history"] = (0.4 + 0.5 * np.exp(-0.5 * np.arange(9))).tolist()
    return found


def yaleb(rng):
    """Two tables without curves, as the paper's."""
    published = {
        "570 atoms, 1-NN on codes": (570, (80.5, 95.0, 96.9, 97.2)),
        "All samples, residual rule": (None, (97.2, 96.7, 98.2, 98.4)),
    }
    lines = [
        header(
            "yaleb",
            title="Extended YaleB",
            protocol="Random faces, 504 features; half of "
            "each person's pictures for training, five random projections and splits. Settings by "
            "cross-validation on the training half.",
        )
    ]
    for table, (size, numbers) in published.items():
        for method, paper in zip(("SRC", "LC-KSVD", "kSC", "kLLC"), numbers, strict=True):
            centre = paper + rng.normal(scale=1.0)
            for split in range(5):
                lines.append(
                    result(
                        "yaleb",
                        table,
                        method,
                        split,
                        centre + rng.normal(scale=0.5),
                        size=size,
                        paper=paper,
                        seconds=float(rng.lognormal(3, 1)),
                        nonzeros=float(rng.uniform(5, 60)),
                        configuration={"kernel": "rbf", "alpha": float(rng.choice([1e-3, 5e-4]))},
                        artifacts=histories(rng, 12, method == "kSC")
                        if size and method[0] == "k"
                        else {},
                    )
                )
        lines.append(result("yaleb", table, "ridge control", 0, 97.9, size=size, nonzeros=None))
    return lines


def fmd(rng):
    """Nine methods against the number of atoms."""
    table = "Accuracy against atoms"
    lines = [
        header(
            "fmd",
            title="Flickr Material Database",
            protocol="800 visual words on dense RootSIFT; three random halves.",
        )
    ]
    for rank, method in enumerate(METHODS):
        for size in (50, 100, 200, 300, 400, 500):
            paper = {"kSC": 53.4, "kLLC": 52.8, "SC": 51.6}.get(method) if size == 500 else None
            for split in range(3):
                value = 38 + 1.6 * rank + 6 * np.log2(size / 50) / 3.3 + rng.normal(scale=1.1)
                lines.append(
                    result(
                        "fmd",
                        table,
                        method,
                        split,
                        value,
                        size=size,
                        paper=paper,
                        seconds=size * (1 + rank) / 40,
                        nonzeros=4 + rank + size / 50,
                        artifacts=histories(rng, 14) if rank in (3, 7) and split < 2 else {},
                    )
                )
    return lines


def virus(rng):
    """Confusions and values of classes."""
    lines = [header("virus", title="Virus texture", protocol="Region covariances, ten folds.")]
    for method, paper in (("kSC", 79.1), ("kLLC", 80.0), ("pyriemann SVC", None)):
        for split in range(10):
            counts = np.zeros((15, 15), int)
            for row in range(15):
                others = rng.choice(15, 2)
                right = int(rng.integers(5, 10))
                counts[row, row] += right
                np.add.at(counts[row], rng.choice(others, 10 - right), 1)
            shares = 100 * np.diag(counts) / counts.sum(axis=1)
            lines.append(
                result(
                    "virus",
                    "Ten folds",
                    method,
                    split,
                    float(shares.mean()),
                    paper=paper,
                    artifacts={
                        "classes": list(VIRUSES),
                        "confusion": counts.tolist(),
                        "per_class": dict(zip(VIRUSES, shares.tolist(), strict=True)),
                    },
                )
            )
    return lines


def digits(rng):
    """Queries with their atoms and residuals, and a dictionary."""
    from sklearn.datasets import load_digits

    images, labels = load_digits().images / 16, load_digits().target
    examples = []
    for query in range(0, 18, 3):
        atoms = [
            {"weight": float(w), "label": str(labels[a]), "image": png(images[a])}
            for w, a in zip(rng.normal(size=6) / 2, rng.integers(0, 1700, 6), strict=True)
        ]
        residuals = {str(c): float(rng.uniform(0.2, 1)) for c in range(10)}
        residuals[str(labels[query])] = 0.08
        answer = labels[query] if query else (labels[query] + 1) % 10
        examples.append(
            {
                "query": {
                    "label": str(labels[query]),
                    "predicted": str(answer),
                    "image": png(images[query]),
                },
                "atoms": atoms,
                "residuals": residuals,
            }
        )
    artifacts = {"examples": examples, "atom_images": [png(images[i]) for i in range(60, 124)]}
    lines = [header("digits", title="Handwritten digits", quick=True, paper="")]
    for method, value in (("kSC", 98.1), ("kLLC", 97.4), ("bag of words, hard", 94.0)):
        given = artifacts if method == "kSC" else {}
        lines.append(result("digits", "Residual rule", method, 0, value, artifacts=given))
    return lines


EXPERIMENTS = {"yaleb": yaleb, "fmd": fmd, "virus": virus, "digits": digits}


def write_runs(folder, names=tuple(EXPERIMENTS)):
    """One file per experiment; the same records every time."""
    for name in names:
        write(folder / f"{name}.jsonl", EXPERIMENTS[name](np.random.default_rng(7)))
    return folder
