// What the parts of a hop cost by themselves. The first is the yardstick: handing a pointer through a ring and changing
// two header fields, which is the least that any software switch does.
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include <benchmark/benchmark.h>

#include "dataplane/base/payload_pattern.h"
#include "dataplane/base/slot_queue.h"
#include "dataplane/base/spsc_ring.h"
#include "dataplane/capture/live_tap.h"
#include "dataplane/device/event_key.h"
#include "dataplane/switch/mmu.h"
#include "dataplane/wire/rewrite.h"

namespace railyard {
namespace {

void RingHopWithHeaderWork(benchmark::State& state) {
  constexpr std::size_t kPackets = 64;
  std::vector<std::array<std::byte, 128>> headers(kPackets);
  for (auto& h : headers) h[22] = std::byte{64};
  SpscRing<std::byte*> ring(256);
  std::size_t i = 0;
  for (auto _ : state) {
    ring.push(headers[i++ % kPackets].data());
    std::byte* const* first = ring.front();
    if (first == nullptr) continue;
    std::byte* h = *first;
    ring.pop();
    std::swap_ranges(h, h + 6, h + 6);
    wire::decrement_ttl_v4(h + 14);
    benchmark::DoNotOptimize(h);
  }
}
BENCHMARK(RingHopWithHeaderWork);

void AdmitAndRelease(benchmark::State& state) {
  BufferConfig buffer;
  Mmu mmu(buffer);
  Mmu::Group group = mmu.make_group({});
  Mmu::Queue queue = mmu.make_queue({});
  if (!mmu.commit()) state.SkipWithError("the default buffer does not fit itself");
  Mmu::Pfc pfc;
  for (auto _ : state) {
    benchmark::DoNotOptimize(mmu.admit(group, queue, 17, pfc));
    benchmark::DoNotOptimize(mmu.release(group, queue, 17));
  }
}
BENCHMARK(AdmitAndRelease);

void NextOf64Ports(benchmark::State& state) {
  SlotQueue slots(64, EventKey::kPortBits);
  std::uint64_t time = 1;
  for (std::uint64_t p = 0; p < 64; ++p) slots.set(p, (time++ << EventKey::kTimeShift) | p);
  for (auto _ : state) {
    const std::uint64_t key = slots.min();
    slots.pop();
    slots.set(EventKey::port(key), (time++ << EventKey::kTimeShift) | EventKey::port(key));
  }
}
BENCHMARK(NextOf64Ports);

void WritePayload4096(benchmark::State& state) {
  std::vector<std::byte> octets(4096);
  std::uint64_t offset = 0;
  for (auto _ : state) {
    fill_payload(1, offset += 4096, octets);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * 4096);
}
BENCHMARK(WritePayload4096);

void CheckPayload4096(benchmark::State& state) {
  std::vector<std::byte> octets(4096);
  fill_payload(1, 4096, octets);
  for (auto _ : state) benchmark::DoNotOptimize(payload_matches(1, 4096, octets));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * 4096);
}
BENCHMARK(CheckPayload4096);

// What a captured port costs the engine's thread a frame: its headers into a ring, and its payload if that is real.
void CaptureFrame4096(benchmark::State& state) {
  constexpr std::size_t kFrames = 2048;  // fit into the ring
  alignas(Packet) std::array<std::byte, sizeof(Packet) + 10 + 4096> memory{};
  Packet& packet = *new (memory.data()) Packet{};
  packet.header_at = sizeof(Packet) + 10;
  packet.header_octets = 54;
  packet.payload_octets = 4038;
  packet.kind = FrameKind::kIpv4;
  packet.flags = state.range(0) != 0 ? std::uint8_t{0} : std::uint8_t{Packet::kElided};
  LiveTap tap({});
  PcapngBlocks blocks;
  const auto interface = blocks.add_interface("leaf1:1", "", BitRate{100'000'000'000});
  std::size_t n = 0;
  for (auto _ : state) {
    tap.see(Instant{}, packet, {.priority = Priority{3}, .depth_octets = 4096});
    if (++n % kFrames != 0) continue;
    state.PauseTiming();
    while (tap.read(blocks, interface)) blocks.clear();
    state.ResumeTiming();
  }
  if (tap.lost() != 0) state.SkipWithError("the ring was full");
}
BENCHMARK(CaptureFrame4096)->ArgName("real")->Arg(0)->Arg(1);

}  // namespace
}  // namespace railyard

BENCHMARK_MAIN();
