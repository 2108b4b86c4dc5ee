"""Ultra Ethernet packets of every kind for make_corpus.py, put together from the tables of the UET page §2..§4."""

import struct

TYPES = {"rud": 2, "rod": 3, "rudi": 4, "rudi_resp": 5, "uud": 6, "ack": 7, "ack_cc": 8, "ack_ccx": 9, "nack": 10,
         "cp": 11, "nack_ccx": 12, "rud_cc": 13, "rod_cc": 14}
NONE, SMALL, MEDIUM, STD, RESPONSE, DATA, DATA_SMALL = range(7)
OPCODES = ["no_op", "write", "read", "atomic", "fetching_atomic", "send", "rendezvous_send", "datagram_send",
           "deferrable_send", "tagged_send", "rendezvous_tsend", "deferrable_tsend", "deferrable_rtr", "tsend_atomic",
           "tsend_fetch_atomic", "msg_error"]
CTL_TYPES = ["noop", "ack_req", "clear_cmd", "clear_req", "close_cmd", "close_req", "probe", "credit", "credit_req",
             "negotiation"]
NO_DATA = ("no_op", "read", "deferrable_rtr", "msg_error")
PAYLOAD = b"hello UET"


def crc32c(octets):
    crc = 0xFFFFFFFF
    for octet in octets:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def word(kind, next_hdr, flags):
    return struct.pack(">H", TYPES[kind] << 11 | next_hdr << 7 | flags)


def request(kind="rud", next_hdr=STD, flags=0x08, clear=-1, psn=0x12359, spdcid=0x0101, dpdcid=0x0202, credit=None):
    return word(kind, next_hdr, flags) + struct.pack(">hIHH", clear, psn, spdcid, dpdcid) + \
        (struct.pack(">I", credit) if credit is not None else b"")


def ack(kind="ack", next_hdr=RESPONSE, flags=0, offset=0, cack=0x12345, behind=b""):
    return word(kind, next_hdr, flags) + struct.pack(">hIHH", offset, cack, 0x0202, 0x0101) + behind


def ack_cc(cc_type, state, kind="ack_cc"):
    return ack(kind, offset=5, behind=struct.pack(">BBhQ", cc_type << 4, 1, 2, 0x0B) + state)


def nack(code, payload=0, flags=0x20, kind="nack", behind=b""):
    return word(kind, NONE, flags) + struct.pack(">BBIHHI", code, 0, 0x12354, 0x0202, 0x0101, payload) + behind


def control(number, payload=0, flags=0x08, opaque=0, psn=0x12361, dpdcid=0x0202):
    return word("cp", number, flags) + struct.pack(">HIHHI", opaque, psn, 0x0101, dpdcid, payload)


def common(opcode, third, flags=0x0B):
    return struct.pack(">BBHIHH", OPCODES.index(opcode), flags, third, 1, 0, 15)


def std(opcode, length=None, flags=0x0B, rest=None, offset=0x1000, key=0xABCDEF):
    """With som `rest` is header_data, else payload_length << 32 | message_offset."""
    length = (0 if opcode == "no_op" else len(PAYLOAD)) if length is None else length
    return common(opcode, 11, flags) + struct.pack(">QIQQI", offset, 0x10, key, rest or 0, length)


def small(opcode):
    return common(opcode, len(PAYLOAD)) + struct.pack(">Q", 0x1000)


def medium(opcode):
    return common(opcode, len(PAYLOAD)) + struct.pack(">QIQ", 0xCAFEF00D, 0x10, 0xABCDEF)


def response(opcode=0, code=1, listed=0, modified=0):
    return struct.pack(">BBHII", listed << 6 | opcode, code, 1, 1, modified)


SUM, CSWAP = bytes([2, 7, 1, 0]), bytes([0x0D, 7, 0, 0]) + (5).to_bytes(16, "big") + (9).to_bytes(16, "big")
RENDEZVOUS = struct.pack(">IBHBQQ", len(PAYLOAD), 1, 0x0020, 0x0F, 0x2000, 0xABCDEF)
EXTENSIONS = {"atomic": SUM, "fetching_atomic": CSWAP, "tsend_atomic": SUM, "tsend_fetch_atomic": CSWAP,
              "rendezvous_send": RENDEZVOUS, "rendezvous_tsend": RENDEZVOUS}


def message(opcode):
    """A message of one packet: request header, extension, payload or operand."""
    extension = EXTENSIONS.get(opcode, b"")
    length = {SUM: 8, CSWAP: 32}.get(extension)
    payload = bytes(8) if extension == SUM else b"" if opcode in NO_DATA or extension == CSWAP else PAYLOAD
    return std(opcode, length) + extension + payload


# From the PDS header to the payload.
UET = {f"ses_{opcode}": request() + message(opcode) for opcode in OPCODES} | \
    {f"cp_{name}": control(number) for number, name in enumerate(CTL_TYPES)} | {
    "rud_syn": request(flags=0x0C, dpdcid=0x8001) + message("write"),
    "rod_retx": request("rod", flags=0x18) + message("tagged_send"),
    "rud_cc": request("rud_cc", credit=5 << 24 | 0x400) + message("send"),
    "rod_cc": request("rod_cc", credit=5 << 24 | 0x400) + message("send"),
    "fragment": request() + std("write", 1033, 0x0A, len(PAYLOAD) << 32 | 1024) + PAYLOAD,
    "deferrable_fragment": request() + std("deferrable_send", 1033, 0x0A, len(PAYLOAD) << 32 | 1024) + PAYLOAD,
    "header_data": request("rod") + std("tagged_send", flags=0x2F, rest=0xCAFEF00D) + PAYLOAD,
    "small_write": request(next_hdr=SMALL) + small("write") + PAYLOAD,
    "small_read": request(next_hdr=SMALL) + small("read"),
    "medium_write": request(next_hdr=MEDIUM) + medium("write") + PAYLOAD,
    "medium_send": request(next_hdr=MEDIUM) + medium("tagged_send") + PAYLOAD,
    "read_data": request(next_hdr=DATA) + struct.pack(">BBHIHHII", 2, 1, 3, 1, 3, len(PAYLOAD), 2048, 1024) + PAYLOAD,
    "ack": ack() + response(),
    "ack_no_response": ack() + response(3, 0),
    "ack_of_cp": ack(next_hdr=NONE, flags=0x10),
    "ack_probe": ack(next_hdr=NONE, flags=0x08, offset=-0x4111),
    "ack_req_close": ack(flags=0x04) + response(1, 0x1C, 1),
    "ack_data": ack(next_hdr=DATA) + struct.pack(">BBHIHHII", 2, 1, 3, 1, 3, 8, 8, 0) + bytes(8),
    "ack_data_small": ack(next_hdr=DATA_SMALL) + struct.pack(">BBHII", 2, 1, 8, 1, 0x12345) + bytes(8),
    "ack_expected_psn": ack(next_hdr=NONE, flags=0x40, behind=struct.pack(">I", 0x12346)),
    "ack_cc_nscc": ack_cc(0, struct.pack(">HBBHHx", 16, 0x81, 0, 0x40, 3)[:8]) + response(),
    "ack_cc_credit": ack_cc(1, struct.pack(">IHH", 0x140 << 8, 0, 3)) + response(),
    "ack_ccx": ack_cc(14, bytes(range(16)), "ack_ccx") + response(),
    "nack_trimmed": nack(1),
    "nack_rod_ooo": nack(0x0D, flags=0x10),
    "nack_new_start_psn": nack(0x17, 0x22222, 0),
    "nack_rudi": nack(1, flags=0x08),
    "nack_ccx": nack(0x0A, kind="nack_ccx", behind=bytes(range(16))),
    "cp_noop_syn": control(0, flags=0x2C, dpdcid=0x0001),
    "cp_probe_opaque": control(6, 0x12351, opaque=0xBEEF),
    "rudi_write": word("rudi", STD, 0) + struct.pack(">HI", 0, 0x80000001) + message("write"),
    "rudi_response": word("rudi_resp", RESPONSE, 0x20) + struct.pack(">HI", 0, 0x80000001) + response(),
    "uud": word("uud", STD, 0) + bytes(2) + message("datagram_send"),
}

# TSS headers, 12 and 16 octets, in front of what is encrypted and an ICV.
SECURED = {
    "tss": struct.pack(">IQ", 1 << 27 | 1 << 24 | 0x1234, 1 << 48 | 42) + bytes(range(24)) + bytes(16),
    "tss_ssi": struct.pack(">IIQ", 1 << 27 | 1 << 26 | 0x1234, 0x0A0B0C0D, 1 << 48 | 42) + bytes(range(24)) + bytes(16),
}
