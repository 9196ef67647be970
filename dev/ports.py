"""Free ports of this machine."""

import random
import socket
from contextlib import closing
from itertools import islice

# Below the range from which Linux and macOS take ports for outgoing connections, so that none of these takes one
# between our choice and the node's bind.
PORTS = range(20_000, 32_000)


def free_ports(count: int) -> list[int]:
    """Return ports of the loopback address that nobody listens at, chosen at random."""
    candidates = random.SystemRandom().sample(PORTS, len(PORTS))
    return list(islice(filter(_is_free, candidates), count))


def _is_free(port: int) -> bool:
    with closing(socket.socket()) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
