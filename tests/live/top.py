#!/usr/bin/python3
"""`railyard top` in a terminal of 80 x 24: what stands on the screen after each key, with pyte as the terminal.

    tests/live/top.py

Needs the release build (build/release) and python3-pyte. No root. 77: skipped.
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RAILYARD = ROOT / "build/release/bin/railyard"
LAB = """name: topped
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 8 }
traffic:
  - { name: incast, pattern: incast, from: [h9, h10, h11, h12, h13], to: h1, dscp: 26 }
  - { name: light, from: h2, to: h3, rate: 1Gbps, dscp: 0 }
run: { clock: wall, scale: 1/1000, memory: 128MiB }
"""

try:
    import pyte
except ImportError:
    print("top: skipped: no pyte (Debian: python3-pyte)")
    sys.exit(77)
if not RAILYARD.exists():
    print(f"top: no {RAILYARD}; build it first", file=sys.stderr)
    sys.exit(2)


def die(what):
    print(f"top: {what}", file=sys.stderr)
    sys.exit(1)


class Terminal:
    """`railyard top` in a pseudo-terminal."""

    def __init__(self, *arguments, columns=80, lines=24, env=None):
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        pid, self.fd = pty.fork()
        if pid == 0:
            os.execve(RAILYARD, [str(RAILYARD), "top", "--every", "250ms", *arguments], {**os.environ, "TERM": "linux", **(env or {})})
        self.pid = pid
        self.resize(columns, lines)

    def resize(self, columns, lines):
        self.screen.resize(lines, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            octets = os.read(self.fd, 65536)
        except OSError:  # it has ended
            return False
        self.raw += octets
        self.stream.feed(octets)
        return bool(octets)

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def until(self, what, holds, seconds=30):
        end = time.monotonic() + seconds
        while not holds(self.lines()):
            if time.monotonic() > end or not self.read(0.2):
                die(f"{what}: does not come; the screen:\n" + "\n".join(self.lines()))

    def rows(self):
        """Below the heading, above the foot."""
        return [line for line in self.lines()[3:-1] if line]

    def end(self):
        while self.read(5):
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def railyard(*arguments, **options):
    return subprocess.run([RAILYARD, *arguments], capture_output=True, text=True, check=False, **options)


def octets(text):
    """What "1.21 MB" and "12,345" stand for."""
    number, _, unit = text.strip().partition(" ")
    return float(number.replace(",", "")) * {"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9}[unit]


def column(rows, number):
    """Its octets, row by row; empty while the screen is being redrawn."""
    try:
        return [octets(re.split(r"  +", row)[number]) for row in rows]
    except (IndexError, KeyError, ValueError):
        return []


def main(folder):
    os.environ["RAILYARD_STATE_DIR"] = str(folder / "state")
    (folder / "state").mkdir(mode=0o700)
    (folder / "lab.yaml").write_text(LAB)
    up = railyard("up", str(folder / "lab.yaml"), "--detach")
    if up.returncode:
        die(up.stderr)
    railyard("link", "down", "leaf2:8")

    t = Terminal()
    t.until("the heading", lambda l: l[0].startswith("topped: 4 switches, 16 hosts") and l[2].startswith("port") and "use*" in l[2])
    t.until("the link that is down, on top", lambda l: "DOWN" in l[3] and "DOWN" in l[4] and "leaf2:8" in l[3] + l[4])
    t.until("traffic", lambda l: " Gb/s" in l[5])
    if any(len(line) > 80 for line in t.lines()):
        die("a line is wider than the terminal")
    print("ok    links: the one that is down is on top")

    t.press("2")
    t.until("queues", lambda l: "queued*" in l[2] and any(" MB" in row or " KB" in row for row in l[3:-1]) and column(t.rows(), 2))
    queued = column(t.rows(), 2)
    if queued != sorted(queued, reverse=True) or len(queued) < 10:
        die(f"queues are not in order: {queued}")
    t.press(">")
    t.until("sorted by the next column", lambda l: "deepest*" in l[2] and column(t.rows(), 3))
    deepest = column(t.rows(), 3)
    if deepest != sorted(deepest, reverse=True):
        die(f"deepest are not in order: {deepest}")
    t.press("r")
    t.until("the other way round", lambda l: column(t.rows(), 3) and column(t.rows(), 3) == sorted(column(t.rows(), 3)))
    print("ok    queues: in order, by any column, either way round")

    t.press("/spine1\r")
    t.until("a filter", lambda l: t.rows() and all("spine1" in row for row in t.rows()) and "filter: spine1" in l[-1])
    t.press("/" + "\x7f" * 6 + "nothing-like-it\r")
    t.until("a filter that nothing passes", lambda l: "no row has 'nothing-like-it' in it" in l[3])
    t.press("/\x1b")
    t.until("no filter", lambda l: "filter" not in l[-1] and len(t.rows()) > 5)
    print("ok    a filter comes and goes")

    t.press(" ")
    t.until("frozen", lambda l: "FROZEN" in l[-1])
    time_line = t.lines()[0]
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        t.read(0.2)
    if t.lines()[0] != time_line:
        die("it goes on while it is frozen")
    t.press(" ")
    t.until("it goes on", lambda l: l[0] != time_line and "FROZEN" not in l[-1])
    print("ok    it freezes and goes on")

    t.press("h")
    t.until("keys", lambda l: l[0] == "Keys" and any("freeze" in line for line in l))
    t.press("x")
    t.press("3")
    t.until("flows", lambda l: l[2].startswith("flow") and any("light" in row and "active" in row for row in t.rows()))
    t.press("4")
    t.until("pauses", lambda l: l[2].startswith("waits"))
    t.press("5")
    t.until("collectives", lambda l: l[2].startswith("collective") and "nothing to show" in l[3])
    t.press("1")
    t.resize(132, 50)
    t.until("a larger terminal", lambda l: len(l) == 50 and len(t.rows()) > 30 and "drops/s" in l[2])
    t.resize(80, 24)
    t.until("a smaller one", lambda l: len(l) == 24 and "q: quit" in l[-1])
    print("ok    every view, the keys, and terminals of other sizes")
    if b"\x1b[31m" not in t.raw:
        die("what is down is not red")
    t.press("q")
    if t.end() != 0:
        die("q: exit code is not 0")

    plain = Terminal(env={"NO_COLOR": "1"})
    plain.until("a terminal without colours", lambda l: "DOWN" in l[3])
    if re.search(rb"\x1b\[[0-9;]*3[0-7][;m]", plain.raw):
        die("colours with NO_COLOR")
    print("ok    NO_COLOR")

    piped = railyard("top", "--filter", "DOWN", "--every", "200ms")
    lines = piped.stdout.splitlines()
    if piped.returncode or len(lines) != 4 or not lines[1].startswith("port") or "\x1b" in piped.stdout:
        die(f"on a pipe: {piped}")
    wrong = railyard("top", "--sort", "colour", "--every", "200ms")
    if wrong.returncode != 2 or "expected one of port, to, state" not in wrong.stderr:
        die(f"a column that there is not: {wrong}")
    unknown = Terminal(env={"TERM": "no-such-terminal"})
    code = unknown.end()
    if code == 0 or b"this terminal is unknown" not in unknown.raw:
        die(f"an unknown terminal: {code} {unknown.raw!r}")
    print("ok    one snapshot on a pipe; wrong words are refused")

    os.kill(int(re.search(r"pid (\d+)", railyard("ls").stdout).group(1)), signal.SIGKILL)
    if plain.end() != 0 or not plain.raw.rstrip().endswith(b"lab 'topped' is down"):
        die(f"a daemon that is gone: {plain.raw[-200:]!r}")
    print("ok    a daemon that is gone is one line")


if __name__ == "__main__":
    work = pathlib.Path(tempfile.mkdtemp(prefix="railyard-top."))
    try:
        main(work)
    finally:
        railyard("down", "--all")
        shutil.rmtree(work)
