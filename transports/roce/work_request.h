// What is posted to a QP's send and receive queues, as verbs' ibv_send_wr and ibv_recv_wr.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "dataplane/base/assert.h"
#include "transports/base/memory_regions.h"
#include "transports/roce/ids.h"

namespace railyard::roce {

// A piece of local memory.
struct Sge {
  std::uint64_t address = 0;
  std::uint32_t octets = 0;
  std::uint32_t l_key = 0;

  bool operator==(const Sge&) const = default;
};

inline constexpr std::size_t kMostSges = 8;

// The pieces of a message in order.
class SgeList {
 public:
  constexpr SgeList() noexcept = default;
  constexpr SgeList(std::initializer_list<Sge> pieces) noexcept {
    for (const Sge& s : pieces) push(s);
  }
  constexpr void push(const Sge& piece) noexcept {
    RAILYARD_ASSERT(size_ < kMostSges, "a work request has at most kMostSges pieces");
    pieces_[size_++] = piece;
  }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr const Sge* begin() const noexcept { return pieces_.data(); }
  constexpr const Sge* end() const noexcept { return pieces_.data() + size_; }
  // Of all pieces.
  constexpr std::uint64_t octets() const noexcept {
    std::uint64_t sum = 0;
    for (const Sge& s : *this) sum += s.octets;
    return sum;
  }

 private:
  std::uint8_t size_ = 0;
  std::array<Sge, kMostSges> pieces_{};
};

enum class SendOpcode : std::uint8_t {
  kSend,
  kSendImm,
  kSendInv,  // and invalidate a key of the peer
  kWrite,
  kWriteImm,
  kRead,
  kCompareSwap,
  kFetchAdd,
  kBindWindow,      // to the piece of memory in `sges` (its l_key is the region's), with key `r_key`
  kInvalidateLocal  // the key `immediate` of this NIC
};

// Concerns this NIC alone: done in its turn, without a packet. RC and UC.
constexpr bool is_local(SendOpcode o) noexcept {
  return o == SendOpcode::kBindWindow || o == SendOpcode::kInvalidateLocal;
}

constexpr bool is_atomic(SendOpcode o) noexcept { return o == SendOpcode::kCompareSwap || o == SendOpcode::kFetchAdd; }
constexpr bool is_read_or_atomic(SendOpcode o) noexcept { return o == SendOpcode::kRead || is_atomic(o); }
// Takes a receive request of the peer.
constexpr bool takes_receive(SendOpcode o) noexcept {
  return o == SendOpcode::kSend || o == SendOpcode::kSendImm || o == SendOpcode::kSendInv || o == SendOpcode::kWriteImm;
}

struct SendWr {
  std::uint64_t wr_id = 0;
  SendOpcode opcode = SendOpcode::kSend;
  SgeList sges{};          // what is sent; of READs and atomics where the answer goes (an atomic's has 8 octets)
  bool signaled = true;    // wants a completion even when all is well
  bool solicited = false;  // SEND*, WRITE with immediate: the peer's completion is one that it waits for
  bool fence = false;      // not before all earlier READs and atomics are complete
  std::uint64_t remote_address = 0;  // WRITE*, READ, atomics
  std::uint32_t r_key = 0;
  std::uint32_t immediate = 0;  // *Imm: 32 opaque bits; SendInv: the peer's key
  std::uint64_t compare = 0;    // CmpSwap
  std::uint64_t swap_add = 0;   // CmpSwap: what to put there; FetchAdd: what to add
  AccessSet access{};           // BindWindow: remote ones
  bool zero_based = false;      // BindWindow: peers name the first octet 0
  bool own_window = false;      // BindWindow: for peers of this QP only (type 2)
  // UD only:
  AhId ah{};
  QpNumber remote_qp{};
  std::uint32_t remote_q_key = 0;  // with bit 31 set the QP's own is sent
};

struct RecvWr {
  std::uint64_t wr_id = 0;
  SgeList sges{};  // of a UD QP the first 40 octets are the GRH's
};

// Why something cannot be posted.
enum class PostError : std::uint8_t {
  kUnknownQp,
  kWrongState,  // of the QP
  kQueueFull,
  kNotSupported,    // the operation, by this type of QP
  kTooLong,         // over 2^31 octets; of UD over the port MTU; a READ of more PSNs than may be outstanding
  kWrongLength,     // an atomic's answer is 8 octets
  kNoReads,         // READs and atomics with max_rd_atomic 0
  kUnknownAddress,  // UD: no such address handle
  kHasSrq           // its receives come from a shared receive queue
};
std::string_view name(PostError error) noexcept;

}  // namespace railyard::roce
