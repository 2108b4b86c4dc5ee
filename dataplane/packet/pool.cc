#include "dataplane/packet/pool.h"

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <new>

#include "dataplane/base/path_telemetry.h"

namespace railyard {
namespace {

// Headers, and behind them what in-band telemetry adds: a RoCEv2 packet with payload has up to 102 octets of headers.
// With DPDK's own it makes half a KiB.
constexpr std::uint32_t kElidedOctets = 246;
static_assert(kElidedOctets >= 192 && kElidedOctets >= 114 + PathTelemetry::kMostOctets);
// Made at once: about a huge page of each kind of memory.
constexpr std::uint32_t kElidedChunk = 3584;
constexpr std::uint32_t kMappedElidedChunk = 4680;
constexpr std::uint32_t kRealChunk = 256;
// Packets of others that a pool may keep, and one part of its limit for the same.
constexpr std::uint32_t kMostKept = 4096;
constexpr std::uint32_t kKeptPart = 16;
constexpr std::uint32_t kPortMbufs = 8191;  // a mempool is smallest at 2^n - 1
// Received packets are freed where they came from: with a cache the last ones freed, still in the processor's, are used
// next.
constexpr std::uint32_t kPortCache = 256;

// Behind a Packet, for `octets` of headers and payload.
std::uint32_t room_for(std::uint32_t octets) { return kHeaderAt - std::uint32_t{sizeof(Packet)} + octets; }

// mempool names are global to the process.
rte_mempool* make_mempool(const char* kind, std::uint32_t n, std::uint32_t octets, std::uint32_t cache) {
  static std::atomic<unsigned> serial{0};
  char name[RTE_MEMPOOL_NAMESIZE];
  std::snprintf(name, sizeof name, "ry_%s_%u", kind, serial.fetch_add(1));
  // A single-producer, single-consumer mempool would do, but packets that leave through a DPDK port come back from
  // there.
  return rte_pktmbuf_pool_create(name, n, cache, sizeof(Packet), static_cast<std::uint16_t>(room_for(octets)),
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
              .mapped = {},
              .limit = config.elided_limit,
              .few = config.anywhere ? std::min(kMostKept, config.elided_limit / kKeptPart) : 0,
              .chunk = config.anywhere ? kMappedElidedChunk : kElidedChunk,
              .octets = kElidedOctets,
              .flags = 0,
              .anywhere = config.anywhere},
      real_{.free = {},
            .chunks = {},
            .mapped = {},
            .limit = config.real_limit,
            .few = config.anywhere ? std::min(kMostKept, config.real_limit / kKeptPart) : 0,
            .chunk = kRealChunk,
            .octets = config.real_octets,
            .flags = Packet::kRealPool,
            .anywhere = config.anywhere} {
  if (workers > 1)
    for (Store* store : {&elided_, &real_}) store->free.reserve(store->few);
  for (std::size_t w = 0; w < workers; ++w) returned_.push_back(std::make_unique<SpscRing<Packet*>>());
}

PacketPool::~PacketPool() {
  for (Store* store : {&elided_, &real_})
    for (rte_mempool* chunk : store->chunks) rte_mempool_free(chunk);
  rte_mempool_free(for_ports_);
}

// Of a pool that keeps packets of others it may be below 0; the sum over all pools is right.
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

void PacketPool::keep(Store& store, Packet* fresh) {
  fresh->home = owner_;
  fresh->flags = store.flags;
  store.free.push_back(fresh);
}

void PacketPool::adopt(Store& store, rte_mempool* chunk) {
  void* objects[64];
  while (const unsigned n = std::min<unsigned>(rte_mempool_avail_count(chunk), std::size(objects))) {
    if (rte_mempool_get_bulk(chunk, objects, n) != 0) break;
    for (unsigned i = 0; i < n; ++i) keep(store, packet_of(static_cast<rte_mbuf*>(objects[i])));
  }
}

bool PacketPool::map(Store& store, std::uint32_t n) {
  try {
    store.mapped.emplace_back(n, room_for(store.octets));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool PacketPool::add_mempool(Store& store, std::uint32_t n) {
  rte_mempool* const chunk =
      make_mempool((store.flags & Packet::kRealPool) != 0 ? "real" : "elided", n, store.octets, 0);
  if (chunk == nullptr) return false;
  store.chunks.push_back(chunk);
  return true;
}

bool PacketPool::refill(Store& store) {
  bring_home();
  if (!store.free.empty()) return true;
  // Packets that left through DPDK ports were freed into their chunk.
  for (rte_mempool* chunk : store.chunks) adopt(store, chunk);
  if (!store.free.empty()) return true;

  const std::uint32_t n = std::min(store.chunk, store.limit - store.created);
  if (n == 0 || !(store.anywhere ? map(store, n) : add_mempool(store, n))) {
    exhausted_ = true;
    return false;
  }
  store.created += n;
  store.free.reserve(store.created + store.few);
  if (store.anywhere) {
    const MappedPackets& fresh = store.mapped.back();
    for (std::uint32_t i = 0; i < n; ++i) keep(store, fresh[i]);
  } else {
    adopt(store, store.chunks.back());
  }
  return true;
}

void PacketPool::release_elsewhere(Packet* packet) {
  if (packet->has(Packet::kFromPort)) {
    rte_pktmbuf_free(mbuf_of(packet));
    return;
  }
  if (Store& store = packet->has(Packet::kRealPool) ? real_ : elided_; store.free.size() < store.few) {
    packet->home = owner_;
    store.free.push_back(packet);
  } else {
    all_[packet->home].returned_[owner_.index()]->push(packet);
  }
}

rte_mempool* PacketPool::mempool_for_ports() {
  if (for_ports_ == nullptr) for_ports_ = make_mempool("port", kPortMbufs, real_.octets, kPortCache);
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
