#!/usr/bin/env python3
"""Two hundred watchers of the live page: each gets its events, and the engine does not notice.

The lab has traffic for a tenth of a core. Compared is the CPU time of the engine's threads for a second of simulated time,
without watchers and with 200 of them: that does not depend on what else this machine does. The lateness of the engine, which
does, is printed.

usage: tests/live/watchers.py
Needs the release build (build/release; $BUILD: another). No root.
"""
import http.client
import json
import os
import pathlib
import re
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RAILYARD = pathlib.Path(os.environ.get("BUILD", ROOT / "build/release")) / "bin/railyard"
WATCHERS = 200
SECONDS = 6
ROUNDS = 3
MOST = 1.10
LAB = """name: watched
topology: { preset: leaf-spine, leaves: 4, spines: 2, hosts-per-leaf: 4 }
traffic: [ { name: t, pattern: permutation, from: h*, to: h*, rate: 20Gbps } ]
collectives: [ { name: c, ranks: ["h*:1"], size: 64KiB, repeats: 10000, gap: 1ms } ]
run: { clock: wall, scale: 1/2000, memory: 256MiB }
"""


def railyard(*args: str) -> str:
    return subprocess.run([RAILYARD, *args], check=True, capture_output=True, text=True).stdout


class Lab:
    def __init__(self, folder: pathlib.Path):
        (folder / "lab.yaml").write_text(LAB)
        said = railyard("up", str(folder / "lab.yaml"), "--web", "--detach")
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", said)[1])
        self.token = re.search(r"Token for programs: (\S+)", said)[1]
        self.pid = self.get("/lab")["pid"]

    def get(self, target: str):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", "/v1" + target, headers={"Authorization": f"Bearer {self.token}"})
        return json.loads(connection.getresponse().read())

    def watch(self) -> socket.socket:
        s = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        s.sendall(f"GET /v1/events?every=250ms HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
                  f"Authorization: Bearer {self.token}\r\n\r\n".encode())
        s.setblocking(False)
        return s

    def engine(self):
        """Seconds in which the engine moved packets, simulated seconds, and its lateness in ms."""
        e = self.get("/status")["engine"]
        return e["busy_seconds"], e["modelled_seconds"], e["lateness_ns"]["p99"] / 1e6

    def engine_cpu(self) -> float:
        """CPU seconds of the threads that move packets: the process's first, and the workers."""
        ticks = 0
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            name = (task / "comm").read_text().strip()
            if int(task.name) == self.pid or "worker" in name or "lcore" in name:
                fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


def rest(seconds: float, streams: list[socket.socket], events: list[int]) -> None:
    """For so long, all that comes is read."""
    with selectors.DefaultSelector() as selector:
        for i, s in enumerate(streams):
            selector.register(s, selectors.EVENT_READ, i)
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not streams:
                time.sleep(left)
                continue
            for key, _ in selector.select(left):
                come = key.fileobj.recv(1 << 16)
                if not come:
                    sys.exit("watchers: a stream was closed")
                events[key.data] += come.count(b"event: sample")


def measured(lab: Lab, streams: list[socket.socket], events: list[int]) -> tuple[float, float]:
    """CPU seconds of the engine for each simulated second; lateness in ms."""
    cpu, (_, simulated, _) = lab.engine_cpu(), lab.engine()
    rest(SECONDS, streams, events)
    _, then, late = lab.engine()
    return (lab.engine_cpu() - cpu) / (then - simulated), late


def main() -> None:
    if not RAILYARD.exists():
        sys.exit(f"watchers: no {RAILYARD}; build it first")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="railyard-watchers."))
    os.environ["RAILYARD_STATE_DIR"] = str(folder / "state")
    (folder / "state").mkdir(mode=0o700)
    try:
        lab = Lab(folder)
        time.sleep(1)
        alone, watched = [], []
        for _ in range(ROUNDS):  # in turn: machines change
            alone.append(measured(lab, [], []))
            streams = [lab.watch() for _ in range(WATCHERS)]
            events = [0] * WATCHERS
            rest(1, streams, events)
            watched.append(measured(lab, streams, events))
            for s in streams:
                s.close()
            few = sum(1 for n in events if n < SECONDS)
            if few:
                sys.exit(f"watchers: {few} of {WATCHERS} got less than a sample a second")
            time.sleep(0.5)
        print(f"ok    {WATCHERS} watchers get their samples")
        before, after = min(c for c, _ in alone), min(c for c, _ in watched)
        figures = (f"{before:.1f} s of CPU for a simulated second without, {after:.1f} s with {WATCHERS} watchers "
                   f"({after / before:.3f} x); lateness p99 since the start {alone[0][1]:.2f} and {watched[-1][1]:.2f} ms")
        if after > MOST * before:
            sys.exit(f"FAIL  the engine's work: {figures}; expected at most {MOST} x")
        print(f"ok    the engine does not notice: {figures}")
    finally:
        subprocess.run([RAILYARD, "down", "--all"], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
