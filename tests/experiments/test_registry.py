"""All experiments are declared alike, with the numbers of the paper."""

import numpy as np
import pytest

from kernelcoding.experiments import REGISTRY, run
from kernelcoding.experiments.definition import Dataset


def test_all_experiments_are_declared_alike():
    for name, variants in REGISTRY.items():
        for quick, experiment in ((False, variants.full), (True, variants.quick)):
            assert experiment.name == name
            assert experiment.quick == quick
            assert ("Quick version" in experiment.protocol) == quick
            keys = [cell.key for cell in experiment.cells()]
            assert len(keys) == len(set(keys))
            for table in experiment.tables:
                assert table.splits in experiment.splits
                methods = (*table.methods, *table.anchors)
                assert all(method.view in experiment.views for method in methods)
                assert len({method.name for method in methods}) == len(methods)
        full = {cell.key for cell in variants.full.cells()}
        assert len({cell.key for cell in variants.quick.cells()}) < len(full)


def test_the_papers_numbers_are_in_the_tables():
    def numbers(name):
        return sorted(
            cell.paper
            for cell in REGISTRY[name].full.cells()
            if cell.paper is not None and cell.split == 0
        )

    assert numbers("yaleb") == [80.5, 95.0, 96.7, 96.9, 97.2, 97.2, 98.2, 98.4]
    assert numbers("virus") == sorted(8 * [79.1, 80.0])
    one, four = [46.1, 48.8, 51.6, 52.8, 53.4], [58.5, 59.1]
    assert numbers("fmd") == sorted(2 * one + 3 * four + 3 * [61.8])
    # Each twice: whitened, and not.
    assert numbers("mit-indoor") == [46.6, 46.6, 49.2, 49.2, 50.4, 50.4]
    assert numbers("voc2007") == [50.7, 50.7, 51.8, 51.8, 52.6, 52.6, 54.3, 54.3]


def test_the_figures_have_all_nine_methods():
    nine = {"SC", "LLC", "kBOW", "kSC", "kLLC", "l-SkSC", "l-SkLLC", "bi-SkSC", "bi-SkLLC"}
    for name in ("fmd", "mit-indoor", "voc2007"):
        table = max(REGISTRY[name].full.tables, key=lambda table: len(table.sizes))
        assert {method.name for method in table.methods} >= nine
        assert len(table.sizes) == 5


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_no_supervised_row_is_without_its_control(name):
    for table in REGISTRY[name].full.tables:
        controls = {method.control_of: method.name for method in table.methods}
        for row in {method.name for method in table.methods}:
            if "-Sk" in row and "," not in row:
                assert controls[row] == f"{row}, control"


@pytest.mark.parametrize("name", ["yaleb", "fmd"])
def test_curves_are_of_the_first_splits(name):
    """A second family with fewer splits, the very same divisions."""
    experiment = REGISTRY[name].full
    assert experiment.tables[-1].splits == "curve"
    assert all(table.splits in ("splits", "learned") for table in experiment.tables[:2])
    many, few = experiment.splits["splits"], experiment.splits["curve"]
    assert (many.count, few.count) == {"yaleb": (5, 5), "fmd": (10, 5)}[name]
    dataset = Dataset(None, np.repeat(np.arange(4), 70), tuple("abcd"))
    for number in range(few.count):
        first, second = many.make(dataset, number), few.make(dataset, number)
        assert first.seed == second.seed
        np.testing.assert_array_equal(first.train, second.train)
        np.testing.assert_array_equal(first.test, second.test)


def test_users_errors_say_what_to_do(tmp_path):
    with pytest.raises(ValueError, match=r"no experiment 'yale'; there are digits, yaleb"):
        run("yale", out=tmp_path)
    for name in sorted(set(REGISTRY) - {"digits"}):
        with pytest.raises(FileNotFoundError, match="by hand, see"):
            run(name, tmp_path, out=tmp_path, quick=True, download=False, progress=False)
    with pytest.raises(ValueError, match="quick=True, this run quick=False"):
        run("yaleb", tmp_path, out=tmp_path, download=False)
