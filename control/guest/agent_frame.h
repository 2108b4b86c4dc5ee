/*
 * What goes over a virtio-serial port between the host and the agent in a guest: one session at a time, as frames in
 * both directions. Plain C, because the agent (tools/softroce/guest/agent.c) is.
 *
 * Greeting. A port outlives its clients, and one that dies may leave half a frame behind. So a client begins with
 * RY_FLUSH_OCTETS zeros (they fill up any frame that was cut, and no frame begins with zero), RY_GREETING and 16 octets
 * drawn at random. The agent throws away what comes before RY_GREETING, kills what is left of an earlier session and
 * answers RY_WELCOME, the same 16 octets, and RY_AGENT_VERSION (2 octets, little endian). The client throws away what
 * comes before that. Only then are there frames:
 *
 *    0               1               2               3
 *   +---------------+---------------+-------------------------------+
 *   |     type      |       0       | length, little endian, <= 4096 | payload ...
 *   +---------------+---------------+-------------------------------+
 *
 * A session. The client: RY_REQUEST (any number; the payloads put together are the request), RY_START, then RY_STDIN,
 * RY_STDIN_EOF, RY_SIGNAL, RY_WINDOW. The agent: RY_STDOUT, RY_STDERR, RY_CREDIT, and at the end one of RY_EXITED,
 * RY_SIGNALED, RY_FAILED. The client has RY_STDIN_CREDIT octets of standard input in flight at most, and may send what
 * RY_CREDIT gives back: thus signals never wait behind input that nobody reads. A host that closes the port ends the
 * session: its processes are killed.
 *
 * A request is a sequence of records, each a letter, text, and NUL: 'a' an argument (the first is the program), 'e' a
 * variable NAME=VALUE, 'd' the directory to start in, 't' a terminal of "ROWS COLUMNS" in the place of pipes.
 * The programs "@put" and "@get" are the agent's own; see agent.c.
 */
#ifndef RAILYARD_CONTROL_GUEST_AGENT_FRAME_H
#define RAILYARD_CONTROL_GUEST_AGENT_FRAME_H

#include <stddef.h>
#include <stdint.h>

enum {
  RY_AGENT_VERSION = 2,    /* changes with anything on this page, or how the image names its NICs */
  RY_FRAME_HEADER = 4,     /* octets */
  RY_FRAME_PAYLOAD = 4096, /* octets, at most */
  RY_FLUSH_OCTETS = RY_FRAME_HEADER + RY_FRAME_PAYLOAD,
  RY_MAGIC_OCTETS = 16, /* of RY_GREETING and RY_WELCOME, without NUL */
  RY_NONCE_OCTETS = 16,
  RY_GREETING_OCTETS = RY_MAGIC_OCTETS + RY_NONCE_OCTETS,
  RY_WELCOME_OCTETS = RY_MAGIC_OCTETS + RY_NONCE_OCTETS + 2,
  RY_REQUEST_OCTETS = 1 << 18, /* of a request, at most */
  RY_STDIN_CREDIT = 1 << 16
};

#define RY_GREETING "\x89railyard-hello\n"
#define RY_WELCOME "\x89railyard-agent\n"

enum ry_frame_type {
  /* to the agent */
  RY_REQUEST = 1, /* a piece of the request */
  RY_START = 2,   /* the request is complete */
  RY_STDIN = 3,   /* octets */
  RY_STDIN_EOF = 4,
  RY_SIGNAL = 5,    /* 1 octet: the number; to the process group, or the terminal's foreground group */
  RY_WINDOW = 6,    /* 4 octets: rows, columns, little endian; for sessions with a terminal */
  RY_PING = 7,      /* instead of a request */
  RY_POWER_OFF = 8, /* instead of a request: the guest powers off, without an answer */
  RY_LAST_TO_AGENT = RY_POWER_OFF,
  /* from the agent */
  RY_STDOUT = 17,   /* octets */
  RY_STDERR = 18,   /* octets; none with a terminal */
  RY_CREDIT = 19,   /* 4 octets, little endian: so much more RY_STDIN may be sent */
  RY_EXITED = 20,   /* 1 octet: exit status */
  RY_SIGNALED = 21, /* 1 octet: killed by that signal */
  RY_FAILED = 22,   /* 1 octet of exit status as a shell gives it (126, 127), then text: not started */
  RY_PONG = 23,     /* text: what went wrong when the guest came up; nothing if nothing did */
  RY_FIRST_FROM_AGENT = RY_STDOUT,
  RY_LAST_FROM_AGENT = RY_PONG
};

struct ry_frame {
  unsigned type;
  unsigned length;        /* of the payload */
  const uint8_t* payload; /* in the buffer that was parsed */
};

static inline unsigned ry_get16(const uint8_t* p) { return p[0] | p[1] * 256u; }
static inline uint32_t ry_get32(const uint8_t* p) { return ry_get16(p) | ry_get16(p + 2) * UINT32_C(65536); }
static inline void ry_put16(uint8_t* p, unsigned v) {
  p[0] = v & 0xFF;
  p[1] = v >> 8 & 0xFF;
}
static inline void ry_put32(uint8_t* p, uint32_t v) {
  ry_put16(p, v & 0xFFFF);
  ry_put16(p + 2, v >> 16);
}

/* The header of a frame, RY_FRAME_HEADER octets at p; length <= RY_FRAME_PAYLOAD. */
static inline void ry_put_header(uint8_t* p, unsigned type, unsigned length) {
  p[0] = type & 0xFF;
  p[1] = 0;
  ry_put16(p + 2, length);
}

/* Reads the frame that begins at p, of which n octets are there. Returns its octets with the header; 0: not complete
 * yet; -1: this is no frame with a type of first..last. */
static inline int ry_parse_frame(const uint8_t* p, size_t n, unsigned first, unsigned last, struct ry_frame* frame) {
  if (n >= 1 && (p[0] < first || p[0] > last)) return -1;
  if (n >= 2 && p[1] != 0) return -1;
  if (n < RY_FRAME_HEADER) return 0;
  frame->type = p[0];
  frame->length = ry_get16(p + 2);
  frame->payload = p + RY_FRAME_HEADER;
  if (frame->length > RY_FRAME_PAYLOAD) return -1;
  if (n - RY_FRAME_HEADER < frame->length) return 0;
  return RY_FRAME_HEADER + (frame->length & 0x1FFF);
}

#endif
