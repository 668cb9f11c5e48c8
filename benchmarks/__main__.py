"""Run suites, print their tables, write records and plots."""

import argparse
import importlib

from .judge import machine, plot, save, show

SUITES = ("sparse_coding", "local_coding", "bag_of_words", "pursuit", "structured", "scale",
          "dictionary_learning", "kernel_learning", "supervised", "images", "region_covariance",
          "aggregation", "pair_learning", "distributed", "sparse_input", "large")  # fmt: skip
SETTINGS = {
    "dictionary_learning": ("parts",),
    "distributed": ("rows", "parts"),
    "large": ("parts",),
    "sparse_coding": ("parts",),
    "supervised": ("parts",),
}  # that suites know


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*", help=f"of {', '.join(SUITES)}; default all")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--size", type=int, help="rows per block of the suite distributed")
    parser.add_argument("--part", nargs="+", help="of the suites that have parts; default all")
    arguments = parser.parse_args()
    print(machine())
    for name in arguments.suites or SUITES:
        rows = []
        asked = {"rows": arguments.size, "parts": arguments.part}
        settings = {key: asked[key] for key in SETTINGS.get(name, ()) if asked[key]}
        suite = importlib.import_module(f"benchmarks.{name}")
        for row in suite.run(arguments.quick, **settings):
            rows.append(row)
            print(
                f"  {row.case} vs {row.peer} ({row.threads} threads): {row.ratio:.2f}", flush=True
            )
        show(name, rows)
        save(name, rows)
        plot(name, rows)


if __name__ == "__main__":
    main()
