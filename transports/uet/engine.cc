// Control and work; how PDCs begin and end.
#include "transports/uet/engine.h"

#include <algorithm>
#include <utility>

#include "dataplane/base/assert.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"

namespace railyard::uet {

std::string_view name(Status status) noexcept {
  switch (status) {
    case Status::kSuccess:
      return "success";
    case Status::kRefused:
      return "refused";
    case Status::kRetryExceeded:
      return "retry_exceeded";
    case Status::kPdcFailed:
      return "pdc_failed";
    case Status::kLocalError:
      return "local_error";
    case Status::kFlushed:
      return "flushed";
  }
  return "";
}

std::string_view name(PostError error) noexcept {
  switch (error) {
    case PostError::kUnknownContext:
      return "unknown_context";
    case PostError::kUnknownPeer:
      return "unknown_peer";
    case PostError::kNotSupported:
      return "not_supported";
    case PostError::kTooLong:
      return "too_long";
    case PostError::kWrongLength:
      return "wrong_length";
    case PostError::kQueueFull:
      return "queue_full";
  }
  return "";
}

Engine::Engine(const EngineConfig& config, RngStream chance)
    : fep_(config),
      chance_(chance),
      table_(config.most_pdcs, config.pdcid_quiet, config.target_keeps(), config.first_pdcid),
      initiator_(fep_, RngStream(Seed{chance_.next()}, "no_match")),
      target_(fep_),
      pacer_(config.grants, chance) {
  datagram_paths_ = PathSelector(config.multipath, chance_);
  data_lines_.emplace_back().config = {.priority = config.data,
                                       .trimming = config.trimming,
                                       .lossless = config.lossless,
                                       .ordered_paths = config.ordered_paths,
                                       .congestion = config.congestion,
                                       .credit = config.credit,
                                       .multipath = config.multipath};
  for (const DataClass& c : config.other_classes) data_lines_.emplace_back().config = c;
  RAILYARD_ASSERT(config.window >= 1 && config.window <= 4096 && config.most_pdcs >= 2 && config.first_pdcid >= 1 &&
                      config.first_pdcid + (config.most_pdcs - 1u) <= 0xFFFF && config.multipath.paths >= 1 &&
                      config.multipath.paths <= kMostPaths && config.most_rudi >= 1 &&
                      config.most_rudi <= 1u << (32 - Rudi::kGenerationBits),
                  "an engine's settings are in range");
}

CqId Engine::create_cq(std::size_t capacity) {
  fep_.cqs.emplace_back(capacity);
  return CqId{static_cast<std::uint32_t>(fep_.cqs.size() - 1)};
}

PeerId Engine::peer(const AddressVector& address) {
  const auto [at, made] =
      fep_.by_address.try_emplace(address.destination, static_cast<std::uint32_t>(fep_.peers.size()));
  if (made) fep_.peers.push_back({.address = address});
  return PeerId{at->second};
}

std::expected<void, PostError> Engine::post(Instant now, ContextId from, const SendWr& wr) {
  const Context* const context = target_.context(from);
  if (context == nullptr) return std::unexpected(PostError::kUnknownContext);
  const auto message = initiator_.create(from, context->init, wr);
  if (!message) return std::unexpected(message.error());
  run_due(now);
  switch (wr.mode) {
    case DeliveryMode::kRudi:
      post_rudi(now, *message);
      break;
    case DeliveryMode::kUud:
      data_lines_[wr.data_class].datagrams.push(*message);
      break;
    default:
      enqueue(now, *message);
      break;
  }
  return {};
}

std::expected<void, PostError> Engine::post_receive(Instant now, ContextId at, const RecvWr& wr) {
  const auto posted = target_.post_receive(at, wr);
  take_late_responses(now);
  return posted;
}

// On the PDC of its destination; without one it waits until another goes, behind those that want the same one.
void Engine::enqueue(Instant now, std::uint32_t message) {
  const SendWr& wr = initiator_.message(message).wr;
  const std::uint64_t wanted = std::uint64_t{wr.peer.value} << 24 | std::uint64_t{wr.lane} << 16 |
                               std::uint64_t{wr.data_class} << 8 | static_cast<std::uint64_t>(wr.mode);
  Pdc* const pdc = waited_for_.contains(wanted) ? nullptr : pdc_for(now, wr);
  if (pdc == nullptr) {
    waiting_.push_back(message);
    waited_for_.insert(wanted);
    wait_for_pdc(now);
    return;
  }
  pdc->messages.push(message);
  ++pdc->open_messages;
  if (pdc->credit) pdc->backlog += initiator_.octets_to_send(message, pds_octets(*pdc));
  settle(now, *pdc);
}

// If none is resting, the next one that goes is waited for.
void Engine::wait_for_pdc(Instant now) {
  const Instant at = std::max(now + Duration{1}, table_.next_free());
  if (at >= waiting_until_) return;
  waiting_until_ = at;
  wakes_.push({at, 0, true});
}

Pdc* Engine::pdc_for(Instant now, const SendWr& wr) {
  Peer& peer = fep_.peer(wr.peer);
  for (const std::uint16_t id : peer.pdcs)
    if (Pdc* const pdc = table_.find(id);
        pdc != nullptr && pdc->mode == wr.mode && pdc->lane == wr.lane && pdc->data_class == wr.data_class)
      return pdc;
  Pdc* const pdc = open(now, wr.peer, wr.mode, draw_start(peer), true, wr.data_class);
  if (pdc == nullptr) return nullptr;
  pdc->lane = wr.lane;
  set_rate(*pdc, peer.rate_of(Peer::lane_key(wr.mode, wr.lane, wr.data_class)));
  peer.pdcs.push_back(pdc->id.value);
  return pdc;
}

// In [2^16, 2^31), and 2^16 away from the last one with that peer (uet §5.3).
Psn Engine::draw_start(Peer& peer) {
  constexpr std::uint32_t kLeast = 1u << 16;
  for (;;) {
    const Psn start(static_cast<std::uint32_t>(kLeast + chance_.below((std::uint64_t{1} << 31) - kLeast)));
    const std::int32_t far = start - peer.last_start;
    if (peer.used && far > -static_cast<std::int32_t>(kLeast) && far < static_cast<std::int32_t>(kLeast)) continue;
    peer.used = true;
    peer.last_start = start;
    return start;
  }
}

Pdc* Engine::open(Instant now, PeerId peer, DeliveryMode mode, Psn start, bool initiator, std::uint8_t data_class) {
  Pdc* const pdc = table_.take(now, initiator);
  if (pdc == nullptr) return nullptr;
  Pdc& p = *pdc;
  const EngineConfig& c = fep_.config;
  const DataClass& of_class = data_lines_[data_class].config;
  p.remote = 0;
  p.peer = peer;
  p.state = initiator ? PdcState::kSyn : PdcState::kEstablished;
  p.mode = mode;
  p.initiator = initiator;
  p.lane = 0;
  p.data_class = data_class;
  p.start = start;
  p.sent.start(start);
  p.congestion = CongestionControl(of_class.congestion);
  p.credit.reset();
  if (of_class.credit) p.credit.emplace(*of_class.credit);
  p.backlog = 0;
  p.credit_at = Instant::never();
  p.credit_tries = 0;
  p.credit_takes = {};
  p.grants = {};
  p.chance = RngStream(Seed{chance_.next()}, "pdc");
  MultipathConfig multipath = of_class.multipath;
  if (mode == DeliveryMode::kRod) multipath.policy = PathPolicy::kSingle;
  p.paths = PathSelector(multipath, p.chance);
  p.peer_cack = start - 1;
  p.peer_range = p.last_rcvd = 0;
  p.goes_after_timeout = p.recovering = p.probing = p.clear_due = p.close_due = p.retired = p.waits_for_close = false;
  p.timeouts = p.backoffs = 0;
  p.setup_tries = 0;
  p.blocked_until = p.next_data = Instant{};
  p.rate = {};
  p.asking = start - 1;
  p.unasked = 0;
  p.rto_at = p.probe_at = p.late_at = p.tail_at = p.halves_at = Instant::never();
  p.rto_from = p.heard_at = {};
  p.answer_takes = {};
  const auto* const nscc = std::get_if<NsccConfig>(&of_class.congestion);
  p.reorder = ReorderWindow(nscc != nullptr ? nscc->base_rtt : of_class.credit ? of_class.credit->base_rtt : Duration{},
                            of_class.trimming);
  p.newest_heard = p.watched_until = {};
  p.tail_tries = 0;
  p.any_passed = false;
  p.look_from = {};
  p.path_probes.clear();
  p.one_beyond_window = false;
  p.often_cut_at = {};
  if (p.window.range() != c.mp_range) p.window = ReceiveWindow(c.mp_range);
  p.window.start(start);
  p.rcvd_octets = 0;
  p.ack_octets = 0;
  p.ar_waits = p.ooo_told = false;
  p.ack_entropy.reset();
  p.last_message = p.last_job = 0;
  p.stored.clear();
  while (!p.control.empty()) p.control.pop();
  p.open_messages = p.reads_in_flight = p.open_read_jobs = 0;
  p.hears_of_reads();
  p.reader.reset();
  p.message_id = 0;
  p.in_control_line = p.in_data_line = false;
  p.timer_at = Instant::never();
  p.idle_since = now;
  fep_.counters.pdcs_opened.increment();
  return pdc;
}

// Takes no more messages.
void Engine::retire(Pdc& pdc) {
  if (!pdc.initiator || pdc.retired) return;
  pdc.retired = true;
  std::erase(fep_.peer(pdc.peer).pdcs, pdc.id.value);
}

void Engine::learn_target(Pdc& pdc, std::uint16_t id) {
  pdc.remote = id;
  pdc.setup_tries = 0;
  if (pdc.state == PdcState::kSyn) pdc.state = pdc.retired ? PdcState::kQuiesce : PdcState::kEstablished;
  table_.note_learnt(pdc);
}

void Engine::free(Instant now, Pdc& pdc, PdcTable::Rest rest) {
  retire(pdc);
  target_.forget(pdc);
  if (pdc.initiator) {
    fep_.peer(pdc.peer).last_start = pdc.sent.next();
    table_.forget_learnt(pdc);
  } else {
    table_.note_closed(now, pdc);
  }
  // Its data that was sent and not acknowledged.
  while (!pdc.sent.empty()) {
    const SentPacket& packet = pdc.sent.front();
    if (packet.cargo.kind == Cargo::Kind::kReadData && !packet.answered) target_.release_read_job(packet.cargo.item);
    pdc.sent.mark_answered(pdc.sent.una());
    pdc.sent.pop_answered();
  }
  pdc.state = PdcState::kFree;
  table_.give_back(now, pdc, rest);
  if (!waiting_.empty()) wait_for_pdc(now);
}

void Engine::fail(Instant now, Pdc& pdc, Status status, After after, bool peer_has_it) {
  fep_.counters.pdcs_failed.increment();
  again_.clear();
  initiator_.forget(pdc, status, after == After::kSendAgain ? &again_ : nullptr);
  free(now, pdc, pdc.initiator && peer_has_it ? PdcTable::Rest::kTarget : PdcTable::Rest::kPackets);
  const std::vector<std::uint32_t> again = std::exchange(again_, {});
  for (const std::uint32_t message : again) enqueue(now, message);
}

void Engine::quiesce(Pdc& pdc) {
  if (pdc.state == PdcState::kClosing || pdc.close_due) return;
  retire(pdc);
  if (pdc.state == PdcState::kEstablished) pdc.state = PdcState::kQuiesce;
}

// At a target: by CLOSE_REQ. An initiator that has gone does not know the PDC any more, and says so.
void Engine::ask_for_close(Instant now, Pdc& pdc) noexcept {
  pdc.close_due = true;
  pdc.state = PdcState::kClosing;
  pdc.idle_since = now;
}

// A peer has been refused for want of a PDC: those that others have opened, and that nothing was heard of for longer
// than a timeout, are asked back; also once more, if the initiator has taken note and gone since. DEVIATION: no source says what a target without PDCs does; it may ask for a close at
// any time (uet §5.11).
void Engine::ask_for_room(Instant now) {
  if (now < asks_for_room_from_) return;
  asks_for_room_from_ = now + fep_.config.rto_init;
  table_.each([&](Pdc& pdc) {
    const bool open = pdc.state == PdcState::kEstablished || pdc.state == PdcState::kClosing;
    if (pdc.initiator || !open || !pdc.idle() || pdc.close_due || now - pdc.idle_since < fep_.config.rto_init) return;
    ask_for_close(now, pdc);
    settle(now, pdc);
  });
}

void Engine::close_idle(Instant now) {
  run_due(now);
  for (const Peer& peer : fep_.peers.all()) {
    const std::vector<std::uint16_t> ids = peer.pdcs;
    for (const std::uint16_t id : ids) {
      Pdc* const pdc = table_.find(id);
      if (pdc == nullptr || !pdc->idle()) continue;
      quiesce(*pdc);
      settle(now, *pdc);
    }
  }
}

void Engine::set_rate(Instant now, PeerId id, DeliveryMode mode, std::uint8_t lane, BitRate rate,
                      std::uint8_t data_class) {
  run_due(now);
  Peer& peer = fep_.peer(id);
  const std::uint32_t key = Peer::lane_key(mode, lane, data_class);
  std::erase_if(peer.rates, [&](const auto& r) { return r.first == key; });
  if (rate.bps > 0) peer.rates.emplace_back(key, rate);
  for (const std::uint16_t of : peer.pdcs)
    if (Pdc* const pdc = table_.find(of);
        pdc != nullptr && pdc->mode == mode && pdc->lane == lane && pdc->data_class == data_class) {
      set_rate(*pdc, rate);
      if (rate.bps == 0) pdc->next_data = now;
    }
}

void Engine::set_rate(Pdc& pdc, BitRate rate) const noexcept {
  pdc.rate = rate;
  pdc.gaps = fep_.config.pacing.jitter_of(pdc.id.value, rate);
}

std::int64_t Engine::wire_octets(PeerId peer, std::size_t packet_octets) const noexcept {
  const bool v4 = fep_.peers[peer.index()].address.destination.is_v4();
  const std::size_t ip = v4 ? std::size_t{wire::Ipv4::kOctets} : std::size_t{wire::Ipv6::kOctets};
  return static_cast<std::int64_t>(packet_octets + ip) + fep_.config.around_octets;
}

void Engine::close_all(Instant now) {
  run_due(now);
  table_.each([&](Pdc& pdc) {
    if (pdc.initiator) {
      quiesce(pdc);
    } else if (pdc.state == PdcState::kEstablished) {
      pdc.close_due = true;
    }
    settle(now, pdc);
  });
}

void Engine::exchange_figures(StateArchive& archive) {
  Told told{pdcs(), open_messages()};
  archive(fep_.counters, told);
  if (archive.reads()) told_ = told;
}

}  // namespace railyard::uet
