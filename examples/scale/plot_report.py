"""
Reading a report
================

An experiment leaves one line per result; the report is a page made of these lines, and displays draw them in notebooks. (This
example takes about half a minute.)
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from kernelcoding.displays import AtomsCurveDisplay
from kernelcoding.experiments import run
from kernelcoding.records import read_runs, tables_of
from kernelcoding.report import write_report

# %%
# The experiment of ``kernelcoding demo``, in its quick version: every coder, linear and kernel, on handwritten digits.
folder = Path(tempfile.mkdtemp())
run("digits", quick=True, out=folder, progress=False)
print(write_report(folder, folder / "report.html"))

# %%
# The same records in Python: tables, rows, means over splits.
(experiment,) = read_runs(folder).experiments
tables = tables_of(experiment.results)
for name, rows in tables.items():
    print(f"{name}: {len(rows)} rows")

# %%
# Left, every sample an atom: the kernel helps most coders. Right, few learned atoms. SC and kSC are sparse coding with the linear
# and the Gaussian kernel, kLLC is local coding, each read by the nearest neighbour on codes; l-SkSC learns dictionary and linear
# classifier together, and its control has the same classifier on a dictionary without labels. The last two may be below kSC:
# they decide by another classifier.
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
rows = sorted(tables["every sample an atom, residual rule"], key=lambda row: row.value.mean)
colours = ["tab:blue" if "Gaussian" in row.method else "0.7" for row in rows]
left.barh([row.method for row in rows], [row.value.mean for row in rows], color=colours)
left.set(xlabel="accuracy, %", xlim=(80, 100), title="every sample an atom (blue: Gaussian kernel)")
AtomsCurveDisplay.from_records(folder, table="accuracy against atoms", ax=right)
right.set_title("few atoms")
plt.show()
