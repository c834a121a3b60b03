"""JAX on Hilo: JAX imports this module by itself and calls initialize().

    JAX_PLATFORMS=hilo python program.py

Environment: HILO_NUM_DEVICES, HILO_NUM_THREADS, HILO_MEMORY_LIMIT (bytes), HILO_BACKEND (a platform of Hilo's), HILO_PLATFORM_NAME (what
jax.default_backend() says), HILO_PJRT_LIBRARY (another libpjrt_hilo.so).
"""

import atexit
import ctypes
import logging
import os
import pathlib

_logger = logging.getLogger(__name__)

# Above JAX's own CPU client, which is 0: a user who installs Hilo and sets no JAX_PLATFORMS gets it.
_PRIORITY = 500


def library_path():
    """The plugin: HILO_PJRT_LIBRARY, or the one that was installed with this package, or that of the source tree's build."""
    here = pathlib.Path(__file__).resolve().parent
    candidates = [here / "libpjrt_hilo.so", here.parents[2] / "build" / "lib" / "libpjrt_hilo.so"]
    if os.environ.get("HILO_PJRT_LIBRARY"):
        candidates = [pathlib.Path(os.environ["HILO_PJRT_LIBRARY"])]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    _logger.warning("Hilo is not available to JAX: there is no %s", " nor ".join(map(str, candidates)))
    return None


def client_options():
    """What JAX's own settings say about the client: jax_num_cpu_devices holds unless Hilo's environment says something else; where the processes meet."""
    import jax
    from jax._src import distributed

    options = {}
    count = getattr(jax.config, "jax_num_cpu_devices", -1)
    if count >= 1 and "HILO_NUM_DEVICES" not in os.environ and os.environ.get("HILO_BACKEND") != "cuda":
        options["num_devices"] = count
    if distributed.global_state.coordinator_address:
        options["coordinator"] = distributed.global_state.coordinator_address
    return options


def _keep_client():
    """Keeps the client until the process has ended. NumPy arrays that share the memory of JAX's have jaxlib's client by its address alone, and at the end Python may destroy them after it."""
    from jax._src import xla_bridge

    client = xla_bridge._backends.get("hilo")
    # Other processes are told when the client of one of several is destroyed.
    if client is not None and all(device.process_index == client.process_index() for device in client.devices()):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(client))


def initialize():
    """Registers the plugin; called by JAX. Clients are made when they are first asked for."""
    path = library_path()
    if path is None:
        return
    from jax._src import xla_bridge

    xla_bridge._nonexperimental_plugins.add("hilo")
    api = xla_bridge.register_plugin("hilo", priority=_PRIORITY, library_path=str(path), options=client_options())
    from . import _jax_rules

    _jax_rules.install(api)
    atexit.register(_keep_client)  # runs before JAX forgets its clients
