"""Draw the task graph of lazy coding, from a real one: ``python docs/figures/task_graph.py``."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

import dask
import dask.array as da
import numpy as np

import kernelcoding as kc

PICTURE = Path(__file__).with_name("task-graph.svg")
N_BLOCKS = 4
WIDTH, HEIGHT, GAP_X, GAP_Y = 132, 40, 20, 46
KINDS = {
    "model": ("fitted estimator", "#fde68a"),
    "read": ("read block", "#dbeafe"),
    "code": ("transform", "#bbf7d0"),
    "write": ("write chunk", "#e9d5ff"),
}


def graph() -> dict[object, tuple[str, set[object]]]:
    """Each task of a real graph: its kind, and the tasks it needs."""
    coder = kc.KernelSparseCoder(sparse_output=True).fit(np.eye(5))
    read = dask.delayed(np.ones)
    X = [read((3, 5), dask_key_name=f"read-{number}") for number in range(N_BLOCKS)]
    codes = coder.transform(X)
    write = dask.delayed(len)
    chunks = codes.to_delayed(optimize_graph=False).ravel()
    files = [write(chunk, dask_key_name=f"write-{n}") for n, chunk in enumerate(chunks)]
    assert isinstance(codes, da.Array)
    found: dict[object, tuple[str, set[object]]] = {}
    for file in files:
        layers = file.__dask_graph__()
        needs = layers.get_all_dependencies()
        found |= {key: (kind(key), set(needs[key])) for key in layers.to_dict()}
    return found


def kind(key: object) -> str:
    """What a task does, by its name."""
    name = str(key[0] if isinstance(key, tuple) else key)
    starts = {"Shared": "model", "read": "read", "write": "write", "kernelcoding": "code"}
    return next(what for start, what in starts.items() if name.startswith(start))


def draw(tasks: dict[object, tuple[str, set[object]]]) -> str:
    """The picture: time goes down, blocks stand side by side."""
    rows = ["read", "code", "write"]
    at: dict[object, tuple[float, float]] = {}
    for line, name in enumerate(rows):
        keys = sorted((key for key, (what, _) in tasks.items() if what == name), key=str)
        for column, key in enumerate(keys):
            at[key] = ((column + 1) * (WIDTH + GAP_X) + GAP_X, line * (HEIGHT + GAP_Y) + 20)
    (model,) = (key for key, (what, _) in tasks.items() if what == "model")
    at[model] = (GAP_X, 20)
    lines, boxes = [], []
    for key, (what, needs) in tasks.items():
        x, y = at[key]
        label, colour = KINDS[what]
        boxes.append(
            f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="8" fill="{colour}" '
            f'stroke="#475569"/><text x="{x + WIDTH / 2}" y="{y + 25}">{escape(label)}</text>'
        )
        for other in sorted(needs, key=str):
            left, top = at[other]
            lines.append(
                f'<path d="M{left + WIDTH / 2},{top + HEIGHT} C{left + WIDTH / 2},{y - 8} '
                f'{x + WIDTH / 2},{top + HEIGHT + 12} {x + WIDTH / 2},{y}" fill="none" '
                'stroke="#94a3b8" stroke-width="1.5"/>'
            )
    width = (N_BLOCKS + 1) * (WIDTH + GAP_X) + GAP_X
    height = len(rows) * (HEIGHT + GAP_Y) - GAP_Y + 40
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'font-family="sans-serif" font-size="14" text-anchor="middle">'
        "<title>One task per block; all share one fitted estimator</title>"
        f'<rect width="{width}" height="{height}" fill="white"/>'
        f"{''.join(sorted(lines))}{''.join(sorted(boxes))}</svg>\n"
    )


if __name__ == "__main__":
    PICTURE.write_text(draw(graph()))
