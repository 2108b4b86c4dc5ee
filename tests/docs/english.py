#!/usr/bin/env python3
"""Texts that users read keep out the phrases of tests/docs/phrases.txt, and no page says the same line twice.

usage: tests/docs/english.py [--count]      --count: how often each phrase stands where, and ends with 0

A line of phrases.txt is where (`docs`: *.md and the comments of topologies/; `literals`: string literals of the code outside
tests/; `all`: both), a phrase (lower case, whole words, read without regard to case and line breaks), and what to write
instead, with tabs between.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GENERATED = {"docs/keys.md", "docs/metrics.md"}  # from string literals
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def texts():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True)
    names = listed.stdout.decode().split("\0")
    if listed.returncode != 0:  # no clone
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if "build" not in p.relative_to(ROOT).parts]
    for name in names:
        path = ROOT / name
        if not name or not path.is_file():
            continue
        if name in GENERATED:
            continue
        if name.endswith(".md") or (name.startswith("topologies/") and name.endswith(".yaml")):
            lines = path.read_text().split("\n")
            if name.endswith(".md"):
                lines = without_blocks(lines)
            if name.endswith(".yaml"):
                lines = [line.lstrip().lstrip("#") for line in lines]
            yield name, "docs", lines
        elif re.match(r"(tools|control|transports|dataplane)/.*\.(cc|h)$", name):
            yield name, "literals", ["".join(LITERAL.findall(line)) if not line.lstrip().startswith("#include") else ""
                                     for line in path.read_text().split("\n")]


def without_blocks(lines):  # commands and what they print
    kept, inside = [], False
    for line in lines:
        if line.lstrip().startswith("```"):
            inside = not inside
        kept.append("" if inside else line)
    return kept


def twice(name, lines):
    """What merging has left twice: long lines of prose."""
    first, found = {}, 0
    for number, line in enumerate(lines, 1):
        if len(line) < 60 or line.lstrip().startswith("|"):
            continue
        if line in first:
            found += 1
            print(f"{name}:{number}: the same line as {first[line]}")
        first.setdefault(line, number)
    return found


def main():
    phrases = {}
    for line in (ROOT / "tests/docs/phrases.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            where, phrase, instead = line.split("\t")
            phrases[phrase] = (where, instead, re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)"))
    found = 0
    counts = dict.fromkeys(phrases, 0)
    for name, kind, lines in texts():
        if name.endswith(".md"):
            found += twice(name, lines)
        for number, line in enumerate(lines, 1):
            # A phrase may go on in the next line.
            both = re.sub(r"\s+", " ", line + " " + (lines[number] if number < len(lines) else "")).lower()
            here = len(re.sub(r"\s+", " ", line))
            for phrase, (where, instead, found_by) in phrases.items():
                if where != "all" and where != kind:
                    continue
                at = found_by.search(both)
                if at and at.start() < here:
                    counts[phrase] += 1
                    found += 1
                    if "--count" not in sys.argv[1:]:
                        print(f"{name}:{number}: '{phrase}'; expected {instead}")
    if "--count" in sys.argv[1:]:
        for phrase, n in counts.items():
            print(f"{n:5}  {phrase}")
        return 0
    print(f"{len(phrases)} phrases, {found} lines not as they should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
