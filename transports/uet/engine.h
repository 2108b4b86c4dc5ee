// An Ultra Ethernet NIC's transport: PDCs and messages, packets in and packets out. Sans-IO, and driven as the RoCE
// engine is: it owns no thread, socket or clock; `now` never goes back.
//
// After a post, a packet or a timer the PDCs concerned stand in line: answers and control packets, which are never held
// back, in the class `control`; data, one packet each in turn, in the class of the PDC's data (EngineConfig).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "dataplane/base/endpoint.h"
#include "dataplane/base/ring_queue.h"
#include "dataplane/base/rng.h"
#include "dataplane/base/units.h"
#include "transports/base/wake_queue.h"
#include "transports/uet/fep_state.h"
#include "transports/uet/pds/pdc_table.h"
#include "transports/uet/pds/rudi_line.h"
#include "transports/uet/ses/initiator.h"
#include "transports/uet/ses/target.h"
#include "transports/uet/wire/packet.h"

namespace railyard::uet {

// A packet that has come, its CRC right.
struct InPacket {
  Packet packet{};  // trimmed: the PDS header only
  PayloadRef payload{};
  wire::IpAddress source;
  wire::IpAddress destination;
  wire::MacAddress source_mac;  // who handed it over: the way back
  wire::MacAddress destination_mac;
  std::uint16_t entropy = 0;
  bool ce = false;        // congestion experienced
  std::uint8_t data_class = 0;  // of this end, that its DSCP and ECN are of
  bool trimmed = false;   // cut by a switch,
  bool last_hop = false;  // the last one
};

// A packet to send.
struct OutPacket {
  Packet packet{};
  PayloadRef payload{};
  PeerId to{};
  std::uint16_t entropy = 0;
  bool control = false;                         // DSCP_CONTROL, and not ECN-capable; else DSCP_TRIMMABLE
  std::uint8_t data_class = 0;                  // else
  bool again = false;                           // a retransmission
  // Of requests, the message's context and work request; of data of a READ at its target, the region that it is from.
  std::optional<ContextId> context{};
  std::uint64_t wr_id = 0;
  MemoryRegions::Key read_from = 0;
  std::array<std::byte, kMostAckData> small{};  // `payload` may lie here

  // One to `peer` of which nothing else is said yet; headers are the caller's to fill in.
  void begin(PeerId peer, std::uint16_t with_entropy, bool is_control, std::uint8_t of_class = 0) noexcept {
    packet.payload_octets = 0;
    payload = {};
    to = peer;
    entropy = with_entropy;
    control = is_control;
    data_class = of_class;
    again = false;
    context.reset();
    wr_id = 0;
    read_from = 0;
  }
};

class Engine {
  // What would be sent for the first time, and its octets as they are counted.
  struct NextCargo {
    Cargo cargo{};
    std::uint32_t octets = 0;
  };

 public:
  Engine(const EngineConfig& config, RngStream chance);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // ---- Control: may allocate ----
  MemoryRegions& memory() noexcept { return fep_.memory; }
  CqId create_cq(std::size_t capacity);
  // The one of this address, which is made if there is none. Who is heard first and has to be answered becomes one by
  // that, EngineConfig::most_strangers at most.
  PeerId peer(const AddressVector& address);
  const AddressVector& address(PeerId peer) const noexcept { return fep_.peers[peer.index()].address; }
  // Its queue exists.
  ContextId create_context(const ContextInit& init) { return target_.create_context(init); }
  // Nothing is received there any more, what was posted is forgotten; peers are refused (BAD_INDEX).
  void close_context(ContextId id) { target_.close_context(id); }
  // With EngineSettings::chosen_keys: peers name the region by `name`, 48 bits. False: another one has it.
  bool choose_key(std::uint64_t name, MemoryRegions::Key key) { return fep_.chosen_keys.try_emplace(name, key).second; }
  void give_up_key(std::uint64_t name) { fep_.chosen_keys.erase(name); }

  // ---- Work ----
  std::expected<void, PostError> post(Instant now, ContextId from, const SendWr& wr);
  std::expected<void, PostError> post_receive(Instant now, ContextId at, const RecvWr& wr);
  // Takes back a buffer that was posted and that no message has begun to fill, or what is left of one for several
  // messages. nullopt: there is none.
  std::optional<RecvWr> cancel_receive(ContextId at, std::uint64_t wr_id) { return target_.cancel_receive(at, wr_id); }
  // The first message that came before a buffer as `wr` was posted for it; it stays.
  std::optional<EarlyMessage> find_early(ContextId at, const RecvWr& wr) const { return target_.find_early(at, wr); }
  // It is kept for receive_claimed(), once, and no posted buffer takes it.
  void claim(const EarlyMessage& message) { target_.claim(message.number); }
  void receive_claimed(Instant now, const EarlyMessage& message, const RecvWr& wr) {
    target_.receive_claimed(message.number, wr);
    take_late_responses(now);
  }
  // Takes up to `out.size()` completions; returns how many.
  std::size_t poll(CqId cq, std::span<Completion> out) noexcept { return fep_.cqs[cq.index()].poll(out); }
  // That wait to be taken.
  std::size_t completions(CqId cq) const noexcept { return fep_.cqs[cq.index()].size(); }
  // PDCs that this end has opened take no more messages, and close when they have done what they have; those of peers
  // are asked for.
  void close_all(Instant now);
  // Those that this end has opened and that have nothing to do close.
  void close_idle(Instant now);
  // Data of a lane (SendWr::lane) to a peer keep to `rate`, on the wire with preamble and gap; 0: no limit. A READ is
  // paced where it is asked for, by what will come. RUD and ROD only.
  void set_rate(Instant now, PeerId peer, DeliveryMode mode, std::uint8_t lane, BitRate rate,
                std::uint8_t data_class = 0);
  // Octets that a packet of `packet_octets` takes on the wire to or from a peer, with preamble and gap.
  std::int64_t wire_octets(PeerId peer, std::size_t packet_octets) const noexcept;

  // Whose READ a packet brings data of, asked before on_packet() takes it. Of one that is over: who has posted the last
  // one of that PDC.
  struct ReadOf {
    ContextId context{};
    std::optional<std::uint64_t> wr_id{};
    std::uint16_t tries = 0;  // how often it was begun before: of those data that have come count no more
  };
  std::optional<ReadOf> read_of(const InPacket& in) const noexcept;

  // ---- Packets ----
  // Returns why it was of no use; nullopt: it was taken.
  std::optional<Drop> on_packet(Instant now, const InPacket& in);
  // One that came and was none: counted.
  void on_drop(Drop reason) noexcept;
  void on_malformed(Malformed reason) noexcept;
  void on_not_uet(NotUet reason) noexcept;
  void on_insecure(SecurityDrop reason) noexcept {
    on_drop(Drop::kSecurity);
    fep_.counters.security[static_cast<std::size_t>(reason)].increment();
  }
  // What the security sublayer below has encrypted, and has found authentic.
  void note_secured_sent() noexcept { fep_.counters.secured_packets_sent.increment(); }
  void note_secured_received() noexcept { fep_.counters.secured_packets_received.increment(); }

  // Does what fell due, and says what could be sent and until when the answer holds.
  Readiness ready(Instant now);
  // What ready() would say if nothing fell due, or a little more: with a sooner `until`.
  Readiness readiness() const noexcept;
  // The next packet of a class. False: there is none. What `out` points to holds until the next call.
  bool send(Instant now, Priority priority, OutPacket& out) {
    Ahead ahead;
    return send(now, priority, out, ahead);
  }
  // What was looked at already for the packet after the last one.
  class Ahead {
    friend class Engine;
    std::uint16_t pdc = 0;  // whose: 0: nobody's
    NextCargo next{};
  };
  // The same for who takes one packet after the other: `ahead` is good for calls of one instant with nothing else done
  // to this engine between them.
  bool send(Instant now, Priority priority, OutPacket& out, Ahead& ahead);

  const Counters& counters() const noexcept { return fep_.counters; }
  const EngineConfig& config() const noexcept { return fep_.config; }
  std::size_t pdcs() const noexcept { return told_ ? told_->pdcs : table_.live(); }
  // Those that were named here, and those that were heard first.
  std::size_t peers() const noexcept { return fep_.peers.size(); }
  // nullptr: there is no such PDC.
  const Pdc* pdc(PdcId id) const noexcept { return table_.find(id.value); }
  // Each PDC that is open, by PDCID.
  template <class Visit>
  void each_pdc(Visit visit) const {
    table_.each(visit);
  }
  // Octets of memory for messages that come before somebody waits for them.
  std::size_t early_octets() const noexcept { return target_.early_octets(); }
  // Messages that are posted and not complete.
  std::size_t open_sends() const noexcept { return initiator_.open_messages(); }
  // The same, and those that are received and not matched.
  std::size_t open_messages() const noexcept {
    return told_ ? told_->open_messages : initiator_.open_messages() + target_.open_messages();
  }

  // Counters, and how much is open: told by the process that runs it, taken by others.
  void exchange_figures(StateArchive& archive);

 private:
  struct Told {
    std::size_t pdcs = 0;
    std::size_t open_messages = 0;
  };
  // A NACK, or the ACK of a close, of a PDC that is not there.
  struct Reply {
    PeerId peer{};
    Pds pds{};
    Ses ses{};
    std::uint16_t entropy = 0;
  };
  // What a RUDI READ returns.
  struct DataReply {
    PeerId peer{};
    PdsRudiValues pds{};
    SesResponseValues ses{};
    PayloadRef payload{};
    std::uint16_t entropy = 0;
    MemoryRegions::Key read_from = 0;
  };
  struct Rudi {
    static constexpr unsigned kGenerationBits = 12;  // of a pkt_id; the others are the packet's place

    std::vector<RudiPacket> packets;
    std::vector<std::uint32_t> free_packets;
    std::vector<RudiLine> lines;
    std::vector<std::uint32_t> free_lines;
    RingQueue<std::uint32_t> waiting;  // lines for whose next packet there is no place

    std::uint32_t pkt_id(std::uint32_t slot) const noexcept;
    static std::uint32_t slot(std::uint32_t pkt_id) noexcept;
  };
  // What waits to be sent of one data class.
  struct DataLine {
    DataClass config;
    RingQueue<std::uint32_t> pdcs;       // PDCIDs
    RingQueue<std::uint32_t> datagrams;  // UUD: messages
    RingQueue<std::uint32_t> rudi;       // RudiLines
    RingQueue<DataReply> replies;
    bool connectionless_first = false;  // before data of PDCs, in turn
  };
  enum class After : std::uint8_t { kFail, kSendAgain };

  // ---- engine.cc: PDCs ----
  void enqueue(Instant now, std::uint32_t message);
  void wait_for_pdc(Instant now);
  Pdc* pdc_for(Instant now, const SendWr& wr);
  Pdc* open(Instant now, PeerId peer, DeliveryMode mode, Psn start, bool initiator, std::uint8_t data_class);
  Psn draw_start(Peer& peer);
  void free(Instant now, Pdc& pdc, PdcTable::Rest rest = PdcTable::Rest::kPackets);
  // `peer_has_it`: its other half may be there still.
  void fail(Instant now, Pdc& pdc, Status status, After after, bool peer_has_it = true);
  void ask_for_close(Instant now, Pdc& pdc) noexcept;
  void ask_for_room(Instant now);
  void quiesce(Pdc& pdc);
  void retire(Pdc& pdc);
  // The other end calls it so; an initiator has not known until now.
  void learn_target(Pdc& pdc, std::uint16_t id);

  // ---- engine_packets.cc: requests ----
  std::optional<Drop> accept(Instant now, const InPacket& in);
  std::optional<PeerId> known_peer(const InPacket& in) const noexcept;
  // The one that a packet came from, made one if this end has room for another that it has not named.
  std::optional<PeerId> learn_peer(const InPacket& in);
  std::optional<Drop> on_request(Instant now, const InPacket& in, const PdsRequestValues& pds);
  std::optional<Drop> on_trimmed(Instant now, const InPacket& in);
  std::expected<Pdc*, Drop> pdc_of_syn(Instant now, const InPacket& in, const PdsRequestValues& pds, bool& opened);
  std::expected<Pdc*, Drop> pdc_of(const InPacket& in, std::uint16_t spdcid, std::uint16_t dpdcid, std::uint32_t psn,
                                   bool retx, bool answers);
  std::optional<Drop> on_duplicate(Instant now, Pdc& pdc, const InPacket& in, const PdsRequestValues& pds);
  Verdict execute(Instant now, Pdc& pdc, Psn psn, const InPacket& in);
  void take(Instant now, Pdc& pdc, const InPacket& in, const PdsRequestValues& pds, const Verdict& verdict,
            bool opened);
  void acknowledge(Pdc& pdc, const PendingControl& ack);
  void nack(Instant now, Pdc& pdc, const InPacket& in, Psn psn, bool retx, NackCode code, std::uint32_t payload = 0);
  // False: too many wait to be sent, and it is not.
  bool reply(const Reply& what);
  void nack_nobody(const InPacket& in, std::uint32_t psn, std::uint16_t to, bool retx, NackCode code);
  void nack_rudi(const InPacket& in, const PdsRudiValues& rudi, NackCode code);
  void take_late_responses(Instant now);

  // ---- engine_control.cc: control packets ----
  std::optional<Drop> on_cp(Instant now, const InPacket& in, const PdsCpValues& cp);
  std::optional<Drop> on_counted_cp(Instant now, Pdc& pdc, const InPacket& in, const PdsCpValues& cp);
  std::optional<Drop> on_ack_req(Instant now, Pdc& pdc, const InPacket& in, const PdsCpValues& cp);
  bool push_control(Pdc& pdc, const PendingControl& what);
  void push_cp(Pdc& pdc, CtlType type, Psn psn, std::uint32_t payload, std::uint16_t opaque);

  // ---- engine_responses.cc: ACK and NACK ----
  std::optional<Drop> on_ack(Instant now, const InPacket& in, const PdsAckValues& ack);
  void note_arrivals(Instant now, Pdc& pdc, const InPacket& in, const PdsAckValues& ack);
  void answer(Instant now, Pdc& pdc, const Cargo& cargo, const SesResponseValues* response, const PayloadRef& payload);
  std::optional<Drop> on_nack(Instant now, const InPacket& in, const PdsNackValues& nack);
  std::optional<Drop> on_pdc_nack(Instant now, Pdc& pdc, const InPacket& in, const PdsNackValues& nack);
  void lose(Instant now, Pdc& pdc, Psn psn, PathFeedback feedback);
  void go_back(Pdc& pdc, Psn from);
  void back_off(Instant now, Pdc& pdc);
  bool is_cut_for_ever(Instant now, Pdc& pdc, Psn psn) const noexcept;
  void on_probe_answer(Instant now, Pdc& pdc, Duration rtt);
  void progress(Instant now, Pdc& pdc);

  // ---- engine_losses.cc: what is lost, by time ----
  bool infers_loss(const Pdc& pdc) const noexcept { return fep_.config.infer_loss && !pdc.is_rod(); }
  // As well of ROD, whose one path keeps its order.
  bool watches_tail(const Pdc& pdc) const noexcept {
    return fep_.config.infer_loss && (!pdc.is_rod() || data_lines_[pdc.data_class].config.ordered_paths);
  }
  // Time alone does not show there that a packet was lost.
  bool is_lossless(const Pdc& pdc) const noexcept { return data_lines_[pdc.data_class].config.lossless; }
  // Nor does what came behind it with its entropy value: switches choose a path for each packet.
  bool is_sprayed_lossless(const Pdc& pdc) const noexcept {
    return is_lossless(pdc) && !data_lines_[pdc.data_class].config.ordered_paths;
  }
  // What came behind it on its own path shows it.
  bool infers_by_path(const Pdc& pdc) const noexcept {
    return is_lossless(pdc) && data_lines_[pdc.data_class].config.ordered_paths && infers_loss(pdc);
  }
  Duration patience(const Pdc& pdc) const noexcept;
  void note_first_of(Instant now, Pdc& pdc, Psn psn);
  void watch_overtaken(Instant now, Pdc& pdc);
  void infer_losses(Instant now, Pdc& pdc);
  bool infer_by_time(Instant now, Pdc& pdc, Duration longest);
  bool infer_by_path(Instant now, Pdc& pdc, Duration longest);
  bool infer_by_spread(Instant now, Pdc& pdc, Duration longest);
  void ask_on_all_paths(Instant now, Pdc& pdc, Psn psn);
  void take_for_lost(Instant now, Pdc& pdc, Psn psn, Duration longest);
  void ask_on_path(Instant now, Pdc& pdc, Psn psn, std::uint16_t entropy);
  Duration path_probe_takes(const Pdc& pdc, std::uint8_t tries) const noexcept;
  void on_path_probe_answer(Instant now, Pdc& pdc, std::uint16_t id);
  bool asks_on_paths(Pdc& pdc) const noexcept;
  void set_tail(Instant now, Pdc& pdc);
  void on_tail(Instant now, Pdc& pdc);

  // ---- engine_credit.cc: credit of receivers (RCCC) ----
  std::uint32_t pds_octets(const Pdc& pdc) const noexcept {
    return static_cast<std::uint32_t>(pdc.credit ? PdsRequestCc::kOctets : PdsRequest::kOctets);
  }
  std::uint32_t others_in_line() const noexcept;
  Credit ask_for_credit(Pdc& pdc) noexcept;
  void on_demand(Instant now, Pdc& pdc, std::uint32_t target);
  void grant_due(Instant now);
  bool acks_carry_credit(const Pdc& pdc) const noexcept;
  void on_credit(Instant now, Pdc& pdc, std::uint32_t granted) noexcept;
  Duration credit_patience(const Pdc& pdc) const noexcept;
  void hear_of_credit(Instant now, Pdc& pdc) noexcept;
  std::optional<Drop> on_credit_cp(Instant now, Pdc& pdc, const PdsCpValues& cp);
  void on_credit_req(Instant now, Pdc& pdc, std::uint32_t target);
  void take_off_backlog(Pdc& pdc, const SentPacket& packet) noexcept;
  void spend_credit(Pdc& pdc, const SentPacket& packet) noexcept;
  void watch_credit(Instant now, Pdc& pdc);
  void request_credit(Pdc& pdc);
  void on_credit_timer(Instant now, Pdc& pdc);

  // ---- engine_lines.cc: who sends when, timers ----
  void settle(Instant now, Pdc& pdc);
  void line_up(Instant now, Pdc& pdc);
  void line_up_control(Instant now, Pdc& pdc);
  void line_up_data(Instant now, Pdc& pdc);
  void set_timer(Pdc& pdc);
  // Whether there was anything.
  bool run_due(Instant now) {
    if (next_due() > now) [[likely]]
      return false;
    run_what_is_due(now);
    return true;
  }
  void run_what_is_due(Instant now);
  Instant next_due() const noexcept {
    const Instant wake = wakes_.empty() ? Instant::never() : wakes_.top().at;
    const Instant rudi = rudi_wakes_.empty() ? Instant::never() : rudi_wakes_.top().at;
    return std::min({initiator_.next_retry(), wake, rudi, pacer_.next()});
  }
  void drop_stale_wakes();
  void set_rate(Pdc& pdc, BitRate rate) const noexcept;
  void pace(Instant now, Pdc& pdc, Instant allowed, const Cargo& cargo, std::uint32_t octets);
  void on_timer(Instant now, Pdc& pdc);
  bool asks_first(Instant now, Pdc& pdc);
  Duration rto(const Pdc& pdc, std::uint8_t timeouts = 0) const noexcept;
  // Of ROD the oldest packet is what all others wait for, and goes back to: theirs would only end it early.
  bool has_packet_timers(const Pdc& pdc) const noexcept { return fep_.config.packet_timers && !pdc.is_rod(); }
  Instant rto_due(const Pdc& pdc) const noexcept;
  Instant first_packet_timer(const Pdc& pdc) const noexcept;
  void start_packet_timer(Instant now, Pdc& pdc, const SentPacket& packet) const noexcept;
  void on_packet_timers(Instant now, Pdc& pdc);
  void ask_for_response(Pdc& pdc);
  void on_rto(Instant now, Pdc& pdc);
  void on_probe(Instant now, Pdc& pdc);
  Instant deadline(const Pdc& pdc) const noexcept;
  Duration noop_after(const Pdc& pdc) const noexcept;
  bool has_data(Instant now, Pdc& pdc) {
    NextCargo next;
    return has_data(now, pdc, next);
  }
  bool has_data(Instant now, Pdc& pdc, NextCargo& next);
  bool next_cargo(Pdc& pdc, NextCargo& next);
  bool has_counted_cp(Pdc& pdc) noexcept;
  Cargo next_counted_cp(const Pdc& pdc) const noexcept;
  bool window_open(const Pdc& pdc) const noexcept;

  // ---- engine_connectionless.cc: what belongs to no PDC, and UUD ----
  bool has_connectionless(const DataLine& line) const noexcept;
  bool send_connectionless(Instant now, DataLine& line, OutPacket& out);
  std::optional<Drop> on_datagram(const InPacket& in);

  // ---- engine_rudi.cc ----
  void post_rudi(Instant now, std::uint32_t message);
  std::uint32_t rudi_line(Instant now, PeerId peer, std::uint8_t data_class);
  void release_rudi_line(std::uint32_t line);
  bool has_rudi(RudiLine& line) noexcept;
  bool wants_first_of_rudi(const RudiLine& line) const noexcept;
  bool has_rudi_number() const noexcept;
  void wake_rudi_waiter(Instant now);
  void settle_rudi(Instant now, std::uint32_t line);
  void on_rudi_wake(Instant now, std::uint32_t line);
  bool send_rudi(Instant now, DataLine& data, OutPacket& out);
  std::uint32_t first_of_rudi(std::uint32_t line);
  void send_rudi_packet(Instant now, std::uint32_t slot, OutPacket& out);
  void lose_rudi(Instant now, std::uint32_t slot);
  void release_rudi(Instant now, std::uint32_t slot);
  void give_up_rudi(Instant now, std::uint32_t slot);
  Duration rudi_rto(const RudiPacket& p) const noexcept;
  Instant first_look_at(const RudiLine& line, const RudiPacket& p) const noexcept;
  void on_rudi_timer(Instant at, std::uint32_t slot);
  const RudiPacket* find_rudi(const InPacket& in, std::uint32_t pkt_id) const noexcept;
  std::optional<Drop> on_rudi_response(Instant now, const InPacket& in, const PdsRudiValues& pds);
  std::optional<Drop> on_rudi_nack(Instant now, const InPacket& in, const PdsNackValues& nack);
  void on_rudi_trimmed(Instant now, std::uint32_t slot, std::uint16_t entropy, PathFeedback feedback);
  void on_trimmed_rudi_response(Instant now, const InPacket& in, const PdsRudiValues& pds);
  std::optional<Drop> on_rudi_request(const InPacket& in, const PdsRudiValues& pds);

  // ---- engine_send.cc: packets made ----
  bool send_control(Instant now, OutPacket& out);
  bool send_class(Instant now, Priority priority, OutPacket& out, Ahead& ahead);
  bool send_data(Instant now, DataLine& line, OutPacket& out, Ahead& ahead);
  bool send_pdc_data(Instant now, DataLine& line, OutPacket& out, Ahead& ahead);
  std::uint8_t number_of(const DataLine& line) const noexcept {
    return static_cast<std::uint8_t>(&line - data_lines_.data());
  }
  bool needs_ack(Instant now, Pdc& pdc, bool more) const noexcept;
  void send_path_probe(Instant now, Pdc& pdc, OutPacket& out);
  void send_again(Instant now, Pdc& pdc, OutPacket& out);
  void send_first(Instant now, Pdc& pdc, const NextCargo& next, OutPacket& out);
  void fill(Pdc& pdc, const Cargo& cargo, Psn psn, std::uint16_t entropy, bool again, OutPacket& out);
  void fill_control(Instant now, Pdc& pdc, const PendingControl& what, OutPacket& out);
  void fill_ack(Instant now, Pdc& pdc, const PendingControl& what, OutPacket& out);
  void name_message(std::uint32_t message, OutPacket& out) const noexcept;
  void fill_read_data(const ReadJob& job, Packet& packet, PayloadRef& payload);

  FepState fep_;
  RngStream chance_;
  PdcTable table_;
  Initiator initiator_;
  Target target_;
  RingQueue<std::uint32_t> control_line_;  // PDCIDs
  std::vector<DataLine> data_lines_;  // by data class
  std::size_t next_line_ = 0;         // whose turn it is, among those of one priority
  RingQueue<Reply> replies_;          // at most EngineConfig::most_replies
  WakeQueue wakes_;
  CreditPacer pacer_;
  PathSelector datagram_paths_;
  Rudi rudi_;
  WakeQueue rudi_wakes_;                // its packets' timers; paced: its lines
  std::vector<std::uint32_t> waiting_;  // messages for which there is no PDC now;
  std::unordered_set<std::uint64_t> waited_for_;  // the PDCs that they want: who wants one of these waits behind them
  Instant asks_for_room_from_{};
  Instant waiting_until_ = Instant::never();  // when they are tried again, if that is known
  std::vector<std::uint32_t> again_;
  std::size_t strangers_ = 0;  // peers that were heard and that nobody here has named
  std::optional<Told> told_;   // by the process that runs it
};

}  // namespace railyard::uet
