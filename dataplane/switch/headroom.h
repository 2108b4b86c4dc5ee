// How much may still arrive after a switch has decided to pause a sender (IEEE 802.1Q annex N; the terms and what a
// model added to them are in the comments).
#pragma once

#include <cstdint>

#include "dataplane/base/framing.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard {

// The link of one ingress port, as far as headroom goes.
struct HeadroomTerms {
  BitRate rate{};
  Framing framing{};
  Duration propagation{};           // one way
  Duration peer_response{};         // from the last octet of the pause frame to no new frame started
  Duration rx_latency{};            // our MAC and pipeline, before a frame is charged
  std::uint32_t own_frame = 9238;   // longest frame that we may be sending when the pause frame becomes due, with FCS
  std::uint32_t peer_frame = 9238;  // longest frame of the class that the peer may just have started, with FCS
  std::uint32_t least_frame = 64;   // shortest frame of the class: what the rounding to cells costs most
  Duration retry{};                 // of a frame on the link (LLR): how much later the pause frame may come for it
};

// The headroom in octets of wire time: own frame in progress + PFC frame + cable there and back + peer's response +
// peer's frame in progress + our receive latency + one retry of our frame, the last two at link rate.
Bytes headroom_octets(const HeadroomTerms& terms) noexcept;

// The same as buffer cells of `cell` octets, for the worst mix of frame sizes between least_frame and peer_frame. This
// is what must be reserved: a frame of s octets takes ceil(s / cell) cells and s octets and those of its framing of
// wire time.
std::uint32_t headroom_cells(const HeadroomTerms& terms, Bytes cell) noexcept;

}  // namespace railyard
