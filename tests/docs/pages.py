#!/usr/bin/env python3
"""The commands of docs/ work, and what they print is what the pages say.

usage: tests/docs/pages.py [--all] [--update] [--railyard FILE] [PAGE...]
  --all        blocks that need privileges, too: ```sh live (root) and ```sh guests (the guests' image)
  --update     write what the commands print now into the pages; look at the difference before you commit it
  --railyard   default: build/release/bin/railyard
  PAGE         default: docs/tutorials/*.md docs/api.md docs/fidelity.md docs/import.md docs/jobs.md docs/plan.md docs/scale.md docs/sweeps.md docs/traces.md

The blocks of a page run in their order, in one folder, each by `bash -euo pipefail`.
  ```sh        runs always, ```sh live and ```sh guests with --all
  ```text      lines of the output of the block before, in their order; a line "..." stands for lines left out
  ```json      the output of the block before has these keys, with values of these types; the values may be others
  ```text live, and every other word: shown only
"""
import argparse
import difflib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = object()


class Block:
    def __init__(self, kind, first, lines):
        self.kind, self.first, self.lines = kind, first, lines  # first: index of the first line inside

    def text(self):
        return "\n".join(self.lines) + "\n"


def blocks(lines):
    found, start, kind = [], None, None
    for i, line in enumerate(lines):
        if start is None and line.startswith("```"):
            start, kind = i + 1, line[3:].strip()
        elif start is not None and line == "```":
            found.append(Block(kind, start, lines[start:i]))
            start = None
    if start is not None:
        raise ValueError(f"line {start}: a block has no end")
    return found


def words(line):
    """A line without regard to how wide its columns are."""
    return " ".join(line.split())


def find_lines(wanted, output):
    """The first line of `wanted` that `output` does not have behind those before it; None if it has all."""
    have = [words(line) for line in output.splitlines()]
    at = 0
    for line in wanted:
        if not words(line) or words(line) == "...":
            continue
        try:
            at = have.index(words(line), at) + 1
        except ValueError:
            return line
    return None


def updated(wanted, output):
    """`wanted` with each line that `output` does not have replaced by the one that is most like it there."""
    have = [line.rstrip() for line in output.splitlines()]

    def without_numbers(line):
        return re.sub(r"[0-9][0-9.,]*", "#", words(line))

    def likeness(line, other):
        both = difflib.SequenceMatcher(None, without_numbers(line), without_numbers(other)).ratio()
        # What a line is about stands at its beginning.
        same = [a == b for a, b in zip(words(line).split(), words(other).split())]
        return both + (same.index(False) if False in same else len(same)) / max(len(same), 1)

    new, at = [], 0
    for line in wanted:
        rest = have[at:]
        if not words(line) or words(line) == "..." or not rest:
            new.append(line)
            continue
        best = max(range(len(rest)), key=lambda i: (words(rest[i]) == words(line), likeness(line, rest[i])))
        new.append(rest[best])
        at += best + 1
    return new


def shape_difference(wanted, got, where="answer"):
    """How `got` lacks what `wanted` has; None if it has all."""
    if isinstance(wanted, dict):
        if not isinstance(got, dict):
            return f"{where} is no object"
        for key, value in wanted.items():
            if key not in got:
                return f"{where} has no '{key}'"
            if difference := shape_difference(value, got[key], f"{where}.{key}"):
                return difference
    elif isinstance(wanted, list):
        if not isinstance(got, list):
            return f"{where} is no list"
        if wanted and not got:
            return f"{where} is empty"
        if wanted:
            return shape_difference(wanted[0], got[0], f"{where}[0]")
    elif wanted is not None and got is not None:
        number = lambda v: isinstance(v, (int, float)) and not isinstance(v, bool)
        if type(wanted) is not type(got) and not (number(wanted) and number(got)):
            return f"{where} is {json.dumps(got)[:60]}, and not like {json.dumps(wanted)[:60]}"
    return None


class Page:
    def __init__(self, path, options):
        self.path, self.options = path, options
        self.lines = path.read_text().splitlines()
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="railyard-docs."))
        self.env = dict(os.environ, RAILYARD_STATE_DIR=str(self.work / ".state"))
        bin_folder = self.work / ".bin"
        bin_folder.mkdir()
        for name in ("railyard", "railyardd"):
            (bin_folder / name).symlink_to(options.railyard.parent / name)
        self.env["PATH"] = f"{bin_folder}:{os.environ['PATH']}"
        self.env.pop("RAILYARD_LAB", None)
        # Open MPI starts nothing as root, and no more processes than there are processors, unless told to.
        self.env |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        # As in a clone, but what commands write stays out of it.
        for name in ("topologies", "tools"):
            (self.work / name).symlink_to(ROOT / name)
        self.ran = self.compared = self.left_out = 0

    def close(self):
        subprocess.run([self.options.railyard, "down", "--all"], env=self.env, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.work, ignore_errors=True)

    def runs(self, kind):
        if kind == "sh":
            return True
        if not self.options.all:
            return False
        if kind == "sh live":
            return os.geteuid() == 0
        cache = os.environ.get("RAILYARD_SOFTROCE_CACHE") or os.path.join(
            os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "railyard/softroce")
        return os.path.exists(os.path.join(cache, "vmlinux"))

    def run(self, block):
        script = self.work / ".block"
        script.write_text(block.text())
        with open(self.work / ".output", "w+b") as out:
            try:
                done = subprocess.run(["bash", "-euo", "pipefail", script], cwd=self.work, env=self.env, stdout=out,
                                      stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=300, check=False)
                status = done.returncode
            except subprocess.TimeoutExpired:
                status = "after 300 s"
            out.seek(0)
            return status, out.read().decode(errors="replace")

    def problem(self, line, what, output=""):
        sys.stdout.write(f"FAIL  {self.path.relative_to(ROOT)}:{line}: {what}\n")
        if output:
            sys.stdout.write("".join(f"      {l}\n" for l in output.splitlines()[-40:]))
        return False

    def check(self):
        output, changes = SKIPPED, []
        for block in blocks(self.lines):
            if block.kind in ("sh", "sh live", "sh guests"):
                output = SKIPPED
                if not self.runs(block.kind):
                    self.left_out += 1
                    continue
                status, output = self.run(block)
                if status != 0:
                    return self.problem(block.first, f"ends with {status}", block.text() + output)
                self.ran += 1
            elif output is SKIPPED:
                continue
            elif block.kind == "text":
                if self.options.update:
                    changes.append((block, updated(block.lines, output)))
                elif (line := find_lines(block.lines, output)) is not None:
                    return self.problem(block.first, f"this is not printed: {line}", output)
                self.compared += 1
            elif block.kind == "json":
                try:
                    difference = shape_difference(json.loads(block.text()), json.loads(output))
                except json.JSONDecodeError as error:
                    difference = f"not JSON: {error}"
                if difference:
                    return self.problem(block.first, difference, output)
                self.compared += 1
        for block, new in reversed(changes):
            self.lines[block.first : block.first + len(block.lines)] = new
        if changes:
            self.path.write_text("\n".join(self.lines) + "\n")
        if self.ran + self.left_out == 0:
            return self.problem(1, "no command found")
        left = f", {self.left_out} left out" if self.left_out else ""
        print(f"ok: {self.path.relative_to(ROOT)}: {self.ran} blocks ran{left}, {self.compared} outputs compared")
        return True


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--railyard", type=pathlib.Path, default=ROOT / "build/release/bin/railyard")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    options.railyard = options.railyard.resolve()
    if not options.railyard.exists():
        sys.exit(f"no {options.railyard} (tools/quickstart.sh builds it)")
    for tool in ("jq", "curl"):
        if not shutil.which(tool):
            print(f"skipped: no {tool} (Debian: {tool})")
            sys.exit(77)
    pages = [p.resolve() for p in options.pages] or sorted((ROOT / "docs/tutorials").glob("*.md")) + [ROOT / "docs" / name for name in ("api.md", "fidelity.md", "import.md", "jobs.md", "plan.md", "scale.md", "sweeps.md", "traces.md")]
    good = True
    for path in pages:
        page = Page(path, options)
        try:
            good = page.check() and good
        finally:
            page.close()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
