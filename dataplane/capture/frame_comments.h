// What a capture says about a frame: its class, the depth of its queue, whether CE was set here, why it was dropped.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "dataplane/device/tap.h"
#include "dataplane/packet/packet.h"

namespace railyard {

class FrameComments {
 public:
  FrameComments(const TapNote& note, FrameKind kind);
  FrameComments(const FrameComments&) = delete;
  FrameComments& operator=(const FrameComments&) = delete;

  std::span<const std::string_view> texts() const noexcept { return std::span(views_).first(count_); }

 private:
  void add(std::string text);

  std::array<std::string, 3> texts_;
  std::array<std::string_view, 3> views_;
  std::size_t count_ = 0;
};

}  // namespace railyard
