"""Parts are optimised once, within the function that Python calls.

Left alone, Numba optimises every function and makes machine code of it, then again in whoever
calls it: half the time of a first call goes into code that never runs, and which of the copies
runs depends on what a process has loaded before. Here a *part*, which only compiled code calls,
stays as it was translated, and a *whole*, which Python calls, takes in its parts and the parts of
these and keeps them to itself.

All of it lies beside the public interface of Numba, but for the compilers themselves; so it is
used with the versions it was tested with (``jit.py``), and others compile as they always did.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding
from numba.core import errors, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from .translation import ShortLower, with_records

# Passes for what is not written here: closures, with, raise, array expressions, literal loops,
# functions inlined before their types are known. Each reads every line of every function.
NOT_NEEDED = {
    "AnnotateTypes",
    "DeadBranchPrune",
    "DumpParforDiagnostics",
    "FindLiterallyCalls",
    "GenericRewrites",
    "InlineClosureLikes",
    "InlineInlinables",
    "InlineOverloads",
    "LiteralPropagationSubPipelinePass",
    "LiteralUnroll",
    "MakeFunctionToJitFunction",
    "NoPythonSupportedFeatureValidation",
    "NopythonRewrites",
    "RewriteDynamicRaises",
    "RewriteSemanticConstants",
    "WithLifting",
}

COPIED = 60  # size up to which LLVM puts a copy of a function into each of its callers


class QuickFlags(Flags):
    """Options of a compilation that are compared quickly.

    Numba gives all of them one hash, and compares them thousands of times.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Flags):
            return NotImplemented
        return bool({**DEFAULTS, **self._values} == {**DEFAULTS, **other._values})

    def __hash__(self) -> int:
        return HASH


DEFAULTS = {name: option.default for name, option in Flags.options.items()}
HASH = hash(Flags())


@contextmanager
def remembered_types() -> Iterator[None]:
    """Let Numba look up once what an operation on some types gives, or that there is none.

    It asks thousands of times, of the same few hundred, and tries every version each time. Who
    compiles in another thread waits until it is over, as Numba lets him wait anyway.
    """
    with global_compiler_lock:
        yield from _remembered(types.BaseFunction)


def _remembered(kind: Any) -> Iterator[None]:
    look_up = kind.get_call_type
    known: dict[tuple, Any] = {}

    def remember(function: Any, context: Any, args: Any, kws: Any) -> Any:
        key = function, tuple(args), tuple(kws.items())
        found = known.get(key)
        if found is None:
            try:
                found = look_up(function, context, args, kws)
            except errors.TypingError as error:
                found = error
            known[key] = found
        if isinstance(found, Exception):
            raise found
        return found

    kind.get_call_type = remember
    try:
        yield
    finally:
        kind.get_call_type = look_up


class OwnLibrary(JITCodeLibrary):
    """Ours: optimised once, at the end, which starts with the passes for single functions."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout


class PartLibrary(OwnLibrary):
    """A part: as it was translated, neither optimised nor made machine code."""

    def finalize(self) -> None:
        """Nothing more to add."""
        self._finalized = True


class WholeLibrary(OwnLibrary):
    """A function that Python calls, with all of its parts."""

    def __init__(self, codegen: Any, name: str):
        super().__init__(codegen, name)
        self._own: set[str] = set()

    def add_llvm_module(self, module: Any) -> None:
        """Take in the function itself, or a wrapper of it."""
        self._own.update(found.name for found in module.functions if not found.is_declaration)
        super().add_llvm_module(module)

    def finalize(self) -> None:
        """Link each part once, then optimise and make machine code."""
        waiting, found = list(self._linking_libraries), dict.fromkeys(self._linking_libraries)
        while waiting:
            library = waiting.pop()
            if isinstance(library, PartLibrary):
                new = [one for one in library._linking_libraries if one not in found]
                found.update(dict.fromkeys(new))
                waiting.extend(new)
        self._linking_libraries = list(found)
        super().finalize()

    def _optimize_final_module(self) -> None:
        # What is internal has no other copy: the same bits whatever else is loaded.
        for function in self._final_module.functions:
            if not function.is_declaration and function.name not in self._own:
                function.linkage = "internal"
        builder = tuned_passes(self._codegen)
        if builder is None:
            super()._optimize_final_module()
            return
        first, first_builder = self._codegen._module_pass_manager(
            opt=0, loop_vectorize=False, slp_vectorize=False, cost="cheap"
        )
        first.run(self._final_module, first_builder)
        builder.getModulePassManager().run(self._final_module, builder)


def tuned_passes(codegen: Any) -> Any:
    """LLVM's passes at full strength, but for two things; None where Numba has others.

    Vectorised loops gain nothing from being unrolled as well, and functions with several callers
    are not copied into them: half of what LLVM has to do.
    """
    if not hasattr(codegen, "_pass_builder") or not hasattr(binding, "create_pass_builder"):
        return None
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.loop_unrolling = False
    options.inlining_threshold = COPIED
    return binding.create_pass_builder(codegen._tm, options)


class ShortLowering(NativeLowering):
    """Translate a function in the few words of ``translation.py``."""

    @property
    def lowering_class(self) -> type:
        """Who translates."""
        return ShortLower

    def run_pass(self, state: Any) -> bool:
        """Translate for a target that takes records by address."""
        state.targetctx = with_records(state.targetctx)
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerPart(ShortLowering):
    """Translate a part for LLVM."""

    _name: Any = "lower_part"

    def run_pass(self, state: Any) -> bool:
        """Translate, and tell Numba where callers find the translation."""
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        entry = object()  # Numba knows a function by its entry for Python: there is none
        state["cr"] = state["cr"]._replace(cfunc=entry)
        state.targetctx.insert_user_function(entry, state["cr"].fndesc, [state.library])
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerWhole(ShortLowering):
    """Translate a function that Python calls."""

    _name: Any = "lower_whole"

    def run_pass(self, state: Any) -> bool:
        """Translate, link and compile."""
        state.library = WholeLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().run_pass(state)


class PartCompiler(CompilerBase):
    """Compiler of parts."""

    lowering: type[NativeLowering] = LowerPart

    def define_pipelines(self) -> list:
        """The passes of Numba that our functions need, with a last step of our own."""
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes = [each for each in manager.passes if each[0].__name__ not in NOT_NEEDED]
        manager.passes = [
            (self.lowering if each is NativeLowering else each, title) for each, title in passes
        ]
        manager._finalized = False
        manager.finalize()
        return [manager]


class WholeCompiler(PartCompiler):
    """Compiler of what Python calls."""

    lowering = LowerWhole
