#!/usr/bin/env python3
"""Writes chakra-4.0.et to chakra-4.3.et and chakra-4.json beside this file: a step of two pipeline stages of two
data-parallel ranks each, as execution traces of Chakra (schema/protobuf/et_def.proto of mlcommons/chakra)."""
import json
import pathlib

COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
ALL_REDUCE = 0


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, octets):
    return varint(field << 3 | 2) + varint(len(octets)) + octets


def attribute(name, value):
    kind = block(29, value.encode()) if isinstance(value, str) else number(27, value) if isinstance(value, bool) else number(9, value)
    return block(10, block(1, name.encode()) + kind)


def node(id, name, type, after=(), micros=0, **attributes):
    octets = number(1, id) + block(2, name.encode()) + number(3, type)
    octets += block(5, b"".join(map(varint, after))) if after else b""
    octets += number(7, micros) if micros else b""
    return octets + b"".join(attribute(k, v) for k, v in attributes.items())


def write(path, nodes):
    messages = [block(1, b"0.0.4")] + nodes
    path.write_bytes(b"".join(varint(len(m)) + m for m in messages))


MICROBATCHES, ACTIVATIONS, GRADIENTS = 4, 4 << 20, 16 << 20
here = pathlib.Path(__file__).parent
(here / "chakra-4.json").write_text(json.dumps({"0": [0, 1], "1": [2, 3]}) + "\n")
for rank in range(4):
    first = rank < 2
    peer = rank + 2 if first else rank - 2
    nodes, last = [], []
    for m in range(MICROBATCHES):
        if first:
            nodes.append(node(10 * m + 1, f"forward {m}", COMPUTE, last, 1000))
            nodes.append(node(10 * m + 2, f"activations {m}", SEND, [10 * m + 1], comm_dst=peer, comm_tag=m, comm_size=ACTIVATIONS))
            last = [10 * m + 1]
        else:
            nodes.append(node(10 * m + 1, f"activations {m}", RECEIVE, comm_src=peer, comm_tag=m, comm_size=ACTIVATIONS))
            nodes.append(node(10 * m + 2, f"forward {m}", COMPUTE, [10 * m + 1] + last, 1000))
            nodes.append(node(10 * m + 3, f"backward {m}", COMPUTE, [10 * m + 2], 2000))
            nodes.append(node(10 * m + 4, f"gradients {m}", SEND, [10 * m + 3], comm_dst=peer, comm_tag=100 + m, comm_size=ACTIVATIONS))
            last = [10 * m + 3]
    if first:
        for m in range(MICROBATCHES):
            nodes.append(node(10 * m + 3, f"gradients {m}", RECEIVE, comm_src=peer, comm_tag=100 + m, comm_size=ACTIVATIONS))
            nodes.append(node(10 * m + 4, f"backward {m}", COMPUTE, [10 * m + 3] + last, 2000))
            last = [10 * m + 4]
    nodes.append(node(900, "sum of gradients", COLLECTIVE, last, comm_type=ALL_REDUCE, comm_size=GRADIENTS, pg_name="0" if first else "1"))
    nodes.append(node(901, "optimizer", COMPUTE, [900], 500))
    write(here / f"chakra-4.{rank}.et", nodes)
