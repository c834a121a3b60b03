"""JAX's coordination service in a process of its own, so that a job outlives each of its processes, process 0 too.

    python -m jax_plugins.hilo.coordinator HOST:PORT PROCESSES [HEARTBEAT_SECONDS]

`hilo launch --coordinator=python` starts it. The service lets processes die and come back (jax_enable_recoverability), and ends with SIGTERM.
The program calls jax.distributed.initialize with this address, or with none and JAX_COORDINATOR_ADDRESS=HOST:PORT. Its process 0 always serves
too, to nobody: JAX_COORDINATOR_BIND_ADDRESS=127.0.0.1:0 keeps it off this port.
"""

import os
import signal
import sys


def main(arguments):
    if len(arguments) not in (2, 3):
        print(__doc__.split("\n\n")[1].strip(), file=sys.stderr)
        return 2
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT])  # in the service's threads, too
    from jax._src.lib import _jax

    service = _jax.get_distributed_runtime_service(arguments[0], int(arguments[1]), heartbeat_timeout=int((arguments + ["100"])[2]), recoverable=True)
    signal.sigwait([signal.SIGTERM, signal.SIGINT])
    del service
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
