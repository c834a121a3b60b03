"""jax.debug.inspect_array_sharding in compiled programs of several devices.

JAX's own lowering puts the address of an object of jaxlib's into the program. For Hilo it is a number, by which the plugin's inspector finds the Python
function while the program is compiled; what asks is taken out of the program.
"""

import itertools
import threading
import traceback
import weakref

import numpy as np

from . import _ffi

_numbers = itertools.count(1)
_lock = threading.Lock()
_questions = weakref.WeakValueDictionary()  # by number


class _Question:
    """Who wants to know a sharding, alive as long as the program."""

    def __init__(self, answer):
        self.answer = answer
        with _lock:
            self.number = next(_numbers)
            _questions[self.number] = self


@_ffi.ShardingInspector
def _inspector(number, data, size):
    question = _questions.get(number)
    if question is None:
        return
    try:
        question.answer(data[:size])
    except BaseException:  # it must not get lost on its way through the compiler
        traceback.print_exc()


def install(plugin):
    from jax._src import debugging, mesh as mesh_lib, sharding_impls
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import hlo
    from jax.sharding import NamedSharding, PartitionSpec

    def meshes(ctx):
        """The devices of the program and its mesh, which may be empty."""
        axes = ctx.module_context.axis_context
        if isinstance(axes, sharding_impls.SPMDAxisContext):
            return axes.mesh._flat_devices_tuple, axes.mesh
        mesh = mesh_lib.thread_resources.env.physical_mesh
        if axes.device_assignment is not None and axes.abstract_mesh is not None:
            shape = axes.abstract_mesh.axis_sizes
            mesh = mesh_lib.Mesh(np.array(axes.device_assignment).reshape(shape), axes.abstract_mesh.axis_names)
        return axes.device_assignment, mesh

    original = mlir._lowerings[debugging.inspect_sharding_p].rule

    def rule(ctx, value, *, callback):
        devices, mesh = meshes(ctx)
        if devices is None or len(devices) == 1:
            return original(ctx, value, callback=callback)

        def answer(data):
            message = xla_client.OpSharding()
            message.ParseFromString(data)
            sharding = xla_client.HloSharding.from_proto(message)
            if mesh.empty:
                return callback(sharding_impls.GSPMDSharding(devices, sharding))
            spec = PartitionSpec() if sharding.is_manual() else debugging.parse_flatten_op_sharding(sharding, mesh)[0]
            return callback(NamedSharding(mesh, spec))

        question = _Question(answer)
        ctx.module_context.add_keepalive(question)
        hlo.CustomCallOp([value.type], [value], call_target_name=ir.StringAttr.get("InspectSharding"), has_side_effect=ir.BoolAttr.get(True),
                         api_version=mlir.i32_attr(1), called_computations=ir.ArrayAttr.get([]), backend_config=ir.StringAttr.get(str(question.number)))
        return []

    mlir.register_lowering(debugging.inspect_sharding_p, rule, platform="hilo")
    plugin.set_sharding_inspector(_inspector)
