// What a capture says about a frame: its class, the depth of its queue, whether CE was set here, why it was dropped;
// and of one that in-band telemetry follows what each switch on its way so far has noted.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "dataplane/device/tap.h"
#include "dataplane/packet/int_stack.h"
#include "dataplane/packet/packet.h"

namespace railyard {

class FrameComments {
 public:
  // `hops`: of a sampled packet, oldest first; those that it has not left yet are left out.
  FrameComments(const TapNote& note, FrameKind kind, std::span<const IntHop> hops = {});
  FrameComments(const FrameComments&) = delete;
  FrameComments& operator=(const FrameComments&) = delete;

  std::span<const std::string_view> texts() const noexcept { return std::span(views_).first(count_); }

 private:
  void add(std::string text);

  static constexpr std::size_t kMost = 3 + IntStack::kMostHops;

  std::array<std::string, kMost> texts_;
  std::array<std::string_view, kMost> views_;
  std::size_t count_ = 0;
};

}  // namespace railyard
