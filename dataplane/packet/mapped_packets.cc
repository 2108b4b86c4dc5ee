#include "dataplane/packet/mapped_packets.h"

#include <new>

#include <rte_mbuf.h>
#include <sys/mman.h>

namespace railyard {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kCacheLine = 64;

// From the beginning of a huge page on; `octets` is a multiple of one. nullptr if there is no memory.
std::byte* map_huge(std::size_t octets) {
  void* const all = mmap(nullptr, octets + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(all);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(all) % kHugePage) % kHugePage;
  if (before != 0) munmap(begin, before);
  if (before != kHugePage) munmap(begin + before + octets, kHugePage - before);
  madvise(begin + before, octets, MADV_HUGEPAGE);
  return begin + before;
}

// An odd number of cache lines, so that the same line of each packet is in another set of the processor's cache.
std::size_t stride_for(std::uint32_t room) {
  const std::size_t lines = (sizeof(rte_mbuf) + sizeof(Packet) + room + kCacheLine - 1) / kCacheLine;
  return (lines | 1) * kCacheLine;
}

}  // namespace

void MappedPackets::Unmap::operator()(std::byte* begin) const noexcept { munmap(begin, octets); }

MappedPackets::MappedPackets(std::uint32_t count, std::uint32_t room)
    : count_(count), stride_(stride_for(room)), memory_(nullptr, Unmap{0}) {
  const std::size_t octets = (count * stride_ + kHugePage - 1) / kHugePage * kHugePage;
  memory_ = {map_huge(octets), Unmap{octets}};
  if (memory_ == nullptr) throw std::bad_alloc();
}

Packet* MappedPackets::operator[](std::uint32_t i) const noexcept {
  return reinterpret_cast<Packet*>(memory_.get() + i * stride_ + sizeof(rte_mbuf));
}

}  // namespace railyard
