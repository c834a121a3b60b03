"""Network namespaces of this machine as hosts, and the line between two of them."""

import fcntl
import heapq
import os
import random
import select
import shutil
import struct
import subprocess
import threading
import time


class Line(threading.Thread):
    """Carries packets between two devices of type TUN, each in a namespace, with a delay and losses."""

    TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000

    def __init__(self, names, delay, loss):
        super().__init__(daemon=True)
        self.delay, self.loss, self.random, self.ends = delay, loss, random.Random(1), False
        self.packets = float("inf")  # that are carried before the line is cut
        self.ends_of_line = [os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK) for _ in names]
        for end, name in zip(self.ends_of_line, names):
            fcntl.ioctl(end, self.TUNSETIFF, struct.pack("16sH22x", name.encode(), self.IFF_TUN | self.IFF_NO_PI))

    def run(self):
        waiting = []  # (when, number, to, packet)
        while not self.ends:
            wait = 0.05 if not waiting else min(0.05, max(0, waiting[0][0] - time.monotonic()))
            for end in select.select(self.ends_of_line, [], [], wait)[0]:
                try:
                    packet = os.read(end, 65536)
                except OSError:
                    self.ends = True  # the namespace is gone
                    break
                self.packets -= 1
                if self.packets > 0 and self.random.random() >= self.loss:
                    other = self.ends_of_line[self.ends_of_line[0] == end]
                    heapq.heappush(waiting, (time.monotonic() + self.delay, self.random.random(), other, packet))
            while waiting and waiting[0][0] <= time.monotonic():
                try:
                    os.write(waiting[0][2], waiting[0][3])
                except OSError:
                    pass  # the other end is down
                heapq.heappop(waiting)
        for end in self.ends_of_line:
            os.close(end)


def may_make_namespaces():
    if os.geteuid() != 0 or shutil.which("ip") is None or not os.path.exists("/dev/net/tun"):
        return False
    name = f"hilo-try-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode == 0
    return made and subprocess.run(["ip", "netns", "delete", name], capture_output=True).returncode == 0


class Hosts:
    """Two namespaces with addresses of their own, as a context."""

    ADDRESSES = ("10.213.7.1", "10.213.7.2")

    def __init__(self, delay, loss):
        self.names = [f"hilo-{os.getpid()}-{letter}" for letter in "ab"]
        self.devices = [f"hilo{os.getpid() % 1000000}{letter}" for letter in "ab"]
        self.delay, self.loss = delay, loss

    @staticmethod
    def ip(*arguments):
        subprocess.run(["ip", *arguments], check=True, capture_output=True)

    def __enter__(self):
        self.made = []
        self.line = Line(self.devices, self.delay, self.loss)
        try:
            for name, device, address, peer in zip(self.names, self.devices, self.ADDRESSES, reversed(self.ADDRESSES)):
                self.ip("netns", "add", name)
                self.made.append(name)
                self.ip("link", "set", device, "netns", name)
                for arguments in (("link", "set", "lo", "up"), ("addr", "add", address, "peer", peer, "dev", device), ("link", "set", device, "up", "txqueuelen", "10000")):
                    self.ip("-n", name, *arguments)
        except subprocess.CalledProcessError:
            self.__exit__()
            raise
        self.line.start()
        return self

    def __exit__(self, *_):
        self.line.ends = True
        if self.line.is_alive():
            self.line.join()
        for name in self.made:
            self.ip("netns", "delete", name)
