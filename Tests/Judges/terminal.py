"""Runs a program on a terminal of its own, answers what it asks, and says what was on the screen.

A question has argv, env, width, height and steps: pairs of a text to wait for and what is typed then. A NUL in the text
stands between several that come in any order.
"""
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time


def run(question):
    size = struct.pack("HHHH", question.get("height", 24), question.get("width", 80), 0, 0)
    pid, terminal = pty.fork()
    if pid == 0:
        # By whoever runs the program: afterwards it may have looked already.
        fcntl.ioctl(0, termios.TIOCSWINSZ, size)
        # A person's terminal blocks no signal, as the tests' runner does.
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execve(question["argv"][0], question["argv"], question["env"])
    screen = b""
    seen = 0
    steps = list(question["steps"])
    end = time.monotonic() + 15
    while time.monotonic() < end:
        texts = [text.encode() for text in steps[0][0].split("\0")] if steps else []
        places = [screen.find(text, seen) + len(text) for text in texts if text in screen[seen:]]
        if steps and len(places) == len(texts):
            seen = max(places)
            os.write(terminal, steps.pop(0)[1].encode())
        if not select.select([terminal], [], [], 0.05)[0]:
            continue
        try:
            more = os.read(terminal, 65536)
        except OSError:
            break
        if not more:
            break
        screen += more
    # Whoever still waits for an answer hears that the terminal has gone.
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    return {
        "exit": os.waitstatus_to_exitcode(status),
        "screen": screen.decode("utf-8", "replace").replace("\r\n", "\n"),
        "left": len(steps),
    }


for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), flush=True)
