"""Records and arrays in few instructions.

Numba hands a record over as a hundred arguments, one for each number that describes one of its
arrays, puts it together again in every function, and writes thirty instructions for one entry of
an array: most of what LLVM then reads, and throws away. Here a record is handed over as its
address, its fields are read once, and an index is what it says: no one counts from the end.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, ir, types
from numba.core.datamodel import ArgPacker
from numba.core.imputils import impl_ret_borrowed
from numba.core.lowering import Lower
from numba.np.arrayobj import load_item, store_item

# Fields of Numba's description of an array.
MEMINFO, PARENT, NITEMS, ITEMSIZE, DATA, SHAPE, STRIDES = range(7)


class Record:
    """A record as an argument: the address where a caller keeps it."""

    def __init__(self, model: Any):
        self.model = model

    def get_argument_type(self) -> Any:
        """Type of the address."""
        return self.model.get_value_type().as_pointer()

    def as_argument(self, builder: Any, value: Any) -> Any:
        """Where it is, or is put now."""
        if not hasattr(value, "kept"):
            pointer = cgutils.alloca_once(builder, value.type)
            builder.store(value, pointer)
            return pointer
        return value.kept

    def from_argument(self, builder: Any, pointer: Any) -> Any:
        """The record, and from where it came."""
        value = builder.load(pointer)
        value.kept = pointer
        return value


class Models:
    """How values are represented, records by their addresses."""

    def __init__(self, models: Any):
        self.models = models

    def lookup(self, kind: Any) -> Any:
        """The representation of one type."""
        model = self.models.lookup(kind)
        is_record = isinstance(kind, types.BaseNamedTuple)
        has_arrays = is_record and any(isinstance(one, types.Array) for one in kind.types)
        return Record(model) if has_arrays else model


def with_records(context: Any) -> Any:
    """A target like another one, to which records are handed over as addresses."""
    own = context.subtarget()
    own.get_arg_packer = lambda kinds: ArgPacker(Models(own.data_model_manager), kinds)
    return own


class ShortLower(Lower):
    """Numba's translation, with other words for records and entries of arrays."""

    def extract_function_arguments(self) -> Any:
        """Find the names of records that came as arguments and never stand for anything else."""
        self.records: dict[str, Any] = {}
        self.fields: dict[tuple[str, int], Any] = {}
        found = super().extract_function_arguments()
        assigned: dict[str, list] = {}
        for block in self.blocks.values():
            for one in block.find_insts(ir.Assign):
                assigned.setdefault(one.target.name, []).append(one.value)
        arguments = {
            name: found[values[0].index]
            for name, values in assigned.items()
            if len(values) == 1 and isinstance(values[0], ir.Arg)
        }
        self.records = {name: one for name, one in arguments.items() if hasattr(one, "kept")}
        return found

    def lower_inst(self, inst: Any) -> None:
        """Leave out what only gives a record its name; its caller counts references to it."""
        name: Any = None
        if isinstance(inst, ir.Assign):
            name = inst.target.name
        elif isinstance(inst, ir.Del):
            name = inst.value
        if name not in self.records:
            super().lower_inst(inst)

    def loadvar(self, name: str) -> Any:
        """The value of a variable."""
        return self.records[name] if name in self.records else super().loadvar(name)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Read a field of a record once, at the beginning."""
        if expr.op != "getattr" or expr.value.name not in self.records:
            return super().lower_expr(resty, expr)
        name = expr.value.name
        place = self.typeof(name).fields.index(expr.attr)
        if (name, place) not in self.fields:
            with self.builder.goto_entry_block():
                pointer = cgutils.gep_inbounds(self.builder, self.records[name].kept, 0, place)
                self.fields[name, place] = self.builder.load(pointer)
        return impl_ret_borrowed(self.context, self.builder, resty, self.fields[name, place])

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """An entry of an array, or a vector that lies in one piece."""
        array, kind = self.typeof(value.name), signature.args[1]
        is_entry = isinstance(array, types.Array) and resty == array.dtype
        is_vector = isinstance(resty, types.Array) and (resty.ndim, resty.layout) == (1, "C")
        if not (is_entry or is_vector) or not self._is_plain(array, kind):
            return super().lower_getitem(resty, expr, value, index, signature)
        whole, indices = self.loadvar(value.name), self._indices(index, kind)
        if is_entry:
            return load_item(self.context, self.builder, array, self._at(whole, indices))
        vector = self._vector(array, whole, indices, resty)
        return impl_ret_borrowed(self.context, self.builder, resty, vector)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Write an entry of an array."""
        array, kind, value_kind = signature.args
        is_entry = self._is_plain(array, kind) and len(parts_of(kind)) == array.ndim
        is_entry = is_entry and not isinstance(parts_of(kind)[-1], types.SliceType)
        if not is_entry or not isinstance(value_kind, types.Number | types.Boolean):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        own = self.typeof(value_var.name)
        value = self.context.cast(self.builder, self.loadvar(value_var.name), own, array.dtype)
        pointer = self._at(self.loadvar(target_var.name), self._indices(index_var, kind))
        return store_item(self.context, self.builder, array, value, pointer)

    def _is_plain(self, array: Any, kind: Any) -> bool:
        """Whether the index is integers, the last of them perhaps a slice without a step."""
        if not isinstance(array, types.Array) or array.layout != "C":
            return False
        *first, last = parts_of(kind) or (None,)
        numbers = all(isinstance(one, types.Integer) for one in first)
        is_slice = isinstance(last, types.SliceType) and not last.has_step
        # Where bounds are checked, Numba does it.
        return numbers and (is_slice or isinstance(last, types.Integer)) and not self._checks()

    def _checks(self) -> bool:
        return bool(self.context.enable_boundscheck)

    def _indices(self, index: Any, kind: Any) -> list:
        """The numbers, or slices, of an index."""
        own = self.typeof(index.name)
        value = self.context.cast(self.builder, self.loadvar(index.name), own, kind)
        if not isinstance(kind, types.BaseTuple):
            return [self._integer(value, kind)]
        parts = enumerate(parts_of(kind))
        return [self._integer(self.builder.extract_value(value, i), one) for i, one in parts]

    def _integer(self, value: Any, kind: Any) -> Any:
        if isinstance(kind, types.SliceType):
            return value
        wide = types.intp if kind.signed else types.uintp
        return self.context.cast(self.builder, value, kind, wide)

    def _at(self, whole: Any, indices: list) -> Any:
        """Address of the entry, or of the first one, that some integers stand for."""
        builder, n_axes = self.builder, whole.type.elements[SHAPE].count
        place = indices[0]
        for axis in range(1, n_axes):
            place = builder.mul(place, builder.extract_value(whole, [SHAPE, axis]))
            if axis < len(indices):
                place = builder.add(place, indices[axis])
        return builder.gep(builder.extract_value(whole, DATA), [place])

    def _vector(self, array: Any, whole: Any, indices: list, resty: Any) -> Any:
        """The vector that an index stands for."""
        builder, last = self.builder, indices[-1]
        length = builder.extract_value(whole, [SHAPE, array.ndim - 1])
        if len(indices) == array.ndim:  # the last one is a slice
            start, stop = builder.extract_value(last, 0), builder.extract_value(last, 1)
            stop = builder.select(builder.icmp_signed("<", stop, length), stop, length)
            length = builder.sub(stop, start)
            zero = length.type(0)
            length = builder.select(builder.icmp_signed(">", length, zero), length, zero)
            indices = [*indices[:-1], start]
        itemsize = builder.extract_value(whole, ITEMSIZE)
        found = cgutils.get_null_value(self.context.get_value_type(resty))
        for place in (MEMINFO, PARENT):
            found = builder.insert_value(found, builder.extract_value(whole, place), place)
        pointer = self._at(whole, indices)
        for place, one in ((NITEMS, length), (ITEMSIZE, itemsize), (DATA, pointer)):
            found = builder.insert_value(found, one, place)
        found = builder.insert_value(found, length, [SHAPE, 0])
        return builder.insert_value(found, itemsize, [STRIDES, 0])


def parts_of(kind: Any) -> tuple:
    """Types of the parts of an index."""
    return tuple(getattr(kind, "types", (kind,)))
