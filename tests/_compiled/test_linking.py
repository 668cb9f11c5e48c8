"""Parts and wholes: what is compiled once, what is not compiled at all, and who is told."""

import logging
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba.core import types
from numba.core.registry import cpu_target

from kernelcoding._compiled import jit, linking

pytestmark = pytest.mark.skipif(
    not hasattr(jit.njit(lambda: 0), "py_func"), reason="nothing is compiled"
)


def make():
    """Two wholes that share a part, which calls another."""

    @jit.part
    def double(x):
        return 2.0 * x

    @jit.part
    def sum_of_doubles(values):
        total = 0.0
        for value in values:
            total += double(value)
        return total

    @jit.compiled
    def first(values):
        return sum_of_doubles(values)

    @jit.compiled
    def second(values):
        return -sum_of_doubles(values) + double(values[0])

    return first, second, sum_of_doubles


def test_the_installed_numba_was_tested():
    assert jit.linking() is not None, "test linking.py with this Numba, then move jit.NEWEST"


def test_a_whole_keeps_its_parts_to_itself():
    first, second, inner = make()
    values = np.arange(4.0)
    assert (first(values), second(values)) == (12.0, -12.0)
    for whole in (first, second):
        (found,) = whole.overloads.values()
        visible = [
            function.name
            for function in found.library._final_module.functions
            if not function.is_declaration and function.linkage.name != "internal"
        ]
        assert visible
        assert all(whole.__name__ in name for name in visible)
    with pytest.raises(TypeError, match="sum_of_doubles is a part"):
        inner(values)


def test_a_version_that_is_not_known_compiles_as_ever(monkeypatch):
    monkeypatch.setattr(jit, "linking", lambda: None)
    first, second, _ = make()
    assert (first(np.arange(4.0)), second(np.arange(4.0))) == (12.0, -12.0)


def test_equal_options_are_equal():
    linking = jit.linking()
    plain = linking.Flags()
    same, other = linking.QuickFlags(plain), linking.QuickFlags(plain)
    same.nrt = plain.options["nrt"].default
    other.fastmath = True
    assert same == plain == same
    assert hash(same) == hash(plain)
    assert plain != other != same


def test_a_long_wait_is_explained_once(monkeypatch, caplog):
    monkeypatch.setattr(jit, "LONG", 0.0)
    jit._tell.cache_clear()
    caplog.set_level(logging.INFO, "kernelcoding")
    first, second, _ = make()
    first(np.arange(3.0))
    second(np.arange(3.0))
    (record,) = [one for one in caplog.records if one.name == "kernelcoding"]
    assert "warm-up" in record.getMessage()


def test_threads_that_compile_at_once_leave_numba_as_it_was():
    context = cpu_target.typing_context
    wholes = [whole for _ in range(3) for whole in make()[:2]]
    with ThreadPoolExecutor(len(wholes)) as pool:
        found = list(pool.map(lambda whole: whole(np.arange(1.0, 4.0)), wholes))
    assert found == [12.0, -10.0] * 3
    assert "resolve_function_type" not in vars(context)


def test_what_numba_could_not_resolve_is_asked_again(monkeypatch):
    context, asked = cpu_target.typing_context, []

    def resolve(function, args, kws):
        asked.append(args)
        return None if len(asked) == 1 else "signature"

    monkeypatch.setattr(type(context), "resolve_function_type", staticmethod(resolve))
    known = types.Function(context._get_global_type(abs).templates[0])
    with linking.remembered_types():
        answers = [context.resolve_function_type(known, (types.int64,), {}) for _ in range(3)]
    assert answers == [None, "signature", "signature"]
    assert len(asked) == 2
