// The semantic sublayer of a target: what requests do here, and what is answered (uet §6). Packets come in any order,
// each one once; what a message is matched with, its first packet to come decides.
//
// DEVIATION: with RUD a packet with som = 0 that comes first is matched, too, and not held or NACKed until the first
// one comes: it says all that matching needs, and RUD promises no order of messages.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "dataplane/base/payload_ref.h"
#include "transports/uet/fep_state.h"
#include "transports/uet/pds/pdc.h"
#include "transports/uet/ses/context.h"
#include "transports/uet/ses/response.h"

namespace railyard::uet {

// A READ request whose data goes back in a packet of the reverse direction.
struct ReadJob {
  std::uint32_t job_id = 0;
  std::uint16_t message_id = 0;
  ProtectionDomain domain{};
  MemoryRegions::Key key = 0;
  std::uint64_t address = 0;
  std::uint32_t octets = 0;
  std::uint32_t message_offset = 0;
  std::uint32_t total = 0;
};

// A response that was not ready when its packet came, and now is.
struct LateResponse {
  std::uint16_t pdc = 0;  // PDCID
  Psn psn{};
  Response response{};
};

// A message that came before its buffer, or of which a part has.
struct EarlyMessage {
  std::uint32_t number = 0;
  PeerId peer{};
  std::uint32_t octets = 0;
  std::uint32_t initiator = 0;
  std::uint64_t match_bits = 0;
  bool has_header_data = false;
  std::uint64_t header_data = 0;
};

class Target {
 public:
  explicit Target(FepState& fep) : fep_(fep) {}

  ContextId create_context(const ContextInit& init);
  const Context* context(ContextId id) const noexcept {
    return id.index() < contexts_.size() ? &contexts_[id.index()] : nullptr;
  }
  std::expected<void, PostError> post_receive(ContextId id, const RecvWr& wr);
  std::optional<RecvWr> cancel_receive(ContextId id, std::uint64_t wr_id);
  std::optional<EarlyMessage> find_early(ContextId id, const RecvWr& wr) const;
  void claim(std::uint32_t number);
  void receive_claimed(std::uint32_t number, const RecvWr& wr);
  void close_context(ContextId id);

  // A packet of a PDC, the first time that it comes. On Verdict::refused nothing has happened.
  Verdict on_request(Instant now, Pdc& pdc, Psn psn, const SesRequestValues& request, const PayloadRef& payload);
  // Of RUDI: WRITE and READ of memory that is marked for it. `data` is what a READ returns.
  Response on_idempotent(const SesRequestValues& request, const PayloadRef& payload, PayloadRef& data);
  // UUD: whether somebody waits for it; and one that somebody waits for.
  bool waits_for_datagram(const SesRequestValues& request, const PayloadRef& payload) const noexcept;
  void on_datagram(PeerId peer, const SesRequestValues& request, const PayloadRef& payload);

  // The PDC is gone: messages of which something is missing never complete.
  void forget(Pdc& pdc);
  // Those of a PDC of which nothing has come for EngineConfig::half_message_keeps() never do either. Returns when the
  // next one may have been idle for so long; never(): there is none.
  Instant give_up_halves(Instant now, Pdc& pdc);

  // Takes the responses that have become ready.
  std::vector<LateResponse>& late() noexcept { return late_; }

  const ReadJob& read_job(std::uint32_t i) const noexcept { return jobs_[i]; }
  void release_read_job(std::uint32_t i) { free_jobs_.push_back(i); }

  std::size_t open_messages() const noexcept { return inbound_.size() - free_inbound_.size(); }
  // Octets of memory for what comes before it is matched: of messages that are open, and kept for others.
  std::size_t early_octets() const noexcept;

 private:
  // A message that comes, in parts.
  struct Inbound {
    ContextId context{};
    PeerId peer{};
    std::uint16_t pdc = 0;  // 0: it is complete, or its PDC gone
    std::uint16_t message_id = 0;
    SesOpcode opcode = SesOpcode::kNoOp;
    bool write = false;
    bool tagged = false;
    bool matched = false;  // `receive` is its
    bool refused = false;  // only counted
    bool given_up = false;  // by its initiator: `total` is what was sent of it
    bool waits = false;    // complete, but not matched
    bool claimed = false;  // kept for receive_claimed()
    bool lost = false;     // claimed, and the rest of it never comes
    bool last_of_buffer = false;
    bool has_header_data = false;
    bool delivery_complete = false;
    bool intact = true;
    bool early_real = false;
    ReturnCode code = ReturnCode::kOk;  // refused
    std::uint32_t total = 0;
    std::uint32_t got = 0;
    std::uint32_t initiator = 0;
    std::uint32_t job_id = 0;
    std::uint64_t match_bits = 0;
    std::uint64_t header_data = 0;
    Instant heard{};            // when something of it came last
    std::optional<Psn> held{};  // its response waits
    PayloadRef first{};         // of a promise: octet 0 of the message
    bool named = false;         // `first` is set
    RecvWr receive{};
    std::vector<std::byte> early{};  // what has come before it was matched
  };
  using Place = std::expected<MemoryRegions::Place, ReturnCode>;

  std::expected<ContextId, ReturnCode> find(const SesRequestValues& r) const noexcept;
  std::expected<ContextId, ReturnCode> find_relative(const SesRequestValues& r) const noexcept;
  std::expected<ContextId, ReturnCode> find_absolute(const SesRequestValues& r) const noexcept;
  struct NamedMemory {
    MemoryRegions::Key key = 0;
    std::uint64_t address = 0;  // that the request names
    std::uint64_t left = 0;     // octets of the region from there on
  };
  std::expected<NamedMemory, ReturnCode> named_memory(const SesRequestValues& r) const noexcept;
  Place region_place(const Context& c, const SesRequestValues& r, std::uint64_t offset, std::uint64_t octets,
                     AccessSet access) const noexcept;
  std::uint32_t slice(const SesRequestValues& r) const noexcept;
  Verdict write(Instant now, Pdc& pdc, ContextId id, const SesRequestValues& r, const PayloadRef& payload);
  Verdict read(Pdc& pdc, ContextId id, const SesRequestValues& r);
  Verdict atomic(ContextId id, const SesRequestValues& r, const PayloadRef& payload);
  Verdict send(Instant now, Pdc& pdc, Psn psn, ContextId id, const SesRequestValues& r, const PayloadRef& payload);
  Verdict message_error(Pdc& pdc, const SesRequestValues& r);
  // Nobody waits for it to be matched any more.
  void forget_unexpected(std::uint32_t index);

  std::uint32_t open(ContextId id, PeerId peer, const SesRequestValues& r);
  Inbound* find_open(Pdc& pdc, std::uint16_t message_id, std::uint32_t& index) noexcept;
  // For another message that comes in parts.
  bool has_room(const Pdc& pdc) const noexcept;
  static bool continues(const Inbound& m, ContextId id, const SesRequestValues& r) noexcept;
  void match(Inbound& m);
  void take(Inbound& m, std::uint32_t offset, const PayloadRef& payload);
  void name(Inbound& m, std::uint32_t offset, const PayloadRef& payload) noexcept;
  void put(const Inbound& m, std::uint32_t offset, const PayloadRef& payload) noexcept;
  void complete(Inbound& m, Status status);
  void close(std::uint32_t index, Pdc* pdc);
  // Whether nothing of the buffer is left.
  bool adopt(std::uint32_t index, RecvWr& wr);
  static bool give_buffer(Inbound& m, RecvWr& wr) noexcept;

  FepState& fep_;
  StableVector<Context> contexts_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_name_;  // of contexts: JobID, PIDonFEP, resource index
  // The same without JobID, for absolute addresses: in the order of creation.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> by_absolute_name_;
  // Those that were asked for last, by their resource index; forgotten when there is one more context.
  struct Found {
    std::uint64_t name = ~std::uint64_t{0};  // nobody's
    ContextId context{};
  };
  static constexpr std::size_t kFound = 16;
  mutable std::array<Found, kFound> found_{};
  StableVector<Inbound> inbound_;
  std::vector<std::uint32_t> free_inbound_;
  StableVector<ReadJob> jobs_;
  std::vector<std::uint32_t> free_jobs_;
  std::vector<LateResponse> late_;
};

}  // namespace railyard::uet
