#include "dataplane/capture/capture_tap.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string_view>

#include "dataplane/packet/assemble.h"

namespace railyard {
namespace {

PcapngWriter open_or_throw(const std::filesystem::path& file) {
  auto writer = PcapngWriter::open(file);
  if (!writer) throw std::runtime_error(writer.error());
  return std::move(*writer);
}

}  // namespace

CaptureTap::CaptureTap(const std::filesystem::path& file, const std::string& port, const std::string& description,
                       BitRate rate, CaptureDirection direction)
    : writer_(open_or_throw(file)),
      interface_(writer_.add_interface(port, description, rate)),
      direction_(direction) {}

void CaptureTap::see(Instant at, const Packet& packet, const TapNote& note) {
  // A drop without an egress queue is one of the receiving side.
  const bool in = note.event == TapNote::Event::kReceived ||
                  (note.event == TapNote::Event::kDropped && note.depth_octets < 0);
  if (direction_ == (in ? CaptureDirection::kOut : CaptureDirection::kIn)) return;
  std::array<std::string, 3> texts;
  std::size_t n = 0;
  if (packet.kind != FrameKind::kMacControl) {
    texts[n++] = note.depth_octets >= 0 ? fmt::format("class {}, queue {} octets", note.priority.value, note.depth_octets)
                                        : fmt::format("class {}", note.priority.value);
  }
  if (note.marked_here) texts[n++] = "CE set here";
  if (note.event == TapNote::Event::kDropped) texts[n++] = fmt::format("dropped: {}", name(note.reason));
  std::array<std::string_view, 3> comments;
  for (std::size_t i = 0; i < n; ++i) comments[i] = texts[i];

  assemble(packet, octets_);
  const std::span<const std::byte> piece(octets_);
  writer_.write(interface_, at, in ? PcapngWriter::Direction::kInbound : PcapngWriter::Direction::kOutbound, {&piece, 1},
                static_cast<std::uint32_t>(octets_.size()), std::span(comments).first(n));
  ++frames_;
}

void CaptureTap::close() {
  if (auto ok = writer_.close(); !ok) throw std::runtime_error(ok.error());
}

}  // namespace railyard
