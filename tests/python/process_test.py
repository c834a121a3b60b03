#!/usr/bin/env python3
"""The package hilo while calls end early: process_test.py FOLDER, the one that holds the package. Deadlines, signals, threads, forks and the end of the process."""

import array
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, sys.argv.pop(1))
import hilo  # noqa: E402
from programs import LINE, LONG, identity, big_program, aligned  # noqa: E402


class Processes(unittest.TestCase):
    def test_deadlines_and_interruption(self):
        program = hilo.compile(LONG)
        small = hilo.compile(LONG.replace("  big = f32[65536] parameter(1)", ""))
        memory = aligned(65536)
        with self.assertRaises(hilo.Error) as caught:
            program(0, memory, deadline=0.05)
        self.assertEqual(caught.exception.code, "DEADLINE_EXCEEDED")
        waiting = small(0, deadline=0.5)
        with self.assertRaises(hilo.Error) as caught:
            waiting.wait(0.01)
        self.assertEqual(caught.exception.code, "DEADLINE_EXCEEDED")
        with self.assertRaises(hilo.Error):
            waiting.tolist()
        timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            program(0, memory)
        self.assertLess(time.monotonic() - start, 5)

    def test_interrupted_reads(self):
        """Ctrl-C while an array is read ends the run that computes it, and those before it."""
        client = hilo.Client()
        long = client.compile(LONG.replace("  big = f32[65536] parameter(1)", ""))
        start = time.monotonic()
        for read in (memoryview, hilo.Array.tolist, hilo.Array.wait):
            first = long(0)
            second = long(first)
            threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            with self.assertRaises(KeyboardInterrupt):
                read(second)
            for array in (first, second):
                with self.assertRaises(hilo.Error) as caught:
                    array.wait()
                self.assertEqual(caught.exception.code, "CANCELLED")
        with self.assertRaisesRegex(hilo.Error, "has not ended within 0.25 seconds"):
            first = long(0, deadline=1)
            first.wait(0.25)
        del first
        self.assertEqual(client.compile(LINE)([1, 2, 3]).tolist(), [2, 4, 6])
        self.assertLess(time.monotonic() - start, 10)

    def test_a_client_that_is_dropped_during_a_run(self):
        start = time.monotonic()
        running = hilo.Client().compile(LONG.replace("  big = f32[65536] parameter(1)", ""))(0, deadline=0.5)
        self.assertLess(time.monotonic() - start, 0.4)
        with self.assertRaises(hilo.Error) as caught:
            running.wait()
        self.assertEqual(caught.exception.code, "DEADLINE_EXCEEDED")

    def test_threads(self):
        program = hilo.compile(identity("f32[65536]"))
        memory, wrong = aligned(65536), []

        def work():
            for _ in range(100):
                if memoryview(program(memory))[0] != 0:
                    wrong.append(1)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_end_of_the_process(self):
        """Arrays, lent memory and runs may outlive the interpreter's modules."""
        code = (f"import sys; sys.path.insert(0, {sys.path[0]!r}); import hilo; sys.argv = ['', {sys.path[0]!r}]\n"
                f"p = hilo.compile({LINE!r}); kept = p([1, 2, 3]); c = kept.__dlpack__(); q = hilo.compile({LONG!r}.replace('  big = f32[65536] parameter(1)', ''))\n"
                "r = q(0, deadline=0.3); print(kept.tolist())")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "[2.0, 4.0, 6.0]\n", ""))

    def test_interrupted_end_of_the_process(self):
        """The end of the process waits for runs; Ctrl-C ends them."""
        code = (f"import sys; sys.path.insert(0, {sys.path[0]!r}); import hilo, os, signal, threading, time; sys.argv = ['', {sys.path[0]!r}]\n"
                f"q = hilo.compile({LONG!r}.replace('  big = f32[65536] parameter(1)', '')); r = q(0)\n"
                "threading.Thread(target=lambda: (time.sleep(0.5), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        self.assertIn("KeyboardInterrupt", done.stderr)

    def test_interrupted_compilation(self):
        """Ctrl-C ends a compilation within a second; the client goes on, and the end of the process is not held up."""
        text = big_program(20000)
        client = hilo.Client()
        for seconds in (0.0, 0.3, 1.0):
            timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
            start = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                timer.start()
                client.compile(text)
            self.assertLess(time.monotonic() - start, seconds + 1)
            self.assertEqual(client.compile(LINE)([1, 2, 3]).tolist(), [2, 4, 6])
        emitting = client.compile(LINE)
        emitting._source = text.encode()  # whose compilation would take its time
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            timer.start()
            emitting.text("asm")
        self.assertLess(time.monotonic() - start, 1.3)
        self.assertIn("f32[3]", client.compile(LINE).text())
        code = (f"import sys; sys.path.insert(0, {sys.path[0]!r}); import hilo, os, signal, threading; text = sys.stdin.read(); sys.argv = ['', {sys.path[0]!r}]\n"
                "threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
                "try: hilo.compile(text)\n"
                "except KeyboardInterrupt: print('interrupted')\n")
        done = subprocess.run([sys.executable, "-c", code], input=text, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "interrupted\n", ""))

    def test_end_of_the_process_during_a_compilation(self):
        """A thread may be compiling while the process ends: nothing that it uses is destroyed before."""
        text = big_program(3000)
        code = (f"import sys; sys.path.insert(0, {sys.path[0]!r}); import hilo, threading, time; text = sys.stdin.read(); sys.argv = ['', {sys.path[0]!r}]\n"
                "threading.Thread(target=lambda: hilo.compile(text), daemon=True).start(); time.sleep(float(%r))\n")
        for seconds in ("0.5", "1.0", "1.5"):
            done = subprocess.run([sys.executable, "-c", code % seconds], input=text, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_fork_during_a_run(self):
        """A child has no thread that ends its parent's runs: it is told so, and ends."""
        code = (f"import sys; sys.path.insert(0, {sys.path[0]!r}); import hilo, os; sys.argv = ['', {sys.path[0]!r}]\n"
                f"q = hilo.compile({LONG!r}.replace('  big = f32[65536] parameter(1)', '')); r = q(0, deadline=2); child = os.fork()\n"
                "if child == 0:\n"
                "  try: r.tolist()\n"
                "  except hilo.Error as error: print(error.code, flush=True)\n"
                f"  print(hilo.compile({LINE!r})([1, 2, 3]).tolist(), flush=True)\n"
                "else: print(os.waitpid(child, 0)[1], flush=True)\n")
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, "FAILED_PRECONDITION\n[2.0, 4.0, 6.0]\n0\n")


if __name__ == "__main__":
    unittest.main()
