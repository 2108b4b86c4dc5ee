// Any octets as a frame for, or from, processes that share a NIC over Ultra Ethernet: it goes to one of those that are
// there or to nobody, and only its own numbers does a process send.
//
// Input: frames, each an octet, two octets of length, and the frame. The octet: bit 0 only its first half is there (the
// rest is a promise), bit 1 a process leaves before.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "dataplane/packet/packet.h"
#include "dataplane/port/uet_processes.h"
#include "dataplane/wire/parse.h"
#include "tests/fuzz/expect.h"

using namespace railyard;

namespace {

constexpr std::array<std::uint8_t, 3> kBlocks = {0, 1, UetNumbers::kProcesses - 1};
constexpr std::uint32_t kJob = 7;

// Nobody looks into a process here.
std::array<std::uint64_t, kBlocks.size()> processes;
ApplicationProcess& process(std::size_t i) { return *reinterpret_cast<ApplicationProcess*>(&processes[i]); }

// A packet in memory of exactly its size, so that the sanitizer sees each octet beyond.
class Made {
 public:
  Made(std::span<const std::byte> frame, std::size_t real, const wire::FrameView& view)
      : memory_(static_cast<std::byte*>(::operator new (sizeof(Packet) + real, std::align_val_t{64}))),
        packet_(new (memory_) Packet{}) {
    std::copy_n(frame.begin(), real, memory_ + sizeof(Packet));
    packet_->header_at = sizeof(Packet);
    packet_->header_octets = static_cast<std::uint16_t>(real);
    packet_->payload_octets = static_cast<std::uint32_t>(frame.size() - real);
    packet_->flags = real < frame.size() ? Packet::kElided : 0;
    packet_->l3_offset = static_cast<std::uint8_t>(view.l3_offset);
  }
  ~Made() { ::operator delete (memory_, std::align_val_t{64}); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  const Packet& packet() const { return *packet_; }

 private:
  std::byte* memory_;
  Packet* packet_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto all = std::make_unique<UetProcesses>();
  std::array<bool, kBlocks.size()> there{};
  for (std::size_t i = 0; i < kBlocks.size(); ++i) {
    all->add({.block = kBlocks[i], .job_id = kJob}, process(i));
    there[i] = true;
  }
  auto left = std::as_bytes(std::span(data, size));
  for (std::size_t n = 0; left.size() >= 3; ++n) {
    const auto how = std::to_integer<unsigned>(left[0]);
    const std::size_t octets = std::to_integer<std::size_t>(left[1]) << 8 | std::to_integer<std::size_t>(left[2]);
    const auto frame = left.subspan(3, std::min({octets, left.size() - 3, std::size_t{2048}}));
    left = left.subspan(3 + frame.size());
    if ((how & 2) != 0) {
      const std::size_t i = n % kBlocks.size();
      all->remove({.block = kBlocks[i]});
      there[i] = false;
    }
    // A block of its own, too.
    const std::vector<std::byte> own(frame.begin(), frame.end());
    const auto view = wire::parse_frame(own, own.size());
    if (!view) continue;
    const std::size_t real = (how & 1) != 0 ? std::max(own.size() / 2, std::size_t{view->l3_offset}) : own.size();
    const Made made(own, std::min(real, own.size()), *view);
    const ApplicationProcess* const found = all->find(made.packet());
    bool is_one = found == nullptr;
    for (std::size_t i = 0; i < kBlocks.size(); ++i) is_one |= there[i] && found == &process(i);
    FUZZ_EXPECT(is_one);
    unsigned may = 0;
    for (const std::uint8_t block : kBlocks) may += railyard::may_send_uet({.block = block, .job_id = kJob}, *view, own) == true;
    // A request of one that sets up a PDC names its own; what has no number of a process (a NACK of no PDC) all may send.
    FUZZ_EXPECT(may <= 1 || may == kBlocks.size());
    FUZZ_EXPECT(view->uet_entropy || may == 0);
  }
  return 0;
}
