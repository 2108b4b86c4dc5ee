// Two RoCE endpoints and a wire between them, under virtual time.
//
//   end 0 (10.0.0.1) ---- 1 us, 100 Gb/s ---- end 1 (10.0.0.2)
//
// Whole frames cross it, ICRC included; `fate` decides what becomes of each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "transports/roce/roce_endpoint.h"

namespace railyard::roce {

// A packet on the wire.
struct Seen {
  std::size_t from = 0;   // the end that sent it
  std::size_t index = 0;  // of its packets
  Instant at{};
  Packet packet{};
  std::optional<PathTelemetry> telemetry{};  // that it carries

  std::string_view name() const { return packet.info().name; }
  std::uint32_t psn() const { return packet.bth.psn; }
  Syndrome syndrome() const { return parse_syndrome(packet.aeth.syndrome); }
  bool is_nak(NakCode code) const {
    return packet.info().operation == Operation::kAcknowledge && syndrome() == Syndrome::nak(code);
  }
  bool is_rnr() const {
    return packet.info().operation == Operation::kAcknowledge && syndrome().type == SyndromeType::kRnrNak;
  }
};

// What becomes of it.
struct Fate {
  bool lost = false;
  unsigned copies = 1;
  Duration late{};  // besides the wire's delay: others overtake it
  bool corrupted = false;
  bool marked = false;  // CE
};

struct PairConfig {
  QpType type = QpType::kRc;
  EngineConfig engine{};
  QpAttributes attributes{};   // of both; addresses, numbers and PSNs are filled in
  std::uint32_t psn0 = 0x100;  // where end 0 begins
  std::uint32_t psn1 = 0x200;
  std::size_t cq = 4096;
  std::size_t max_wr = 256;
  bool srq = false;     // at end 1
  bool connect = true;  // to RTS
  bool ipv6 = false;
  bool cnps = true;
  std::optional<SelectiveRepeatConfig> selective_repeat{};
  bool elided = false;  // memory and payload are promises; `corrupted` and `marked` are not done then
};

// RC with an ACK timeout of 1.05 ms and `reads` READs and atomics outstanding at most.
inline PairConfig rc_config(PathMtu mtu = PathMtu::k256, std::uint16_t reads = 16) {
  PairConfig config;
  config.attributes.path_mtu = mtu;
  config.attributes.timeout = 8;
  config.attributes.max_rd_atomic = config.attributes.max_dest_rd_atomic = reads;
  return config;
}

// Loses the first packet of `from` that is so.
std::function<Fate(const Seen&)> lose_first(std::size_t from, std::function<bool(const Seen&)> which);
inline auto psn_is(std::uint32_t psn) {
  return [=](const Seen& s) { return s.psn() == psn; };
}
inline auto name_is(std::string_view name) {
  return [=](const Seen& s) { return s.name() == name; };
}

class Pair {
 public:
  static constexpr std::size_t kMemory = 1 << 20;
  static constexpr Duration kDelay{1'000'000};

  explicit Pair(const PairConfig& config = {});

  struct End {
    std::unique_ptr<RoceEndpoint> endpoint;
    std::vector<std::byte> memory = std::vector<std::byte>(kMemory);
    MemoryRegions::Key key = 0;
    CqId send_cq{}, recv_cq{};
    std::optional<SrqId> srq{};
    QpNumber qp{};
    AhId ah{};  // to the other end
    Engine& engine() { return endpoint->engine(); }
  };

  End& end(std::size_t i) { return ends_[i]; }
  Engine& engine(std::size_t i) { return ends_[i].engine(); }
  const Counters& counters(std::size_t i) { return ends_[i].engine().counters(); }
  Instant now() const { return now_; }

  static std::uint64_t address(std::size_t end) { return 0x7F0000000000 + (std::uint64_t{end} << 32); }
  Sge local(std::size_t end, std::size_t offset, std::size_t octets) const;
  std::span<std::byte> memory(std::size_t end, std::size_t offset, std::size_t octets);
  // Fills memory of an end with octets that only this place and seed have.
  void fill(std::size_t end, std::size_t offset, std::size_t octets, std::uint64_t seed = 1);
  // A WRITE of end 0 at place 0 of both memories: arrives exact, and completes as 1:SUCCESS.
  void write_and_expect(std::size_t octets);
  bool same(std::size_t end_a, std::size_t offset_a, std::size_t end_b, std::size_t offset_b, std::size_t octets);

  // Requests of end `from` for the memory of the other end, each with wr_id as given.
  SendWr send(std::size_t from, std::uint64_t wr_id, std::size_t offset, std::size_t octets) const;
  SendWr write(std::size_t from, std::uint64_t wr_id, std::size_t offset, std::size_t to, std::size_t octets) const;
  SendWr read(std::size_t from, std::uint64_t wr_id, std::size_t to, std::size_t offset, std::size_t octets) const;
  SendWr compare_swap(std::size_t from, std::uint64_t wr_id, std::size_t to, std::size_t offset, std::uint64_t compare,
                      std::uint64_t swap) const;
  SendWr fetch_add(std::size_t from, std::uint64_t wr_id, std::size_t to, std::size_t offset, std::uint64_t add) const;

  // Post; fails the test if refused.
  void post(std::size_t end, const SendWr& wr);
  void receive(std::size_t end, std::uint64_t wr_id, std::size_t offset, std::size_t octets);

  // Modelled time goes on until nothing happens any more, at most for `limit`.
  void run(Duration limit = Duration{60'000'000'000'000});
  void run_until(Instant until);

  std::vector<Completion> sent(std::size_t end) { return poll(end, ends_[end].send_cq); }
  std::vector<Completion> received(std::size_t end) { return poll(end, ends_[end].recv_cq); }
  // "1:SUCCESS 2:RETRY_EXC_ERR" of the completions that have come.
  std::string sent_text(std::size_t end) { return text(sent(end)); }
  std::string received_text(std::size_t end) { return text(received(end)); }
  QpState state(std::size_t end) { return *engine(end).state(ends_[end].qp); }

  // All that an end has sent.
  const std::vector<Seen>& log() const { return log_; }
  std::size_t count(std::size_t from, const std::function<bool(const Seen&)>& which) const;
  std::size_t count(std::size_t from, std::string_view name) const;
  // "SEND First 100, SEND Last 101"; PSNs in hexadecimal.
  std::string trace(std::size_t from) const;

  // Both ends: every packet is taken or dropped for a reason.
  bool books_balance();

  // What becomes of a packet; all arrive if there is none.
  std::function<Fate(const Seen&)> fate;

  // Classes in which an end may not send now.
  std::array<PriorityMask, 2> paused{};

  // Puts a packet of our making on the wire to `to`, as from the other end's QP.
  void inject(std::size_t to, Packet packet, std::span<const std::byte> payload = {});

 private:
  struct Arrival {
    Instant at;
    std::uint64_t order;
    std::size_t to;
    std::vector<std::byte> frame;  // elided: up to the payload
    PayloadRef payload;
    std::optional<PathTelemetry> telemetry;
    bool operator>(const Arrival& o) const { return at != o.at ? at > o.at : order > o.order; }
  };

  AddressVector vector_from(std::size_t from) const;
  void connect(std::size_t i, const QpAttributes& attributes);
  bool send_one(std::size_t from);
  void put(std::size_t from, std::vector<std::byte> frame, const PayloadRef& payload, const PathTelemetry* telemetry);
  std::vector<Completion> poll(std::size_t end, CqId cq);
  static std::string text(const std::vector<Completion>& completions);
  // As the endpoint says, but for what is paused.
  Readiness ready(std::size_t end);
  Instant next_event();
  void handle_until(Instant until);

  PairConfig config_;
  std::array<End, 2> ends_;
  std::array<Instant, 2> free_at_{};
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::uint64_t order_ = 0;
  Instant now_{};
  std::vector<Seen> log_;
  std::array<std::size_t, 2> sent_{};
};

}  // namespace railyard::roce
