#!/usr/bin/env python3
"""Writes the seed corpora: one packet, or text, of every kind that the parsers tell apart.

    tests/fuzz/make_corpus.py        # writes tests/fuzz/corpus/*/*.bin

The frames are without FCS. They are put together here, not by the code under test, so the tests that read them hold the
code against a second opinion. The RoCEv2 packets are those of roce-and-lossless.md §3.3 and §3.4.
"""

import ipaddress
import pathlib
import re
import struct

import http_requests
import uet_packets
from uet_packets import SECURED, UET, crc32c

HOST1, HOST2 = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
BROADCAST, PFC_GROUP = b"\xff" * 6, bytes.fromhex("0180c2000001")
V4 = [ipaddress.ip_address(a).packed for a in ("10.0.0.1", "10.0.0.2")]
V6 = [ipaddress.ip_address(a).packed for a in ("2001:db8::1", "2001:db8::2")]
UDP, TCP, ICMP, ICMPV6 = 17, 6, 1, 58


def checksum(octets):
    total = sum(struct.unpack(f">{(len(octets) + 1) // 2}H", octets + b"\0" * (len(octets) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def ethernet(ether_type, payload, destination=HOST2, source=HOST1, tag=None):
    vlan = b"" if tag is None else struct.pack(">HH", 0x8100, tag)
    return destination + source + vlan + struct.pack(">H", ether_type) + payload


def ipv4(protocol, payload, tos=0x6A, ttl=64, fragment=0x4000, options=b"", source=V4[0], destination=V4[1]):
    def header(check):
        return struct.pack(">BBHHHBBH", 0x45 + len(options) // 4, tos, 20 + len(options) + len(payload), 0x1234, fragment,
                           ttl, protocol, check) + source + destination + options
    return header(checksum(header(0))) + payload


def ipv6(next_header, payload, traffic_class=0x6A, flow=0x12345, hops=64, source=V6[0], destination=V6[1]):
    return struct.pack(">IHBB", 6 << 28 | traffic_class << 20 | flow, len(payload), next_header, hops) + \
        source + destination + payload


def pseudo(source, destination, protocol, length):
    if len(source) == 4:
        return source + destination + struct.pack(">BBH", 0, protocol, length)
    return source + destination + struct.pack(">IHBB", length, 0, 0, protocol)


def udp(addresses, payload, ports=(0xC123, 5001)):
    def header(check):
        return struct.pack(">HHHH", *ports, 8 + len(payload), check) + payload
    whole = header(0)
    return header(checksum(pseudo(*addresses, UDP, len(whole)) + whole) or 0xFFFF)


def tcp(addresses, options=b"", payload=b""):
    def header(check):
        return struct.pack(">HHIIBBHHH", 40000, 80, 1, 2, (5 + len(options) // 4) << 4, 0x12, 65535, check, 0) + \
            options + payload
    whole = header(0)
    return header(checksum(pseudo(*addresses, TCP, len(whole)) + whole))


# An Ultra Ethernet packet over UDP or behind an entropy header, with its CRC: over everything from the source address on.
def uet(packet, v6=False, native=False, crc=True):
    trailer = 4 if crc else 0
    inner = b"\x42\x42\0\0" if native else struct.pack(">HHHH", 0x4242, 4793, 8 + len(packet) + trailer, 0)
    inner, protocol = inner + packet, 253 if native else UDP
    ip = ipv6(protocol, inner + bytes(trailer)) if v6 else ipv4(protocol, inner + bytes(trailer))
    if crc:
        ip = ip[:-4]
        ip += struct.pack(">I", crc32c(ip[8 if v6 else 12:]))
    return ethernet(0x86DD if v6 else 0x0800, ip)


def icmp(kind, code, rest, payload):
    def message(check):
        return struct.pack(">BBHI", kind, code, check, rest) + payload
    return message(checksum(message(0)))


def icmpv6(kind, code, rest, payload, addresses=V6):
    def message(check):
        return struct.pack(">BBHI", kind, code, check, rest) + payload
    whole = message(0)
    return message(checksum(pseudo(*addresses, ICMPV6, len(whole)) + whole))


def arp(operation, sender, target, target_mac):
    return struct.pack(">HHBBH", 1, 0x0800, 6, 4, operation) + HOST1 + sender + target_mac + target


def pfc(opcode, enable, quanta):
    return ethernet(0x8808, struct.pack(">HH8H", opcode, enable, *quanta).ljust(46, b"\0"), PFC_GROUP)


ROCE_V4 = {
    "roce_ack": "456a0030004240004011260f0a0000020a000001c12312b7001c00001140ffff00000011000001001f000001f882f107",
    "roce_nak": "456a0030004340004011260e0a0000020a000001c12312b7001c00001140ffff00000011000001026000000241"
                "3bed99",
    "roce_compare_swap": "456a004812354000401114040a0000010a000002c12312b7003400001340ffff000000128000010100007f00"
                         "000020000000123411111111222222223333333344444444034be565",
    "roce_read_request": "456a003c123640004011140f0a0000010a000002c12312b7002800000c40ffff000000128000010200007f00"
                         "000010000000123400002710d930f3ae",
    "roce_write_middle": "4500006cd43100008011684d7f0000017f000001303912b7005809dc07000001000000030000"
                         "0000" + "00" * 64 + "b9abf3bf",
}
ROCE_FRAMES = {
    "roce_cnp_connectx4": "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201000012b7002800008100ffff"
                          "40000118000000000000000000000000000000000000000082fd002a",
    "roce_uc_send_only": "248a07a8fa22248a07a8fa220800450100400478400040"
                         "11b4d5c0a80007c0a80007c00012b7002caca22460ffff000000d300cf171046"
                         "30818be28935d90e9a95505401be885e50000078f353f3",
    "roce_write_only": "0200000000020200000000010800456a004412344000401114090a0000010a000002c12312b7003000000a70ffff"
                       "000000128000010000007f0000001000000012340000000568656c6c6f00000098dba0d1",
    "roce_send_only_imm_ipv6": "02000000000202000000000186dd66a123450024114020010db800000000000000000000000120010db8"
                               "000000000000000000000002d00112b70024000005c0ffff0000001280fffffedeadbeef000102030405"
                               "060740d68560",
}

PAYLOAD = bytes(range(32))
# The packet of E7 on the UET page, §15.
UET_TAGGED_SEND = bytes.fromhex("1988fffd0001235801010202 092f0007000000010000000f000000000000000000000010"
                                "112233445566778800000000cafef00d00000009") + b"hello UET"
ORIGINAL4 = ipv4(UDP, udp(V4, PAYLOAD), ttl=1)
ORIGINAL6 = ipv6(UDP, udp(V6, PAYLOAD), hops=1)
SOLICITED2 = ipaddress.ip_address("ff02::1:ff00:2").packed


def extension(next_header, octets=8):
    return bytes([next_header, octets // 8 - 1, 1, octets - 4]).ljust(octets, b"\0")  # one PadN


FRAMES = {
    "arp_request": ethernet(0x0806, arp(1, V4[0], V4[1], b"\0" * 6), BROADCAST),
    "arp_request_padded": ethernet(0x0806, arp(1, V4[0], V4[1], b"\0" * 6), BROADCAST).ljust(60, b"\0"),
    "arp_reply": ethernet(0x0806, arp(2, V4[0], V4[1], HOST2)),
    "arp_request_tagged": ethernet(0x0806, arp(1, V4[0], V4[1], b"\0" * 6), BROADCAST, tag=100),
    "pfc_xoff": pfc(0x0101, 0x08, [0, 0, 0, 0xFFFF, 0, 0, 0, 0]),
    "pfc_xon": pfc(0x0101, 0x08, [0] * 8),
    "pfc_two_priorities": pfc(0x0101, 0x18, [0, 0, 0, 0x0400, 0, 0, 0, 0]),
    "pause_802_3x": pfc(0x0001, 100, [0] * 8),
    "ipv4_udp": ethernet(0x0800, ipv4(UDP, udp(V4, PAYLOAD))),
    "ipv4_udp_tagged": ethernet(0x0800, ipv4(UDP, udp(V4, PAYLOAD)), tag=3 << 13 | 100),
    "ipv4_udp_padded": ethernet(0x0800, ipv4(UDP, udp(V4, b"x"))).ljust(60, b"\0"),
    "ipv4_udp_options": ethernet(0x0800, ipv4(UDP, udp(V4, PAYLOAD), options=b"\x94\x04\0\0")),  # router alert
    "ipv4_tcp": ethernet(0x0800, ipv4(TCP, tcp(V4, payload=PAYLOAD))),
    "ipv4_tcp_options": ethernet(0x0800, ipv4(TCP, tcp(V4, options=b"\x02\x04\x23\xc0\x01\x03\x03\x07"))),
    "ipv4_gre": ethernet(0x0800, ipv4(47, PAYLOAD)),
    "ipv4_udp_trimmed": ethernet(0x0800, ipv4(UDP, udp(V4, PAYLOAD)[:24])),
    "ipv4_uet_native": uet(UET_TAGGED_SEND, native=True),
    "ipv6_uet_native": uet(UET_TAGGED_SEND, v6=True, native=True),
    "ipv4_uet_write": uet(UET["rud_syn"]),
    "ipv4_uet_ack": uet(UET["ack"]),
    "ipv6_uet_nack": uet(UET["nack_trimmed"], v6=True),
    "ipv4_uet_tss": uet(SECURED["tss"], crc=False),
    "ipv4_experiment_253": ethernet(0x0800, ipv4(253, b"x")),
    "ipv4_first_fragment": ethernet(0x0800, ipv4(UDP, udp(V4, PAYLOAD)[:24], fragment=0x2000)),
    "ipv4_last_fragment": ethernet(0x0800, ipv4(UDP, udp(V4, PAYLOAD)[24:], fragment=3)),
    "icmp_echo_request": ethernet(0x0800, ipv4(ICMP, icmp(8, 0, 0x00070001, PAYLOAD))),
    "icmp_echo_request_tagged": ethernet(0x0800, ipv4(ICMP, icmp(8, 0, 0x00070001, PAYLOAD)), tag=100),
    "icmp_time_exceeded": ethernet(0x0800, ipv4(ICMP, icmp(11, 0, 0, ORIGINAL4))),
    "icmp_fragmentation_needed": ethernet(0x0800, ipv4(ICMP, icmp(3, 4, 1500, ORIGINAL4))),
    "ipv6_udp": ethernet(0x86DD, ipv6(UDP, udp(V6, PAYLOAD))),
    "ipv6_udp_tagged": ethernet(0x86DD, ipv6(UDP, udp(V6, PAYLOAD)), tag=3 << 13 | 100),
    "ipv6_tcp": ethernet(0x86DD, ipv6(TCP, tcp(V6, payload=PAYLOAD))),
    "ipv6_hop_by_hop_udp": ethernet(0x86DD, ipv6(0, extension(UDP, 16) + udp(V6, PAYLOAD))),
    "ipv6_routing_destination_tcp": ethernet(
        0x86DD, ipv6(43, bytes([60, 0, 0, 0, 0, 0, 0, 0]) + extension(TCP) + tcp(V6))),
    "ipv6_atomic_fragment_udp": ethernet(0x86DD, ipv6(44, struct.pack(">BBHI", UDP, 0, 0, 7) + udp(V6, PAYLOAD))),
    "ipv6_first_fragment": ethernet(0x86DD, ipv6(44, struct.pack(">BBHI", UDP, 0, 1, 7) + udp(V6, PAYLOAD)[:24])),
    "ipv6_last_fragment": ethernet(0x86DD, ipv6(44, struct.pack(">BBHI", UDP, 0, 3 << 3, 7) + udp(V6, PAYLOAD)[24:])),
    "ipv6_no_next_header": ethernet(0x86DD, ipv6(59, b"")),
    "icmpv6_echo_request": ethernet(0x86DD, ipv6(ICMPV6, icmpv6(128, 0, 0x00070001, PAYLOAD))),
    "icmpv6_time_exceeded": ethernet(0x86DD, ipv6(ICMPV6, icmpv6(3, 0, 0, ORIGINAL6))),
    "icmpv6_packet_too_big": ethernet(0x86DD, ipv6(ICMPV6, icmpv6(2, 0, 1500, ORIGINAL6))),
    "neighbour_solicitation": ethernet(
        0x86DD, ipv6(ICMPV6, icmpv6(135, 0, 0, V6[1] + b"\x01\x01" + HOST1, (V6[0], SOLICITED2)), hops=255,
                     destination=SOLICITED2), bytes.fromhex("3333ff000002")),
    "neighbour_advertisement": ethernet(
        0x86DD, ipv6(ICMPV6, icmpv6(136, 0, 0x60000000, V6[0] + b"\x02\x01" + HOST1), hops=255)),
}
FRAMES |= {name: ethernet(0x0800, bytes.fromhex(packet)) for name, packet in ROCE_V4.items()}
FRAMES |= {name: bytes.fromhex(frame) for name, frame in ROCE_FRAMES.items()}
FRAMES["roce_ack_tagged"] = ethernet(0x0800, bytes.fromhex(ROCE_V4["roce_ack"]), tag=3 << 13 | 100)



# Reports of link quality (dataplane/wire/quality_report.h): the bands of some ports, four bits each.
def quality_report(first, bands, ports=None, version=1, lifetime=160, band=1000):
    nibbles = bands + [0] * (68 - len(bands))
    own = struct.pack(">BBHBBHI", 0x51, version, first, len(bands) if ports is None else ports, 0, lifetime, band)
    own += bytes(a << 4 | b for a, b in zip(nibbles[::2], nibbles[1::2]))
    return ethernet(0x88B6, own, bytes.fromhex("0180c200000e"))


# Messages about credits (dataplane/wire/credit_message.h): a count for each class that is spoken of.
def credit_message(counts, kind=1, epoch=0, version=1):
    own = struct.pack(">BBBBB3x", 0x43, version, kind, epoch, sum(1 << c for c in counts))
    own += b"".join(struct.pack(">I", counts.get(c, 0)) for c in range(8))
    return ethernet(0x88B6, own, bytes.fromhex("0180c200000e"))


CREDIT_MESSAGES = {
    "update": credit_message({3: 17}),
    "question": credit_message({0: 1, 3: 0xFFFF_FFFF, 7: 5}, kind=2, epoch=31),
    "other_epoch": credit_message({3: 17}, epoch=32),
    "other_kind": credit_message({3: 17}, kind=3),
    "other_version": credit_message({3: 17}, version=2),
    "cut": credit_message({3: 17})[:50],
}

QUALITY_REPORTS = {
    "some_ports": quality_report(3, [0, 1, 14, 15, 7]),
    "most_ports": quality_report(68, [n % 16 for n in range(68)]),
    "too_many_ports": quality_report(0, [], ports=69),
    "cut": quality_report(0, [1] * 68)[:40],
    "other_version": quality_report(0, [1], version=2),
    "no_lifetime": quality_report(0, [1], lifetime=0),
}


# RoCEv2 datagrams: those of the frames above from the BTH on, and one of every opcode with octets 1, 2, ... in its
# extension headers (roce-and-lossless.md §2.3), payload that needs padding, and no right ICRC.
RC_HEADERS = {
    0x00: 0, 0x01: 0, 0x02: 0, 0x03: 4, 0x04: 0, 0x05: 4, 0x06: 16, 0x07: 0, 0x08: 0, 0x09: 4, 0x0A: 16, 0x0B: 16 + 4,
    0x0C: 16, 0x0D: 4, 0x0E: 0, 0x0F: 4, 0x10: 4, 0x11: 4, 0x12: 4 + 8, 0x13: 28, 0x14: 28, 0x16: 4, 0x17: 4,
    0x1C: 4 + 16, 0x1D: 16,
}
RC_WITHOUT_PAYLOAD, RC_RESPONSES = {0x0C, 0x11, 0x12, 0x13, 0x14, 0x1C, 0x1D}, set(range(0x0D, 0x13))


def roce(opcode, extension_octets, payload=b"hello"):
    pad = -len(payload) % 4
    bth = struct.pack(">BBHII", opcode, 0x40 | pad << 4, 0xFFFF, 0x000012, 0x80000100)
    return bth + bytes(range(1, extension_octets + 1)) + payload + bytes(pad) + b"icrc"


def roce_payload(operation):
    return b"" if operation in RC_WITHOUT_PAYLOAD - {0x1D} else b"8 octets" if operation == 0x1D else b"hello"


ROCE = {f"op_{op:02x}": roce(op, n, roce_payload(op)) for op, n in RC_HEADERS.items()}
ROCE |= {f"op_{0x20 | op:02x}": roce(0x20 | op, n) for op, n in RC_HEADERS.items() if op <= 0x0B}
ROCE |= {f"op_{0xA0 | op:02x}": roce(0xA0 | op, n + (0 if op in RC_RESPONSES else 4), roce_payload(op))
         for op, n in RC_HEADERS.items() if op <= 0x17}
# Selective repeat (transports/roce/selective_repeat.h): an SRETH in SENDs and WRITEs, a RETH in every WRITE, a SACKETH.
SEND_OPERATIONS, WRITE_OPERATIONS = set(range(0x06)) | {0x16, 0x17}, set(range(0x06, 0x0C))
ROCE |= {f"op_{0xC0 | op:02x}":
         roce(0xC0 | op, 8 + n if op in SEND_OPERATIONS else 24 + (4 if op in (0x09, 0x0B) else 0)
              if op in WRITE_OPERATIONS else n + (4 if op == 0x11 else 0), roce_payload(op))
         for op, n in RC_HEADERS.items() if op <= 0x17}
ROCE |= {"op_64": roce(0x64, 8), "op_65": roce(0x65, 8 + 4), "op_81": roce(0x81, 16, b"")}
# Responses that run on behind their headers.
ROCE |= {"long_ack": roce(0x11, 4, bytes(8)), "long_atomic_ack": roce(0x12, 12, bytes(8)),
         "long_cnp": roce(0x81, 16, bytes(84)), "long_cnp_padded": roce(0x81, 16, bytes(83))}
ROCE |= {name: bytes.fromhex(packet)[28:] for name, packet in ROCE_V4.items()}
ROCE |= {name: bytes.fromhex(frame)[62 if "ipv6" in name else 42:] for name, frame in ROCE_FRAMES.items()}


# Connection management (roce-and-lossless.md §6): each field at its offset behind the MAD header; private data begins
# with e0 and ends with e1.
def mad(attribute, fields, private_at, klass=7, version=2, method=3, transaction=0x0102030405060708):
    body = bytearray(232)
    for offset, octets in fields.items():
        body[offset:offset + len(octets)] = octets
    if private_at is not None:
        body[private_at], body[-1] = 0xE0, 0xE1
    return struct.pack(">BBBBHHQHHI", 1, klass, version, method, 0, 0, transaction, attribute, 0, 0) + bytes(body)


def mapped(address):
    return bytes(10) + b"\xff\xff" + address


CM_IDS = {0: bytes.fromhex("11223344"), 4: bytes.fromhex("55667788")}
CM_MADS = {
    "req": mad(0x10, {
        0: CM_IDS[0], 8: bytes.fromhex("0000000001061d2f"), 16: bytes.fromhex("a1a2a3a4a5a6a7a8"),
        28: bytes.fromhex("51525354"), 32: bytes.fromhex("000118"), 35: bytes([7]), 36: b"abc", 39: bytes([9]), 40: b"qrs",
        43: bytes([20 << 3 | 1 << 1 | 1]), 44: bytes.fromhex("abcdef"), 47: bytes([21 << 3 | 6]), 48: b"\xff\xff",
        50: bytes([5 << 4 | 1 << 3 | 5]), 51: bytes([15 << 4 | 1 << 3 | 2]), 52: b"\xff\xff\xff\xfe",
        56: mapped(V4[0]), 72: mapped(V4[1]), 88: struct.pack(">I", 0x12345 << 12 | 0x2A), 92: bytes([0x68, 64]),
        94: bytes([3 << 4 | 1 << 3]), 95: bytes([17 << 3]),
        140: bytes([0, 0x40, 0xC0, 0x01]) + bytes(12) + V4[0] + bytes(12) + V4[1] + b"hello"}, None),
    "rep": mad(0x13, {
        0: CM_IDS[4], 4: CM_IDS[0], 8: bytes.fromhex("51525354"), 12: bytes.fromhex("0000d2"), 16: b"abc",
        20: bytes.fromhex("123456"), 24: bytes([9, 7, 15 << 3 | 2 << 1 | 1, 5 << 5 | 1 << 4]),
        28: bytes.fromhex("a1a2a3a4a5a6a7a8")}, 36),
    "rtu": mad(0x14, CM_IDS, 8),
    "dreq": mad(0x15, CM_IDS | {8: bytes.fromhex("0000d2")}, 12),
    "drep": mad(0x16, CM_IDS, 8),
    "mra": mad(0x11, CM_IDS | {8: bytes([1 << 6]), 9: bytes([19 << 3])}, 10),
    "rej": mad(0x12, CM_IDS | {8: bytes([1 << 6]), 9: bytes([72 << 1]), 10: struct.pack(">H", 28), 83: b"\xe1"}, 84),
    "sidr_req": mad(0x17, {}, 16),
    "another_class": mad(0x14, CM_IDS, 8, klass=3),
    "cut": mad(0x14, CM_IDS, 8)[:200],
}

# What comes to an engine: for each packet what became of time and which end, then a datagram behind its length.
ENGINE_PACKETS = {
    "one_of_each": b"".join(struct.pack(">BH", i % 16, len(datagram)) + datagram
                            for i, datagram in enumerate(ROCE[name] for name in sorted(ROCE))),
    **{name: struct.pack(">BH", 1, len(datagram)) + datagram for name, datagram in ROCE.items()},
}


# A trunk's messages (dataplane/trunk/message.h): type, sequence, body.
def trunk(kind, sequence, body):
    return struct.pack(">IBBHQQQ", 0x52595452, 1, kind, 0, 5, 6, sequence) + body


def trunk_frame(header, payload, flags=0, synthetic=0):
    octets = len(header) + len(payload) + synthetic
    return trunk(2, 42, struct.pack(">QQQQIIHB5x", 7000, 6000, 3, 8192, max(octets + 4 + (flags & 4), 64),
                                    len(payload) + synthetic, len(header), flags) + header + payload)


TRUNK = {
    "ping": trunk(1, 42, struct.pack(">QQQQQQQIIII", 5000, 4000, 4500, 41, 40, 10**11, 2 * 10**8, 1, 1, 9216, 1 << 31)),
    "frame_real": trunk_frame(FRAMES["ipv4_udp"][:42], FRAMES["ipv4_udp"][42:]),
    "frame_synthetic": trunk_frame(FRAMES["ipv4_udp"][:42], b"", flags=1 | 4, synthetic=1000),
    "frame_pfc": trunk_frame(FRAMES["pfc_xoff"].ljust(60, b"\0"), b""),
}



# A trunk's messages in Ethernet frames (dataplane/trunk/fragment.h), each in front of its length: what one wire receives
# in a row.
def carriers(message, octets, piece, indices, tag=None):
    inputs = b""
    for index in indices:
        own = octets[index * piece:(index + 1) * piece]
        frame = ethernet(0x88B5, struct.pack(">HBBIHH", 0x5259, 1, index, message, len(octets), piece) + own, tag=tag)
        frame = frame.ljust(60, b"\0")
        inputs += struct.pack(">H", len(frame)) + frame
    return inputs


LONG = bytes(i * 7 % 251 for i in range(700))
TRUNK_FRAGMENTS = {
    "one": carriers(1, TRUNK["ping"], len(TRUNK["ping"]), [0]),
    "one_tagged": carriers(1, TRUNK["ping"], len(TRUNK["ping"]), [0], tag=3 << 13),
    "one_of_a_vlan": carriers(1, TRUNK["ping"], len(TRUNK["ping"]), [0], tag=3 << 13 | 5),
    "padded": carriers(2, b"abc", 3, [0]),
    "three": carriers(3, LONG, 250, [0, 1, 2]),
    "three_shuffled_and_doubled": carriers(3, LONG, 250, [2, 0, 0, 1, 2]),
    "two_mixed": carriers(4, LONG, 350, [0]) + carriers(5, LONG, 350, [1, 0]) + carriers(4, LONG, 350, [1]),
    "same_slot": carriers(4, LONG, 350, [0]) + carriers(20, LONG, 350, [0, 1]) + carriers(4, LONG, 350, [1]),
    "contradicting": carriers(6, LONG, 350, [0]) + carriers(6, LONG, 234, [1]),
}



# The faults of the ready scenarios, one line of each; and values alone, as the fuzzer tries them too.
def fault_texts():
    for path in sorted((pathlib.Path(__file__).parents[2] / "topologies" / "scenarios").glob("*.yaml")):
        faults = re.findall(r"^  - \{ (name: .*) \}$", path.read_text().partition("\nfaults:\n")[2], re.MULTILINE)
        for number, text in enumerate(faults):
            yield f"{path.stem}_{number}" if number else path.stem, text


FAULT_VALUES = {
    "yaml_block": "on: [leaf1:1, \"rail 1 in\"]\nloss: 1%\n",
    "yaml_flow": "{ on: 'h*', every: 1s, for: 100ms, down: true }",
    "when_depth": "on: h1, when: queue leaf1:1/3 depth > 200KiB, after: 1us, for: 10us, count: 2, rate: 1/2",
    "when_paused": "on: leaf1:3, when: queue leaf1:1/3 paused > 1ms, for: 1ms, probability: 0.5, down: true",
    "match_all": "on: leaf1:3 out, match: { ip.src: 10.0.0.0/8, eth.dst: 02:00:00:00:00:01, bth.opcode: 0x0a, "
                 "size: '>1KB', flow: both/h1->h2:1, nth: 3 }, drop: true",
    "stray_comma": ", a\n",
    "place": "leaf1:3/5 out",
    "place_rail": "rail 2 in",
    "place_many": "spine*:2",
    "state_depth": "queue leaf1:3/3 depth > 200KiB",
    "state_paused": "queue leaf1:3/3 paused > 1.5ms",
    "duration": "1.5us",
    "probability": "1e-12",
    "ratio": "1/8",
    "match_prefix": "ip.dst: fd00::/64",
    "match_number": "bth.psn: 0xffffff",
    "size": "<100B",
}


# One packet of every kind after the other, as uet_engine_fuzz.cc reads them: first an octet that says with whose numbers.
UET_ENGINE_PACKETS = {
    name: b"".join(struct.pack(">BH", how, len(packet)) + packet for packet in UET.values())
    for name, how in {"as_they_are": 0x10, "of_our_rud": 0x11, "of_our_rod": 0x12, "of_their_pdc": 0x13,
                      "marked": 0x15, "trimmed": 0x19, "trimmed_of_their_pdc": 0x1B}.items()
}



# Packets of one message id that contradict each other; and data of our READs that are not what was asked for.
def uet_in_a_row(how, packets):
    return b"".join(struct.pack(">BH", how, len(packet)) + packet for packet in packets)


def uet_of_their_pdc(*messages):
    return uet_in_a_row(0x10, [uet_packets.request(flags=0x0C, psn=0x20000 + i, spdcid=9, dpdcid=i) + message
                               for i, message in enumerate(messages)])


def uet_read_data(message, octets, offset, psn):
    return uet_packets.request(next_hdr=uet_packets.DATA, psn=psn) + \
        struct.pack(">BBHIHHII", 2, 1, message, 1, message, octets, 3000, offset) + bytes(octets)


UET_PART = 16 << 32  # 16 octets
UET_ENGINE_PACKETS |= {
    "one_id_longer": uet_of_their_pdc(
        uet_packets.std("tagged_send", 5000, 0x09, key=0x7700) + bytes(1024),
        uet_packets.std("tagged_send", 0xFFFFFFF0, 0x08, UET_PART | 0xF0000000, key=0x7700) + bytes(16),
        uet_packets.std("tagged_send", 5000, 0x08, UET_PART | 2048, key=0x7700) + bytes(16)),
    "one_id_of_write_and_send": uet_of_their_pdc(
        uet_packets.std("write", 0xFFFFFFFE, 0x08),
        uet_packets.std("tagged_send", 0xFFFFFFFE, 0x08, UET_PART | 0xF0000000, key=0x7700) + bytes(16),
        uet_packets.std("msg_error", 0xFFFFFFFE, 0x0A)),
    "one_id_of_send_and_write": uet_of_their_pdc(
        uet_packets.std("tagged_send", 2000, 0x09, key=0x7700) + bytes(1024),
        uet_packets.std("write", 2000, 0x0A, 976 << 32 | 1024) + bytes(976)),
    # All requests of our PDC for RUD are acknowledged (4: the last one's PSN, uet_engine_fuzz.cc): only its READ, the third
    # message, is open, and what it is answered with is all that will come.
    "short_read_data": uet_in_a_row(0x01, [uet_read_data(3, 100, offset, psn) for psn, offset in
                                           enumerate((0, 1024, 2048))] +
                                    [uet_packets.ack(next_hdr=uet_packets.NONE, cack=4)]),
    # Control packets that run on behind their headers.
    "long_control": uet_in_a_row(0x11, [packet + bytes(84) for packet in (
        uet_packets.ack(next_hdr=uet_packets.NONE), uet_packets.nack(1), uet_packets.control(0),
        uet_packets.control(6, opaque=5))]),
}

# What a hostile process does to its ring (frame_ring_fuzz.cc): steps of one octet and what belongs to them.
FRAME_RINGS = {
    "honest": bytes([1, 3, 3, 3, 1, 5, 2, 3, 4, 2, 8, 4]),     # frames of two classes come, all are taken; the other ring fills
    "too_many": bytes([1, 3, 9, 3, 1, 3, 255, 3]),             # more frames than slots
    "head_ahead": bytes([4, 2, 200, 4]),                       # more taken than was sent
    "long_frame": bytes([0]) + struct.pack(">HIB", 48, 0xFFFFFFFF, 0) + bytes([1, 0, 1, 3, 5, 255]),  # in the first slot
    "flags": bytes([0]) + struct.pack(">HIB", 49, 0x80000000, 0) + bytes([1, 0, 1, 3]),
}


# What a hostile process does behind a NIC that it shares (application_port_fuzz.cc): the first octet says what it speaks.
def port_frame(qp, *changes, ring=3):
    return bytes([4, ring]) + qp.to_bytes(3, "big") + bytes([len(changes)]) + b"".join(bytes(c) for c in changes)


APPLICATION_PORTS = {
    "honest": bytes([0]) + port_frame(7) * 3 + bytes([5, 255]) + port_frame(7, ring=1) + bytes([5, 255]),
    "to_itself": bytes([0]) + (port_frame(0x1001) + bytes([5, 255, 6])) * 9 + bytes([2, 4]) + bytes([6]),
    "held_back": bytes([0]) + port_frame(7) + port_frame(7, ring=1) + bytes([5, 0x02, 5, 0xF7, 5, 0x08]),
    "forged": bytes([0]) + port_frame(7, (6, 0)) + port_frame(7, (29, 9)) + bytes([5, 255]),
    "malformed": bytes([0]) + port_frame(7, (12, 1)) + port_frame(7, (14, 0xFF)) + bytes([5, 255]),
    "qp1": bytes([0]) + port_frame(1) + bytes([5, 255, 6]),
    "too_many": bytes([0, 1, 3, 9, 5, 255, 1, 3, 255, 5, 255]),
    "uet_of_roce": bytes([1]) + port_frame(7) + bytes([5, 255]),
} | {
    name: bytes([int("uet" in name)]) + bytes([3, 3, 0, (len(frame) + 1) // 2]) + frame + b"\0" * (len(frame) % 2) + bytes([5, 255, 6])
    for name, frame in FRAMES.items() if len(frame) <= 500 and (name.startswith("roce_") or "uet" in name)
}

# Steps of processes and peers at one QP 1 (shared_gsi_fuzz.cc): whose, which port space, what, and what belongs to it.
# Frames are MADs with headers of the fuzzer's own (2), or as they are (0: with ICRC, 1: without).
def gsi_step(owner, what, more=b"", space=0):
    return bytes([owner, space, what]) + more


def gsi_frame(how, octets):
    return struct.pack(">BH", how, len(octets)) + octets


GSI_MEMBERS = b"".join(gsi_step(owner, 0) + gsi_step(owner, 2, struct.pack(">H", port)) for owner, port in
                       ((1, 0x1B9E), (2, 0xABCD), (3, 0)))
SHARED_GSI = {
    "ports": GSI_MEMBERS + gsi_step(2, 2, struct.pack(">H", 0x1B9E)) + gsi_step(1, 3, struct.pack(">H", 0x1B9E)) +
             gsi_step(2, 2, struct.pack(">H", 0x1B9E)) + gsi_step(2, 1),
    "frames": GSI_MEMBERS + b"".join(gsi_step(1, what, gsi_frame(how, frame)) for name, frame in FRAMES.items()
                                     if name.startswith("roce_") for what, how in ((4, 0), (5, 1))),
} | {
    # Each message from the peer and from a process, before and after the process has gone.
    name: GSI_MEMBERS + b"".join(gsi_step(1, what, gsi_frame(2, octets)) for what in (4, 5, 4)) + gsi_step(1, 1) +
          gsi_step(1, 4, gsi_frame(2, octets))
    for name, octets in CM_MADS.items()
}

# Frames of UET for processes of one NIC, whole and by half (uet_processes_fuzz.cc).
UET_PROCESSES = {
    name: b"".join(struct.pack(">BH", how, len(frame)) + frame for how in (0, 1, 2))
    for name, frame in FRAMES.items() if "uet" in name or name == "roce_v4"
} | {
    packet_name: struct.pack(">BH", 0, len(frame)) + frame
    for packet_name, packet in UET.items()
    for frame in [ethernet(0x0800, ipv4(UDP, udp(V4, packet, ports=(0xC123, 4793))))]
}

# What applications tell the daemon (application_message_fuzz.cc), little-endian as they lie in memory.
def hello(magic=0x52594150, version=3, host=b"h1", nic=1, transport=0):
    return struct.pack("<II64sII", magic, version, host, nic, transport)


APPLICATION_MESSAGES = {
    "hello_roce": hello(), "hello_uet": hello(transport=1), "hello_old": hello(version=2), "hello_short": hello()[:-4],
    "hello_endless_name": hello(host=b"h" * 64), "hello_no_nic": hello(nic=0), "hello_transport": hello(transport=9),
    "port_claim": struct.pack("<IBBH", 0x52594150, 0, 1, 7174), "port_release": struct.pack("<IBBH", 0x52594150, 1, 1, 7174),
    "empty": b"",
    "port_magic": struct.pack("<IBBH", 1, 0, 1, 7174),
}

# The memory of a ring, as the application finds it (application_ring_fuzz.cc): words, frames, the producer's position.
def ring_frame(frame, flags=0):
    return struct.pack(">BBH", 1, flags, len(frame)) + frame


APPLICATION_RINGS = {
    "frames": b"".join(ring_frame(frame, flags) + bytes([3]) for name, frame in FRAMES.items()
                       if name.startswith("roce_") or "uet" in name for flags in (0, 1, 2)),
    "long_frame": bytes([0]) + struct.pack(">HI", 48, 0xFFFFFFFF) + bytes([2, 1, 3]),
    "flags": bytes([0]) + struct.pack(">HI", 49, 0x80000000) + bytes([2, 1, 3]),
    "too_many": bytes([2, 9, 3, 2, 255, 3]),
}

if __name__ == "__main__":
    corpus = pathlib.Path(__file__).parent / "corpus"
    for folder in ("api_body", "http_request", "fault_text", "parse_frame", "pfc", "quality_report", "credit_message", "roce_packet",
                   "roce_engine", "cm_mad", "trunk_message", "trunk_fragment", "uet_packet",
                   "uet_frame", "uet_engine", "frame_ring", "shared_gsi", "uet_processes", "application_message",
                   "application_port", "application_ring"):
        (corpus / folder).mkdir(parents=True, exist_ok=True)
    for name, frame in FRAMES.items():
        (corpus / "parse_frame" / f"{name}.bin").write_bytes(frame)
        if name.startswith(("pfc_", "pause_")):
            (corpus / "pfc" / f"{name}.bin").write_bytes(frame)
    for name, report in QUALITY_REPORTS.items():
        (corpus / "quality_report" / f"{name}.bin").write_bytes(report)
    for name, message in CREDIT_MESSAGES.items():
        (corpus / "credit_message" / f"{name}.bin").write_bytes(message)
    for name, datagram in ROCE.items():
        (corpus / "roce_packet" / f"{name}.bin").write_bytes(datagram)
    for name, octets in CM_MADS.items():
        (corpus / "cm_mad" / f"{name}.bin").write_bytes(octets)
    for name, packets in ENGINE_PACKETS.items():
        (corpus / "roce_engine" / f"{name}.bin").write_bytes(packets)
    for name, packet in [*UET.items(), *SECURED.items()]:
        (corpus / "uet_packet" / f"{name}.bin").write_bytes(packet)
    for name, frame in FRAMES.items():
        if "uet" in name or name.startswith("roce_"):
            (corpus / "uet_frame" / f"{name}.bin").write_bytes(frame)
    for name, packets in UET_ENGINE_PACKETS.items():
        (corpus / "uet_engine" / f"{name}.bin").write_bytes(packets)
    for name, message in TRUNK.items():
        (corpus / "trunk_message" / f"{name}.bin").write_bytes(message)
    for name, frames in TRUNK_FRAGMENTS.items():
        (corpus / "trunk_fragment" / f"{name}.bin").write_bytes(frames)
    for name, steps in FRAME_RINGS.items():
        (corpus / "frame_ring" / f"{name}.bin").write_bytes(steps)
    for folder, inputs in {"shared_gsi": SHARED_GSI, "uet_processes": UET_PROCESSES,
                           "application_message": APPLICATION_MESSAGES, "application_port": APPLICATION_PORTS,
                           "application_ring": APPLICATION_RINGS}.items():
        for name, octets in inputs.items():
            (corpus / folder / f"{name}.bin").write_bytes(octets)
    for name, text in [*fault_texts(), *FAULT_VALUES.items()]:
        (corpus / "fault_text" / f"{name}.bin").write_text(text)
    for name, request in http_requests.REQUESTS.items():
        (corpus / "http_request" / f"{name}.bin").write_bytes(request)
    for name, body in http_requests.BODIES.items():
        (corpus / "api_body" / f"{name}.bin").write_bytes(body)
