#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The daemon with its real device against clients that die, disagree, stay away and come back: TAP.

Usage: daemon_test.py SDMACCD LIBRARY. SDMACC_TEST_THIN=k does a k-th of the repetitions.
"""

import array
import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

SDMACCD, LIBRARY = sys.argv[1:3]
THIN = int(os.environ.get("SDMACC_TEST_THIN", "1"))
PATIENCE = 120  # seconds; only a fault makes anything take that long
FP32, ADD = 10, 0
MISMATCH, PEER_GONE, TIMEOUT, REVOKED, DAEMON_GONE = 5, 6, 7, 9, 16


class Failed(Exception):
    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code, self.text = code, text


class Client:
    def __init__(self, socket):
        self.library = ctypes.CDLL(LIBRARY)
        self.library.sdmacc_last_error.restype = ctypes.c_char_p
        self.library.sdmacc_tensor_data.restype = ctypes.c_void_p
        self.connection = ctypes.c_void_p()
        self.call("connect", socket.encode(), ctypes.byref(self.connection))

    def call(self, name, *arguments):
        code = getattr(self.library, "sdmacc_" + name)(*arguments)
        if code != 0:
            raise Failed(code, self.library.sdmacc_last_error().decode())

    def join(self, name, size, rank):
        group = ctypes.c_void_p()
        self.call("group_join", self.connection, name.encode(), size, rank, -1, ctypes.byref(group))
        return group

    def tensor(self, count):
        tensor = ctypes.c_void_p()
        self.call("tensor_alloc", self.connection, ctypes.c_uint64(4 * count), ctypes.byref(tensor))
        return tensor

    def floats(self, tensor, count):
        address = self.library.sdmacc_tensor_data(tensor)
        return (ctypes.c_float * count).from_address(address)

    def reduce(self, group, tensor, count):
        self.call("all_reduce", group, tensor, tensor, ctypes.c_uint64(0), ctypes.c_uint64(0),
                  ctypes.c_uint64(count), FP32, ADD, ctypes.c_float(1))


class Daemon:
    def __init__(self, *options):
        self.folder = tempfile.TemporaryDirectory(prefix="sdmacc-test-")
        self.socket = self.folder.name + "/socket"
        self.log = open(self.folder.name + "/log", "w+")
        self.process = subprocess.Popen([SDMACCD, "--socket", self.socket, *options], stderr=self.log)
        end = time.monotonic() + PATIENCE
        while not os.path.exists(self.socket):
            assert self.process.poll() is None and time.monotonic() < end, "the daemon does not start"
            time.sleep(0.01)

    def footprint(self):
        """Descriptors and resident KiB."""
        pid = self.process.pid
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
        return len(os.listdir(f"/proc/{pid}/fd")), resident

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE)
        self.log.seek(0)
        assert code == 0, f"the daemon ended with {code}: {self.log.read()[-4000:]}"
        self.folder.cleanup()


def child(function):
    """A process that runs the function and exits with what it returns."""
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            code = function() or 0
        except Failed as failed:
            code = failed.code
        finally:
            os._exit(code)
    return pid


def reap(pid):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    raise AssertionError("a client hangs")


def serves(daemon):
    """Two processes get the right sum."""
    def rank(number):
        def run():
            client = Client(daemon.socket)
            group, tensor = client.join("probe", 2, number), client.tensor(1000)
            values = client.floats(tensor, 1000)
            values[:] = [i + number for i in range(1000)]
            client.reduce(group, tensor, 1000)
            return 0 if list(values) == [2 * i + 1 for i in range(1000)] else 98
        return run
    codes = [reap(pid) for pid in [child(rank(0)), child(rank(1))]]
    assert codes == [0, 0], codes


def test_kill_9_in_mid_operation():
    daemon = Daemon()
    rounds = max(20, 1000 // THIN // THIN)
    chance = random.Random(5)
    before = None
    for number in range(rounds):
        count = chance.choice([1000, 65536, 262144])

        read, write = os.pipe()

        def loop(rank):
            client = Client(daemon.socket)
            group, tensor, told = client.join(f"kill{number}", 2, rank), client.tensor(count), 0
            while True:
                client.reduce(group, tensor, count)
                if rank == 1 and not told:
                    told = os.write(write, b".")
        pids = [child(lambda: loop(0)), child(lambda: loop(1))]
        os.read(read, 1)  # the first operation is done
        os.close(write)
        os.close(read)
        time.sleep(chance.uniform(0, 0.01))
        os.kill(pids[1], signal.SIGKILL)
        code = reap(pids[0])
        assert reap(pids[1]) == -signal.SIGKILL
        assert code in (PEER_GONE, REVOKED), f"the survivor ended with {code}"
        if number == rounds // 4:
            before = daemon.footprint()
    serves(daemon)
    after = daemon.footprint()
    assert after[0] <= before[0] + 2, f"descriptors grew from {before[0]} to {after[0]}"
    assert after[1] <= before[1] * 1.3 + 8192, f"resident KiB grew from {before[1]} to {after[1]}"
    daemon.end()


def test_groups_come_and_go():
    daemon = Daemon()
    cycles = max(200, 10000 // THIN // THIN)
    client = Client(daemon.socket)
    tensor = client.tensor(64)
    before = None
    for number in range(cycles):
        group = client.join(f"g{number}", 1, 0)
        client.reduce(group, tensor, 64)
        client.call("group_leave", group)
        if number == cycles // 4:
            before = daemon.footprint()
    after = daemon.footprint()
    assert after[0] <= before[0], f"descriptors grew from {before[0]} to {after[0]}"
    assert after[1] <= before[1] * 1.1 + 4096, f"resident KiB grew from {before[1]} to {after[1]}"
    serves(daemon)
    daemon.end()


def outcomes(daemon, ranks, action, size=None):
    """Each rank's code and error text."""
    results = []
    for rank in range(ranks):
        read, write = os.pipe()
        def run(rank=rank, write=write):
            try:
                client = Client(daemon.socket)
                group = client.join("group", size or ranks, rank)
                action(client, group, rank)
                os.write(write, b"0 ")
            except Failed as failed:
                os.write(write, f"{failed.code} {failed.text}".encode())
            return 0
        pid = child(run)
        os.close(write)
        results.append((pid, read))
    out = []
    for pid, read in results:
        reap(pid)
        text = os.read(read, 4096).decode()
        os.close(read)
        code, _, message = text.partition(" ")
        out.append((int(code or -1), message))
    return out


def test_ranks_that_disagree():
    daemon = Daemon()
    for other in ("count", "type"):
        def action(client, group, rank, other=other):
            tensor = client.tensor(200)
            count = 101 if rank == 1 and other == "count" else 100
            dtype = 6 if rank == 1 and other == "type" else FP32
            client.call("all_reduce", group, tensor, tensor, ctypes.c_uint64(0), ctypes.c_uint64(0),
                        ctypes.c_uint64(count), dtype, ADD, ctypes.c_float(1))
        for code, text in outcomes(daemon, 3, action):
            # A rank that comes after the failure finds the group revoked, with the first cause.
            assert code in (MISMATCH, REVOKED) and "rank 1: ALL_REDUCE" in text, (code, text)
    serves(daemon)
    daemon.end()


def test_a_rank_that_stays_away():
    daemon = Daemon("--timeout", "0.5")
    def action(client, group, rank):
        if rank == 2:
            time.sleep(3)
            return
        client.reduce(group, client.tensor(100), 100)
    results = outcomes(daemon, 3, action)
    for code, text in results[:2]:
        assert code == TIMEOUT and "missing: rank 2" in text, (code, text)
    serves(daemon)
    daemon.end()


def test_an_end_while_operations_run():
    for _ in range(max(3, 20 // THIN)):
        daemon = Daemon()
        def loop(rank):
            client = Client(daemon.socket)
            group, tensor = client.join("busy", 2, rank), client.tensor(1 << 20)
            while True:
                client.reduce(group, tensor, 1 << 20)
        pids = [child(lambda: loop(0)), child(lambda: loop(1))]
        time.sleep(0.1)
        daemon.end()
        codes = [reap(pid) for pid in pids]
        assert all(code in (DAEMON_GONE, PEER_GONE, REVOKED) for code in codes), codes


def test_large_uneven_operations_are_right():
    daemon = Daemon()
    count = (9 << 20) + 7  # several windows and a rest
    def action(client, group, rank):
        tensor = client.tensor(count)
        values = client.floats(tensor, count)
        ctypes.memmove(values, array.array("f", [(i % 1021) + rank for i in range(4096)]).tobytes() * (count // 4096) +
                       array.array("f", [(i % 1021) + rank for i in range(count % 4096)]).tobytes(), 4 * count)
        client.reduce(group, tensor, count)
        for i in (0, 1, 4095, 4096, count // 2, count - 2, count - 1):
            place = i % 4096
            assert values[i] == 3 * (place % 1021) + 3, (rank, i, values[i])
    for code, text in outcomes(daemon, 3, action):
        assert code == 0, (code, text)
    daemon.end()


def main():
    tests = [(name[5:], function) for name, function in globals().items() if name.startswith("test_")]
    print("TAP version 13")
    print(f"1..{len(tests)}", flush=True)
    failed = 0
    for number, (name, function) in enumerate(tests, 1):
        try:
            function()
            print(f"ok {number} - {name}", flush=True)
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f"# {type(error).__name__}: {error}\nnot ok {number} - {name}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
