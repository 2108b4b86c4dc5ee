// Ping: the answer to an ICMP echo request, RFC 792 and RFC 4443 §4.2.
#pragma once

#include <cstddef>
#include <span>

#include "dataplane/wire/parse.h"

namespace railyard::wire {

// Whether `frame`, which parse_frame() has accepted as `view`, is an echo request of either family to one host.
bool is_echo_request(std::span<const std::byte> frame, const FrameView& view) noexcept;

// Turns such a frame in place into the reply: MAC and IP addresses change places, the TTL is 64, the checksums follow.
// They follow by RFC 1624, so `frame` need hold the headers only, and a damaged request makes a reply that is seen to
// be.
void make_echo_reply(std::span<std::byte> frame, const FrameView& view) noexcept;

}  // namespace railyard::wire
