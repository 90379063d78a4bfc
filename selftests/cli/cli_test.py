#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls `sdmacc` as a user does and checks files, output and exit codes: cli_test.py SDMACC SDMACCD LIBSDMACC.

Prints TAP. One daemon serves most tests; those that are about a daemon of the command's own start none. Expected
results are made here, with arithmetic that shares nothing with the programs.
"""

import ctypes
import json
import math
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback

SDMACC, SDMACCD, LIBRARY = (os.path.abspath(path) for path in sys.argv[1:4])
FOLDER = tempfile.TemporaryDirectory(prefix="sdmacc-test-")
WORK = FOLDER.name
SOCKET = os.path.join(WORK, "socket")
ENVIRONMENT = dict(os.environ, SDMACCD=SDMACCD, SDMACC_SOCKET=os.path.join(WORK, "nobody"), TMPDIR=WORK)
PATIENCE = 120

# name: (descr of the .npy, exponent bits, fraction bits)
TYPES = {"fp32": ("<f4", 8, 23), "fp16": ("<f2", 5, 10), "bf16": ("<u2", 8, 7),
         "fp8e3": ("|u1", 3, 4), "fp8e4": ("|u1", 4, 3), "fp8e5": ("|u1", 5, 2)}


def path(name):
    return os.path.join(WORK, name)


def sdmacc(*words, stdin=b"", environment=None):
    done = subprocess.run([SDMACC, *map(str, words)], input=stdin, env=environment or ENVIRONMENT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=PATIENCE)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def good(*words, **options):
    code, out, err = sdmacc(*words, **options)
    assert code == 0 and err == "", f"{words}: exit {code}, {err}"
    return out


def bad(code, text, *words, **options):
    got, out, err = sdmacc(*words, **options)
    assert got == code, f"{words}: exit {got}, expected {code}: {out}{err}"
    assert out == "", f"{words}: printed {out!r} beside its error"
    assert err.startswith("sdmacc: ") and text in err, f"{words}: {err!r} says nothing of {text!r}"


# --- Numbers and files --------------------------------------------------------------------------

def encode(value, exponent_bits, fraction_bits):
    """The bits of a value that the format holds exactly and that is not subnormal."""
    if value == 0:
        return 0
    mantissa, exponent = math.frexp(abs(value))
    fraction = (2 * mantissa - 1) * 2 ** fraction_bits
    assert fraction == int(fraction), f"{value} has no bits of its own"
    biased = exponent - 1 + 2 ** (exponent_bits - 1) - 1
    assert 0 < biased < 2 ** exponent_bits - 1, f"{value} is out of range"
    return ((value < 0) << exponent_bits | biased) << fraction_bits | int(fraction)


def pack(values, dtype):
    descr, exponent_bits, fraction_bits = TYPES[dtype]
    size = int(descr[2:])
    return b"".join(encode(v, exponent_bits, fraction_bits).to_bytes(size, "little") for v in values)


def write_npy(name, descr, shape, data):
    header = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    with open(path(name), "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + data)
    return path(name)


def read_npy(name):
    with open(path(name), "rb") as file:
        content = file.read()
    assert content[:8] == b"\x93NUMPY\1\0"
    length = struct.unpack("<H", content[8:10])[0]
    header = eval(content[10:10 + length].decode(), {"__builtins__": {}})  # pylint: disable=eval-used
    return header["descr"], header["shape"], content[10 + length:]


def inputs_of(op, ranks, count, dtype):
    """Whole numbers so small that every partial sum is exact, their factors, and the result."""
    most = {"fp8e5": 1, "fp8e4": 2, "fp8e3": 2}.get(dtype, 9)
    rows = [[(5 * i + 3 * rank + i * rank) % (2 * most + 1) - most for i in range(count)] for rank in range(ranks)]
    scales = [2.0 if op == "fma" and rank % 2 else 1.0 for rank in range(ranks)]
    fold = {"max": max, "min": min}.get(op, sum)
    scaled = [[scale * x for x in row] for row, scale in zip(rows, scales)]
    return rows, scales, [fold(column) for column in zip(*scaled)]


# --- The library, for clients that hold something back ------------------------------------------

class Client:
    def __init__(self, socket, group, size, rank):
        self.library = ctypes.CDLL(LIBRARY)
        self.library.sdmacc_last_error.restype = ctypes.c_char_p
        self.connection, self.group, self.tensor = (ctypes.c_void_p() for _ in range(3))
        self.call("connect", socket.encode(), ctypes.byref(self.connection))
        self.call("group_join", self.connection, group.encode(), size, rank, -1, ctypes.byref(self.group))
        self.call("tensor_alloc", self.connection, ctypes.c_uint64(4096), ctypes.byref(self.tensor))

    def call(self, name, *arguments):
        code = getattr(self.library, "sdmacc_" + name)(*arguments)
        assert code == 0, f"{name}: {self.library.sdmacc_last_error().decode()}"

    def reduce(self, count=1000):
        self.call("all_reduce", self.group, self.tensor, self.tensor, ctypes.c_uint64(0), ctypes.c_uint64(0),
                  ctypes.c_uint64(count), 10, 0, ctypes.c_float(1))


def until(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.02)


def processes_with(word):
    """Pids of processes that have the word in their command line."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                found += [int(pid)] if word in file.read() else []
        except OSError:
            pass  # it has just ended
    return found


def hold_back(group, before):
    """Two processes of one group: both reduce `before` times, then only rank 0 does. Returns their pids."""
    reader, writer = os.pipe()
    pids = []
    for rank in range(2):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                client = Client(SOCKET, group, 2, rank)
                for _ in range(before):
                    client.reduce()
                os.write(writer, b"x")
                if rank == 0:
                    client.reduce()
                else:
                    time.sleep(PATIENCE)
                code = 0
            except BaseException as error:  # pylint: disable=broad-except
                print(f"# rank {rank}: {error}", flush=True)
            finally:
                os._exit(code)
        pids.append(pid)
    os.close(writer)
    for _ in pids:
        assert os.read(reader, 1) == b"x", "a client failed"
    os.close(reader)
    return pids


def end(pids):
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


# --- Tests --------------------------------------------------------------------------------------

def test_every_operation_and_type():
    for op in ("add", "max", "min", "fma"):
        for dtype, (descr, _, _) in TYPES.items():
            rows, scales, expected = inputs_of(op, 3, 35, dtype)
            files = [write_npy(f"in{rank}.npy", descr, (5, 7), pack(row, dtype)) for rank, row in enumerate(rows)]
            factors = ["--scale", ",".join(map(str, scales))] if op == "fma" else []
            good("allreduce", *files, "--op", op, "--dtype", dtype, "--out", path("out.npy"), "--socket", SOCKET, *factors)
            assert read_npy("out.npy") == (descr, (5, 7), pack(expected, dtype)), f"{op} {dtype}"


def test_every_algorithm():
    for alg, ranks in (("ring", 3), ("kangaring", 4), ("mesh-t0", 2), ("mesh-t2", 5), ("single-step-mesh", 3)):
        rows, _, expected = inputs_of("add", ranks, 1000, "fp32")
        files = [write_npy(f"in{rank}.npy", "<f4", (1000,), pack(row, "fp32")) for rank, row in enumerate(rows)]
        good("allreduce", *files, "--alg", alg, "--out", path("out.npy"))
        assert read_npy("out.npy")[2] == pack(expected, "fp32"), alg


def test_an_impossible_algorithm_is_an_error():
    files = [write_npy(f"in{rank}.npy", "<f4", (4,), b"\0" * 16) for rank in range(3)]
    bad(1, "mesh-t0", "allreduce", *files, "--alg", "mesh-t0", "--out", path("never.npy"))
    assert not os.path.exists(path("never.npy"))


def test_one_input_and_no_elements():
    data = pack([1, 2, 3], "fp32")
    good("allreduce", write_npy("a.npy", "<f4", (3,), data), "--out", path("out.npy"), "--socket", SOCKET)
    assert read_npy("out.npy") == ("<f4", (3,), data)
    empty = write_npy("e.npy", "<f4", (0, 3), b"")
    good("allreduce", empty, empty, "--out", path("out.npy"), "--socket", SOCKET)
    assert read_npy("out.npy") == ("<f4", (0, 3), b"")


def test_raw_files():
    rows, _, expected = inputs_of("max", 2, 11, "bf16")
    for rank, row in enumerate(rows):
        with open(path(f"{rank}.raw"), "wb") as file:
            file.write(pack(row, "bf16"))
    words = ["allreduce", path("0.raw"), path("1.raw"), "--op", "max", "--out", path("out.raw"), "--socket", SOCKET]
    good(*words, "--count", 11, "--dtype", "bf16")
    with open(path("out.raw"), "rb") as file:
        assert file.read() == pack(expected, "bf16")
    bad(2, "need --dtype", *words, "--count", 11)
    bad(1, "has 22 bytes, 12 elements of BF16 have 24", *words, "--count", 12, "--dtype", "bf16")


def test_a_daemon_of_its_own_leaves_nothing():
    before = set(os.listdir(WORK)) | {"out.npy", "own.npy"}
    one = write_npy("own.npy", "<f4", (2,), pack([1, 2], "fp32"))
    good("allreduce", one, one, "--out", path("out.npy"))
    assert read_npy("out.npy")[2] == pack([2, 4], "fp32")
    assert set(os.listdir(WORK)) <= before, set(os.listdir(WORK)) - before


def test_a_signal_leaves_nothing():
    before = set(os.listdir(WORK))
    process = subprocess.Popen([SDMACC, "bench", "allreduce", "--iters", "1000000000", "--ranks", "2"],
                               env=ENVIRONMENT, stdout=subprocess.PIPE)
    process.stdout.readline()
    until(lambda: set(os.listdir(WORK)) - before, "a daemon runs")
    folder = path((set(os.listdir(WORK)) - before).pop())
    daemons = processes_with(folder)
    assert daemons, "no process has the folder in its command"
    process.terminate()
    assert process.wait(PATIENCE) == -signal.SIGTERM
    process.stdout.close()
    until(lambda: not processes_with(folder), "the daemon ended")
    assert set(os.listdir(WORK)) == before, set(os.listdir(WORK)) - before


def test_without_sdmaccd_the_error_says_so():
    one = write_npy("a.npy", "<f4", (1,), b"\0" * 4)
    environment = dict(ENVIRONMENT, SDMACCD=path("absent"))
    bad(1, "sdmaccd is needed", "allreduce", one, "--out", path("out.npy"), environment=environment)
    environment = dict(ENVIRONMENT, SDMACCD="/bin/false")
    bad(1, "sdmaccd ended at its start", "allreduce", one, "--out", path("out.npy"), environment=environment)


def test_files_that_do_not_fit():
    a = write_npy("a.npy", "<f4", (2,), b"\0" * 8)
    b = write_npy("b.npy", "<f4", (1, 2), b"\0" * 8)
    out = ["--out", path("never.npy"), "--socket", SOCKET]
    bad(1, "b.npy: is <f4 (1, 2)", "allreduce", a, b, *out)
    bad(1, "No such file", "allreduce", a, path("absent.npy"), *out)
    bad(1, "raw bits (uint16)", "allreduce", a, "--dtype", "bf16", *out)
    c = write_npy("c.npy", "|u1", (2,), b"\0" * 2)
    bad(1, "--dtype says of what", "allreduce", c, *out)
    bad(1, "No such file or directory", "allreduce", a, "--out", path("no/such/folder.npy"), "--socket", SOCKET)
    bad(1, "no daemon listens", "allreduce", a, "--out", path("never.npy"), "--socket", path("nobody"))
    assert not os.path.exists(path("never.npy"))


def test_wrong_calls():
    a = write_npy("a.npy", "<f4", (2,), b"\0" * 8)
    out = ["--out", path("never.npy")]
    bad(2, "subcommand is required")
    bad(2, "frobnicate", "frobnicate")
    bad(2, "--out is required", "allreduce", a)
    bad(2, "inputs is required", "allreduce", *out)
    bad(2, "no reduce operation", "allreduce", a, *out, "--op", "mult")
    bad(2, "no data type", "allreduce", a, *out, "--dtype", "fp64")
    bad(2, "int32 does not reduce", "allreduce", a, *out, "--dtype", "int32")
    bad(2, "--scale is for --op fma", "allreduce", a, *out, "--scale", "1")
    bad(2, "2 factors for 1 inputs", "allreduce", a, *out, "--op", "fma", "--scale", "1,2")
    bad(2, "does not go with", "allreduce", a, *out, "--alg", "ring", "--socket", SOCKET)
    bad(2, "is no algorithm", "allreduce", a, *out, "--alg", "tree")
    bad(2, "is no size", "bench", "allreduce", "--bytes", "1x")
    bad(2, "--ranks", "bench", "allreduce", "--ranks", "0")
    bad(2, "is no stage", "lower", "-", "--ranks", "2", "--stop-after", "load")
    bad(2, "world", "lower", "-")
    bad(2, "--count", "explain", "--ranks", "2")
    bad(2, "no multiple", "explain", "--ranks", "2", "--bytes", "7")


def test_help_and_version():
    for words in ([], ["allreduce"], ["lower"], ["explain"], ["bench"], ["bench", "allreduce"], ["status"], ["dump"], ["version"]):
        assert "Usage" in good(*words, "--help"), words
    assert good("version") == good("--version")
    assert good("version").startswith("sdmacc ")


def test_output_that_cannot_be_written_is_an_error():
    with open("/dev/full", "wb") as full:
        done = subprocess.run([SDMACC, "version"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1 and b"standard output" in done.stderr, done


def test_explain_and_lower():
    text = good("explain", "--ranks", 4, "--bytes", "1M", "--op", "max", "--dtype", "bf16")
    assert "ALL_REDUCE MAX BF16: 524288 elements" in text and "alg_intra_allg 11" in text, text
    answer = json.loads(good("explain", "--ranks", 7, "--count", 9, "--json", "--policy", "neuron"))
    assert answer["choice"]["algorithm"] in [c["algorithm"] for c in answer["candidates"]]
    refused = next(c for c in answer["candidates"] if c["algorithm"] == "kangaring-1")
    assert not refused["possible"] and not refused["verdicts"][0]["passed"], refused
    bad(1, "7 ranks", "explain", "--ranks", 7, "--count", 9, "--alg", "kangaring")
    bad(1, "17 ranks", "explain", "--ranks", 17, "--count", 9)
    word = bytes.fromhex("c8100000040a131600000000040a0000030000000400000020000000000000000100").ljust(64, b"\0")
    assert "32 elements" in good("lower", "-", "--ranks", 2, "--stop-after", "decode", stdin=word)
    with open(path("word"), "wb") as file:
        file.write(word)
    with open(path("world.json"), "w", encoding="utf-8") as file:
        json.dump({"version": 1, "ranks": 2, "tensors": [{"id": 3, "bytes": 128}, {"id": 4, "bytes": 64}]}, file)
    bad(1, "output_tensor_id 4", "lower", path("word"), "--world", path("world.json"))
    bad(1, "word 0", "lower", "-", "--ranks", 2, stdin=b"\xda" + word[1:])


def test_bench():
    for extra in ([], ["--in-place"], ["--op", "fma", "--dtype", "fp8e5"], ["--alg", "ring"]):
        socket = [] if "--alg" in extra else ["--socket", SOCKET]
        out = good("bench", "allreduce", "--ranks", 3, "--bytes", "0,4:64k:16", "--iters", 3, "--warmup", 1, "--json", *socket, *extra)
        rows = [json.loads(line) for line in out.splitlines()]
        assert [row["bytes"] for row in rows] == [0, 4, 64, 1024, 16384], rows
        for row in rows:
            assert row["wrong"] == 0 and row["time_us"] > 0 and row["ranks"] == 3, row
            assert math.isclose(row["algbw"], row["bytes"] / row["time_us"] / 1e3), row
            assert math.isclose(row["busbw"], row["algbw"] * 4 / 3), row
    table = good("bench", "allreduce", "--ranks", 2, "--bytes", 8, "--iters", 2, "--socket", SOCKET).splitlines()
    assert table[1].split() == ["#", "size", "count", "type", "redop", "time", "algbw", "busbw", "#wrong"], table
    fields = table[3].split()
    assert fields[:4] == ["8", "2", "fp32", "add"] and fields[-1] == "0", fields


def test_status_and_dump_name_who_is_missing():
    pids = hold_back("held", 1)
    try:
        def group():
            status = json.loads(good("status", "--json", "--socket", SOCKET))
            return next(g for g in status["groups"] if g["name"] == "held")
        until(lambda: group()["missing"] == [1], "rank 1 is missing")
        held = group()
        assert held is not None and held["operation"]["arrived"] == [0], held
        assert [seat["pid"] for seat in held["seats"]] == pids, held
        text = good("status", "--socket", SOCKET)
        assert f"MISSING: rank 1 (pid {pids[1]})" in text, text
        dump = json.loads(good("dump", "held", "--socket", SOCKET))
        waits = [wait for rank in dump["ranks"] for wait in rank["ncfw"]["waits"]]
        assert [rank["rank"] for rank in dump["ranks"]] == [0, 1]
        assert waits and all({"semaphore", "value", "target"} <= set(wait) for wait in waits), waits
        assert all(wait["value"] < wait["target"] for wait in waits), waits
        assert any(wait["semaphore"]["id"] == wait_in_status["semaphore"]["id"]
                   for wait in waits for wait_in_status in held["running"]["waits"]), held
    finally:
        end(pids)


def test_a_group_that_forms_is_shown():
    pid = os.fork()
    if pid == 0:
        try:
            Client(SOCKET, "forming", 3, 1)
        finally:
            os._exit(1)
    try:
        until(lambda: '"forming"' in good("status", "--socket", SOCKET), "the group forms")
        text = good("status", "--socket", SOCKET)
        assert "MISSING: rank 0: no process has joined" in text and "MISSING: rank 2" in text, text
    finally:
        end([pid])


def test_questions_without_an_answer():
    bad(1, "no daemon listens", "status", "--socket", path("nobody"))
    bad(1, "no-such-group", "dump", "no-such-group", "--socket", SOCKET)


def main():
    tests = [(name, function) for name, function in globals().items() if name.startswith("test_")]
    print(f"1..{len(tests)}", flush=True)
    log = open(path("daemon.log"), "wb")  # pylint: disable=consider-using-with
    daemon = subprocess.Popen([SDMACCD, "--socket", SOCKET], stdout=log, stderr=log)  # pylint: disable=consider-using-with
    until(lambda: os.path.exists(SOCKET) or daemon.poll() is not None, "the daemon listens")
    failed = 0
    for number, (name, function) in enumerate(tests, 1):
        try:
            function()
            print(f"ok {number} - {name[5:]}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print("".join("# " + line for line in traceback.format_exc().splitlines(True)), end="")
            print(f"not ok {number} - {name[5:]}", flush=True)
    daemon.terminate()
    if daemon.wait(PATIENCE) != 0:
        failed += 1
    if failed:
        with open(path("daemon.log"), encoding="utf-8", errors="replace") as lines:
            print("".join("# daemon: " + line for line in lines), end="")
    log.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
