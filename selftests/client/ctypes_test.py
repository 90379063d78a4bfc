#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Uses libsdmacc from Python as it is: ctypes_test.py LIBRARY PEER."""

import ctypes
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest

LIBRARY, PEER = sys.argv[1:3]
FP32, ADD = 10, 0
OK, NOT_FOUND = 0, 3


def load():
    library = ctypes.CDLL(LIBRARY)
    pointer, number, u64 = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64
    library.sdmacc_last_error.restype = ctypes.c_char_p
    library.sdmacc_tensor_data.restype = pointer
    library.sdmacc_tensor_data.argtypes = [pointer]
    library.sdmacc_tensor_alloc.argtypes = [pointer, u64, pointer]
    library.sdmacc_all_reduce.argtypes = [pointer, pointer, pointer, u64, u64, u64, number, number,
                                          ctypes.c_float]
    for name in ("tensor_free", "group_leave", "disconnect", "text_free"):
        getattr(library, "sdmacc_" + name).argtypes = [pointer]
    library.sdmacc_group_join.argtypes = [pointer, ctypes.c_char_p, ctypes.c_uint32,
                                          ctypes.c_uint32, number, pointer]
    library.sdmacc_query.argtypes = [pointer, ctypes.c_char_p, ctypes.c_char_p, pointer]
    return library


class FromPython(unittest.TestCase):
    def setUp(self):
        self.library = load()
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "s").encode()
        self.daemon = subprocess.Popen([PEER, "serve", self.path])

    def tearDown(self):
        self.daemon.kill()
        self.daemon.wait()
        self.folder.cleanup()

    def check(self, code):
        self.assertEqual(code, OK, self.library.sdmacc_last_error())

    def connect(self):
        handle = ctypes.c_void_p()
        for _ in range(6000):
            if self.library.sdmacc_connect(self.path, ctypes.byref(handle)) == OK:
                return handle
            time.sleep(0.01)
        self.fail(self.library.sdmacc_last_error())

    def run_rank(self, rank, results):
        library, connection = self.library, self.connect()
        group, tensor = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(library.sdmacc_group_join(connection, b"g", 2, rank, -1, ctypes.byref(group)))
        self.check(library.sdmacc_tensor_alloc(connection, 400, ctypes.byref(tensor)))
        data = (ctypes.c_float * 100).from_address(library.sdmacc_tensor_data(tensor))
        data[:] = [rank + 1.0] * 100
        self.check(library.sdmacc_all_reduce(group, tensor, tensor, 0, 0, 100, FP32, ADD, 1.0))
        results[rank] = list(data)
        library.sdmacc_tensor_free(tensor)
        library.sdmacc_group_leave(group)
        library.sdmacc_disconnect(connection)

    def test_all_reduce(self):
        results = {}
        threads = [threading.Thread(target=self.run_rank, args=(rank, results)) for rank in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, {0: [3.0] * 100, 1: [3.0] * 100})

    def test_query_and_error(self):
        connection, json = self.connect(), ctypes.c_void_p()
        self.check(self.library.sdmacc_query(connection, b"echo", b"hi", ctypes.byref(json)))
        self.assertEqual(ctypes.string_at(json), b'"hi"')
        self.library.sdmacc_text_free(json)
        self.assertEqual(self.library.sdmacc_query(connection, b"no", None, ctypes.byref(json)),
                         NOT_FOUND)
        self.assertIn(b"no query is called 'no'", self.library.sdmacc_last_error())
        self.library.sdmacc_disconnect(connection)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
