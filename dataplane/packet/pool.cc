#include "dataplane/packet/pool.h"

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "dataplane/base/path_telemetry.h"

namespace railyard {
namespace {

// Headers, and behind them what in-band telemetry adds: a RoCEv2 packet with payload has up to 102 octets of headers.
// With DPDK's own it makes half a KiB.
constexpr std::uint32_t kElidedOctets = 246;
static_assert(kElidedOctets >= 192 && kElidedOctets >= 114 + PathTelemetry::kMostOctets);
constexpr std::uint32_t kElidedChunk = 3584;  // about a huge page
constexpr std::uint32_t kRealChunk = 256;
constexpr std::uint32_t kPortMbufs = 8191;  // a mempool is smallest at 2^n - 1
// Received packets are freed where they came from: with a cache the last ones freed, still in the processor's, are used
// next.
constexpr std::uint32_t kPortCache = 256;

void unmap(rte_mempool_memhdr* memory, void*) { munmap(memory->addr, memory->len); }

// Anonymous memory for all of a mempool's objects, from the beginning of a huge page on.
bool populate_anywhere(rte_mempool* pool) {
  constexpr std::size_t kHuge = std::size_t{2} << 20;
  std::size_t least = 0, align = 0;
  const ssize_t needed = rte_mempool_op_calc_mem_size_default(pool, pool->size, 0, &least, &align);
  if (needed <= 0) return false;
  const std::size_t octets = (static_cast<std::size_t>(needed) + kHuge - 1) / kHuge * kHuge;
  void* const all = mmap(nullptr, octets + kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return false;
  auto* const begin = static_cast<std::byte*>(all);
  const std::size_t before = (kHuge - reinterpret_cast<std::uintptr_t>(all) % kHuge) % kHuge;
  if (before != 0) munmap(begin, before);
  if (before != kHuge) munmap(begin + before + octets, kHuge - before);
  madvise(begin + before, octets, MADV_HUGEPAGE);
  const int n =
      rte_mempool_populate_iova(pool, reinterpret_cast<char*>(begin + before), RTE_BAD_IOVA, octets, unmap, nullptr);
  if (n < 0) munmap(begin + before, octets);
  return n == static_cast<int>(pool->size);
}

rte_mempool* make_pool_anywhere(const char* name, std::uint32_t n, std::uint16_t room) {
  rte_mempool* const pool =
      rte_mempool_create_empty(name, n, sizeof(rte_mbuf) + sizeof(Packet) + room, 0, sizeof(rte_pktmbuf_pool_private),
                               static_cast<int>(rte_socket_id()), 0);
  if (pool == nullptr) return nullptr;
  rte_pktmbuf_pool_private sizes{};
  sizes.mbuf_data_room_size = room;
  sizes.mbuf_priv_size = sizeof(Packet);
  rte_pktmbuf_pool_init(pool, &sizes);
  if (rte_mempool_set_ops_byname(pool, RTE_MBUF_DEFAULT_MEMPOOL_OPS, nullptr) != 0 || !populate_anywhere(pool)) {
    rte_mempool_free(pool);
    return nullptr;
  }
  rte_mempool_obj_iter(pool, rte_pktmbuf_init, nullptr);
  return pool;
}

// mempool names are global to the process.
rte_mempool* make_chunk(const char* kind, std::uint32_t n, std::uint32_t octets, std::uint32_t cache, bool anywhere) {
  static std::atomic<unsigned> serial{0};
  char name[RTE_MEMPOOL_NAMESIZE];
  std::snprintf(name, sizeof name, "ry_%s_%u", kind, serial.fetch_add(1));
  const std::uint32_t room = kHeaderAt - sizeof(Packet) + octets;
  if (anywhere) return make_pool_anywhere(name, n, static_cast<std::uint16_t>(room));
  // A single-producer, single-consumer mempool would do, but packets that leave through a DPDK port come back from
  // there.
  return rte_pktmbuf_pool_create(name, n, cache, sizeof(Packet), static_cast<std::uint16_t>(room),
                                 static_cast<int>(rte_socket_id()));
}

}  // namespace

rte_mbuf* mbuf_of(Packet* packet) noexcept {
  return reinterpret_cast<rte_mbuf*>(reinterpret_cast<std::byte*>(packet) - sizeof(rte_mbuf));
}

Packet* packet_of(rte_mbuf* mbuf) noexcept { return static_cast<Packet*>(rte_mbuf_to_priv(mbuf)); }

PacketPool::PacketPool(PacketPools& all, WorkerId owner, std::size_t workers, const PoolConfig& config)
    : all_(all),
      owner_(owner),
      elided_{.free = {},
              .chunks = {},
              .limit = config.elided_limit,
              .chunk = kElidedChunk,
              .octets = kElidedOctets,
              .flags = 0,
              .anywhere = config.anywhere},
      real_{.free = {},
            .chunks = {},
            .limit = config.real_limit,
            .chunk = kRealChunk,
            .octets = config.real_octets,
            .flags = Packet::kRealPool,
            .anywhere = config.anywhere} {
  for (std::size_t w = 0; w < workers; ++w) returned_.push_back(std::make_unique<SpscRing<Packet*>>());
}

PacketPool::~PacketPool() {
  for (Store* store : {&elided_, &real_})
    for (rte_mempool* chunk : store->chunks) rte_mempool_free(chunk);
  rte_mempool_free(for_ports_);
}

std::size_t PacketPool::in_use() const noexcept {
  std::size_t out = 0;
  for (const Store* store : {&elided_, &real_}) {
    std::size_t idle = store->free.size();
    for (const rte_mempool* chunk : store->chunks) idle += rte_mempool_avail_count(chunk);
    out += store->created - idle;
  }
  for (const auto& ring : returned_) out -= ring->size();
  if (for_ports_ != nullptr) out += rte_mempool_in_use_count(for_ports_);
  return out;
}

void PacketPool::bring_home() {
  for (auto& ring : returned_) {
    while (Packet* const* p = ring->front()) {
      ((*p)->has(Packet::kRealPool) ? real_ : elided_).free.push_back(*p);
      ring->pop();
    }
  }
}

// As many as there are of them, by taking them and giving them back.
std::size_t PacketPool::peek_slowly(Store& store, std::span<Packet*> out) {
  std::size_t n = 0;
  for (; n < out.size(); ++n) {
    out[n] = allocate(store);
    if (out[n] == nullptr) break;
  }
  for (std::size_t i = n; i > 0; --i) release(out[i - 1]);
  return n;
}

bool PacketPool::refill(Store& store) {
  bring_home();
  if (!store.free.empty()) return true;
  const auto adopt = [&](rte_mempool* chunk) {
    void* objects[64];
    while (const unsigned n = std::min<unsigned>(rte_mempool_avail_count(chunk), std::size(objects))) {
      if (rte_mempool_get_bulk(chunk, objects, n) != 0) break;
      for (unsigned i = 0; i < n; ++i) {
        Packet* p = packet_of(static_cast<rte_mbuf*>(objects[i]));
        p->home = owner_;
        p->flags = store.flags;
        store.free.push_back(p);
      }
    }
  };
  // Packets that left through DPDK ports were freed into their chunk.
  for (rte_mempool* chunk : store.chunks) adopt(chunk);
  if (!store.free.empty()) return true;

  const std::uint32_t n = std::min(store.chunk, store.limit - store.created);
  rte_mempool* chunk =
      n == 0 ? nullptr : make_chunk(&store == &real_ ? "real" : "elided", n, store.octets, 0, store.anywhere);
  if (chunk == nullptr) {
    exhausted_ = true;
    return false;
  }
  store.chunks.push_back(chunk);
  store.created += n;
  store.free.reserve(store.created);
  adopt(chunk);
  return true;
}

void PacketPool::release_elsewhere(Packet* packet) {
  if (packet->has(Packet::kFromPort))
    rte_pktmbuf_free(mbuf_of(packet));
  else
    all_[packet->home].returned_[owner_.index()]->push(packet);
}

rte_mempool* PacketPool::mempool_for_ports() {
  if (for_ports_ == nullptr) for_ports_ = make_chunk("port", kPortMbufs, real_.octets, kPortCache, false);
  return for_ports_;
}

PacketPools::PacketPools(std::size_t workers, const PoolConfig& config) {
  for (std::size_t w = 0; w < workers; ++w)
    pools_.push_back(
        std::make_unique<PacketPool>(*this, WorkerId{static_cast<std::uint8_t>(w)}, workers, config));
}

bool PacketPools::exhausted() const noexcept {
  return std::any_of(pools_.begin(), pools_.end(), [](const auto& p) { return p->exhausted(); });
}

std::size_t PacketPools::in_use() const noexcept {
  std::size_t out = 0;
  for (const auto& p : pools_) out += p->in_use();
  return out;
}

}  // namespace railyard
