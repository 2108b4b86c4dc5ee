// UET endpoints and a wire between them, under virtual time.
//
//   end 0 (10.0.0.1) ---- 1 us, 100 Gb/s ---- end 1 (10.0.0.2), 2, ...
//
// Whole frames cross it, CRC included; `fate` decides what becomes of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "transports/uet/uet_endpoint.h"

namespace railyard::uet {

// A packet on the wire.
struct Seen {
  std::size_t from = 0;   // the end that sent it
  std::size_t index = 0;  // of its packets
  Instant at{};
  std::uint16_t entropy = 0;
  Packet packet{};

  const PdsRequestValues* request() const { return std::get_if<PdsRequestValues>(&packet.pds); }
  const PdsAckValues* ack() const { return std::get_if<PdsAckValues>(&packet.pds); }
  const PdsNackValues* nack() const { return std::get_if<PdsNackValues>(&packet.pds); }
  const PdsCpValues* cp() const { return std::get_if<PdsCpValues>(&packet.pds); }
  bool is_nack(NackCode code) const { return nack() != nullptr && nack()->code == code; }
  bool is_cp(CtlType type) const { return cp() != nullptr && cp()->ctl_type == type; }
  bool retx() const { return request() != nullptr && request()->retx; }
  // "RUD_REQ", "ACK_CC", "NACK TRIMMED", "CP CLOSE_CMD"
  std::string name() const;
};

// What becomes of it.
struct Fate {
  bool lost = false;
  unsigned copies = 1;
  Duration late{};       // besides the wire's delay: others overtake it
  Duration copy_late{};  // of the second copy, besides
  bool corrupted = false;
  bool marked = false;   // CE
  bool trimmed = false;  // requests, and data of READs
};

// Short times, small packets.
EngineConfig test_config();

// Where in the memory of an end things go that come from others, and where its counters are.
inline constexpr std::size_t kTo = 200'000;
inline constexpr std::size_t kCounter = 64;

class Pair {
 public:
  static constexpr std::size_t kMemory = 1 << 20;
  static constexpr Duration kDelay{1'000'000};

  explicit Pair(const EngineConfig& config = test_config(), std::size_t ends = 2, const ContextInit& context = {})
      : Pair(std::vector<EngineConfig>(ends, config), context) {}
  // As many ends as there are settings.
  explicit Pair(const std::vector<EngineConfig>& configs, const ContextInit& context = {});

  struct End {
    std::unique_ptr<UetEndpoint> endpoint;
    std::vector<std::byte> memory = std::vector<std::byte>(kMemory);
    MemoryRegions::Key key = 0;
    CqId cq{};
    ContextId context{};
    std::vector<PeerId> peers{};  // by end
    Engine& engine() { return endpoint->engine(); }
  };

  End& end(std::size_t i) { return ends_[i]; }
  Engine& engine(std::size_t i) { return ends_[i].engine(); }
  const Counters& counters(std::size_t i) { return ends_[i].engine().counters(); }
  Instant now() const { return now_; }

  static std::uint64_t address(std::size_t end) { return 0x7F0000000000 + (std::uint64_t{end} << 32); }
  LocalBuffer local(std::size_t end, std::size_t offset, std::size_t octets) const;
  std::span<std::byte> memory(std::size_t end, std::size_t offset, std::size_t octets);
  // Fills memory of an end with octets that only this place and seed have.
  void fill(std::size_t end, std::size_t offset, std::size_t octets, std::uint64_t seed = 1);
  bool same(std::size_t end_a, std::size_t offset_a, std::size_t end_b, std::size_t offset_b, std::size_t octets);

  // Work of end `from` for the other one (end 1, of end 1: end 0).
  SendWr send(std::size_t from, std::uint64_t wr_id, std::size_t offset, std::size_t octets) const;
  SendWr tagged(std::size_t from, std::uint64_t wr_id, std::size_t offset, std::size_t octets, std::uint64_t tag) const;
  SendWr write(std::size_t from, std::uint64_t wr_id, std::size_t offset, std::size_t to, std::size_t octets) const;
  SendWr read(std::size_t from, std::uint64_t wr_id, std::size_t to, std::size_t offset, std::size_t octets) const;
  SendWr fetch_add(std::size_t from, std::uint64_t wr_id, std::size_t to, std::size_t offset, std::uint64_t add) const;

  // Post; fails the test if refused.
  void post(std::size_t end, const SendWr& wr);
  void receive(std::size_t end, const RecvWr& wr);
  void receive(std::size_t end, std::uint64_t wr_id, std::size_t offset, std::size_t octets) {
    receive(end, {.wr_id = wr_id, .local = local(end, offset, octets)});
  }

  // Modelled time goes on until nothing happens any more, at most for `limit`.
  void run(Duration limit = Duration{600'000'000'000'000});
  void run_until(Instant until);
  void run_for(Duration d) { run_until(now_ + d); }

  std::vector<Completion> completions(std::size_t end);
  // "1:success 2:refused NO_MATCH" of the completions that have come, in the order of their numbers.
  std::string text(std::size_t end);

  // All that ends have sent.
  const std::vector<Seen>& log() const { return log_; }
  std::size_t count(std::size_t from, const std::function<bool(const Seen&)>& which) const;
  std::size_t count(std::size_t from, std::string_view name) const;
  // "RUD_REQ 0, ACK_CC 0": with PSNs from the PDC's start.
  std::string trace(std::size_t from) const;

  // Every packet is taken or dropped for a reason, no PDC and no message is left.
  void expect_clean();

  // What becomes of a packet; all arrive if there is none.
  std::function<Fate(const Seen&)> fate;

  // Puts a packet of our making on the wire to `to`, as from end `from`.
  void inject(std::size_t from, std::size_t to, const Packet& packet, std::span<const std::byte> payload = {});
  // Any octets, behind UDP.
  void inject_octets(std::size_t from, std::size_t to, std::span<const std::byte> octets);

 private:
  struct Arrival {
    Instant at;
    std::uint64_t order;
    std::size_t to;
    std::vector<std::byte> frame;
    bool operator>(const Arrival& o) const { return at != o.at ? at > o.at : order > o.order; }
  };

  OuterHeaders outer(std::size_t from, std::size_t to) const;
  bool send_one(std::size_t from);
  void put(std::size_t from, std::vector<std::byte> frame);
  Instant next_event();
  void handle_until(Instant until);

  EncapsulationConfig encapsulation_{};
  std::vector<End> ends_;
  std::vector<Instant> free_at_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::uint64_t order_ = 0;
  Instant now_{};
  std::vector<Seen> log_;
  std::vector<std::size_t> sent_;
};

}  // namespace railyard::uet
