#!/usr/bin/env python3
"""Does the schema that editors use fit the files that it is for?

usage: schema_fits.py SCHEMA TOPOLOGIES
Every fabric file under TOPOLOGIES is valid by it; files with typical mistakes, made here of a good one, are not.
"""
import copy
import json
import pathlib
import re
import sys

import jsonschema
import yaml


class Core(yaml.SafeLoader):
    """YAML 1.2's core schema, as editors read it: `on` and `off` are words."""


Core.yaml_implicit_resolvers = {}
for tag, pattern, first in [
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
]:
    Core.add_implicit_resolver("tag:yaml.org,2002:" + tag, re.compile("^(?:" + pattern + ")$"), list(first))


def as_json(value):
    """Keys are texts there."""
    if isinstance(value, dict):
        return {str(k): as_json(v) for k, v in value.items()}
    return [as_json(v) for v in value] if isinstance(value, list) else value


GOOD = {
    "name": "small",
    "nodes": {"leaf1": {"kind": "switch"}, "h1": {"kind": "host"}, "h2": {"kind": "host"}},
    "links": [["h1:1", "leaf1:1"], ["h2:1", "leaf1:2", {"rate": "100Gbps"}]],
    "traffic": [{"name": "t", "from": "h1", "to": "h2", "bytes": "100KB"}],
    "run": {"duration": "1ms"},
}
MISTAKES = [
    ("a key that there is not", lambda lab: lab.update(trafic=[])),
    ("a kind that there is not", lambda lab: lab["nodes"]["h1"].update(kind="hots")),
    ("a list in place of a map", lambda lab: lab.update(nodes=[])),
    ("a time without a unit", lambda lab: lab["run"].update(duration=1)),
    ("a key of another map", lambda lab: lab["traffic"][0].update(duration="1ms")),
]


def main():
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failed = 0
    # Profiles of ASICs and lists of ranks are no fabric files.
    files = [f for f in sorted(pathlib.Path(sys.argv[2]).rglob("*.yaml")) if not {"profiles", "servers", "models"} & set(f.parts)]
    if len(files) < 20:
        sys.exit(f"only {len(files)} fabric files under {sys.argv[2]}")
    for file in files:
        for error in validator.iter_errors(as_json(yaml.load(file.read_text(), Core))):
            print(f"{file}: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}")
            failed += 1
    if not validator.is_valid(GOOD):
        sys.exit("the good file is refused: " + next(validator.iter_errors(GOOD)).message)
    for what, spoil in MISTAKES:
        lab = copy.deepcopy(GOOD)
        spoil(lab)
        if validator.is_valid(lab):
            print(f"{what}: taken")
            failed += 1
    print(f"{len(files)} fabric files, {len(MISTAKES)} mistakes, {failed} not as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
