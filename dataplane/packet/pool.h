// Where packets come from: one pool per worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/spsc_ring.h"
#include "dataplane/packet/mapped_packets.h"
#include "dataplane/packet/packet.h"

struct rte_mempool;

namespace railyard {

// Sizes for one worker's pool. Memory is taken in chunks as it is needed, up to the limits.
struct PoolConfig {
  std::uint32_t elided_limit = 1u << 21;  // packets with synthetic payload, 0.5 KiB each
  std::uint32_t real_limit = 1u << 17;    // packets with room for payload
  std::uint32_t real_octets = 9728;       // room for headers and payload in one of those
  // No device reads or writes packets itself: they are in plain memory of the process, and the EAL need not run. DPDK's
  // own memory without huge pages is shared, which most machines do not make huge.
  bool anywhere = false;
};

class PacketPools;

// The packets of one worker, reused last in, first out. Only the owner allocates. A worker releases what it holds to its own
// pool. Another's packet stays there, where the next allocation finds it in the processor's cache, as long as the pool has
// few; otherwise, and if it is in DPDK's memory, it goes home over a ring.
class PacketPool {
 public:
  PacketPool(PacketPools& all, WorkerId owner, std::size_t workers, const PoolConfig& config);
  ~PacketPool();
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  // A packet without contents: only header_at, flags and home are set. nullptr when the limit is reached or memory is
  // short; exhausted() is then true for the rest of the run.
  Packet* allocate_elided() { return allocate(elided_); }
  // The same with room for PoolConfig::real_octets.
  Packet* allocate_real() { return allocate(real_); }
  // The packets that the next allocations will give, in their order, as far as there are any; nothing is written to them.
  // For who does not know how many it will need: their headers may be written at fresh_header() before.
  std::size_t peek_elided(std::span<Packet*> out) { return peek(elided_, out); }
  std::size_t peek_real(std::span<Packet*> out) { return peek(real_, out); }

  // Gives back a packet that this pool's worker holds.
  void release(Packet* packet) {
    if (packet->home == owner_ && !packet->has(Packet::kFromPort)) [[likely]]
      (packet->has(Packet::kRealPool) ? real_ : elided_).free.push_back(packet);  // never grows: reserved at creation
    else
      release_elsewhere(packet);
  }

  // For receive queues of DPDK ports: mbufs with room for real payload and a Packet in front. Created on first use. The
  // EAL runs.
  rte_mempool* mempool_for_ports();

  WorkerId owner() const noexcept { return owner_; }
  bool exhausted() const noexcept { return exhausted_; }
  // Packets handed out and not yet back; those on their way home are back.
  std::size_t in_use() const noexcept;
  std::size_t real_octets() const noexcept { return real_.octets; }
  std::size_t elided_octets() const noexcept { return elided_.octets; }

 private:
  struct Store {
    std::vector<Packet*> free;
    std::vector<rte_mempool*> chunks;   // where a DPDK port may free a packet; none if `anywhere`
    std::vector<MappedPackets> mapped;  // all if `anywhere`
    std::uint32_t limit;
    std::uint32_t few;     // with fewer than these free ones the pool keeps packets of others
    std::uint32_t chunk;   // packets made at once
    std::uint32_t octets;  // room for headers and payload
    std::uint8_t flags;    // of a fresh packet
    bool anywhere;
    std::uint32_t created = 0;
  };

  Packet* allocate(Store& store) {
    if (store.free.empty()) [[unlikely]] {
      if (!refill(store)) return nullptr;
    }
    Packet* p = store.free.back();
    store.free.pop_back();
    p->header_at = kHeaderAt;
    p->flags = store.flags;
    return p;
  }
  std::size_t peek(Store& store, std::span<Packet*> out) {
    const std::size_t idle = store.free.size();
    if (idle < out.size()) [[unlikely]]
      return peek_slowly(store, out);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = store.free[idle - 1 - i];
    return out.size();
  }
  std::size_t peek_slowly(Store& store, std::span<Packet*> out);
  bool refill(Store& store);
  // Makes `n` more, n > 0; false if memory is short.
  static bool map(Store& store, std::uint32_t n);
  static bool add_mempool(Store& store, std::uint32_t n);
  void keep(Store& store, Packet* fresh);
  void adopt(Store& store, rte_mempool* chunk);
  void bring_home();
  void release_elsewhere(Packet* packet);

  PacketPools& all_;
  WorkerId owner_;
  Store elided_;
  Store real_;
  std::vector<std::unique_ptr<SpscRing<Packet*>>> returned_;  // by the worker that released
  rte_mempool* for_ports_ = nullptr;
  bool exhausted_ = false;
};

// One pool per worker.
class PacketPools {
 public:
  PacketPools(std::size_t workers, const PoolConfig& config);

  std::size_t size() const noexcept { return pools_.size(); }
  PacketPool& operator[](WorkerId worker) noexcept { return *pools_[worker.index()]; }
  bool exhausted() const noexcept;
  // Packets handed out by any pool and not yet back, when no worker runs.
  std::size_t in_use() const noexcept;

 private:
  std::vector<std::unique_ptr<PacketPool>> pools_;
};

}  // namespace railyard
