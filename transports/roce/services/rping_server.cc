#include "transports/roce/services/rping_server.h"

namespace railyard::roce {
namespace {

// Where things are in a session's memory: the ping, messages that come, the one that goes.
constexpr std::size_t kMessagesAt = 65536;
constexpr std::size_t kAnswerAt = kMessagesAt + ServiceContext::kMostReceives * RpingMessage::kOctets;
constexpr std::size_t kMemoryOctets = kAnswerAt + RpingMessage::kOctets;

// What a send request was for.
enum Tag : std::uint64_t { kRead, kGoOn, kWrite, kDone };

}  // namespace

struct RpingServer::Session : ServerSession {
  Session(Engine& engine, ProtectionDomain domain) : memory(engine, domain, kMemoryOctets, {}) {}

  State state = State::kAwaitsPing;
  std::uint32_t octets = 0;  // of the ping
  std::uint64_t ping = 0;    // its number
  bool right = false;        // what was read is what rping sends
  ServiceMemory memory;
};

RpingServer::RpingServer(ServiceContext& context, std::size_t most_sessions, std::uint16_t port)
    : context_(context), port_(port), sessions_(context, counters_, most_sessions, port) {}

RpingServer::~RpingServer() = default;

void RpingServer::on_request(Instant now, const cm::Event& request) {
  Session* const s = sessions_.on_request(now, request);
  for (std::uint64_t i = 0; s != nullptr && i < ServiceContext::kMostReceives; ++i) post_receive(now, *s, i);
}

bool RpingServer::on_event(Instant now, const cm::Event& event) { return sessions_.on_event(now, event); }

bool RpingServer::on_completion(Instant now, const Completion& c) {
  Session* const found = sessions_.find(c.qp);
  if (found == nullptr) return false;
  Session& s = *found;
  if (sessions_.ends_by(now, s, c)) return true;
  if (c.opcode == WcOpcode::kRecv) {
    // Data may come before the confirmation of the connection does.
    context_.connections.on_path_established(now, s.qp);
    if (c.octets != RpingMessage::kOctets) {
      sessions_.violated(now, s);
      return true;
    }
    const RpingOffer offer =
        read_rping(s.memory.octets().data() + kMessagesAt + c.wr_id * std::uint64_t{RpingMessage::kOctets});
    post_receive(now, s, c.wr_id);
    on_message(now, s, offer);
    return true;
  }
  if (c.wr_id == kRead) {
    s.right = is_ping(s.memory.octets().first(s.octets), s.ping);
    s.state = State::kAwaitsSink;
    post(now, s, {.wr_id = kGoOn, .sges = {s.memory.piece(kAnswerAt, RpingMessage::kOctets)}});
  }
  return true;
}

bool RpingServer::on_invalid_request(Instant now, QpNumber qp) { return sessions_.on_invalid_request(now, qp); }

void RpingServer::on_message(Instant now, Session& s, const RpingOffer& offer) {
  if (s.state == State::kAwaitsPing) {
    if (offer.octets < kLeastPing || offer.octets > kMostPing) return sessions_.violated(now, s);
    s.octets = offer.octets;
    s.state = State::kReads;
    post(now, s, {.wr_id = kRead,
                  .opcode = SendOpcode::kRead,
                  .sges = {s.memory.piece(0, s.octets)},
                  .remote_address = offer.address,
                  .r_key = offer.r_key});
  } else if (s.state == State::kAwaitsSink && offer.octets >= s.octets) {
    // The client takes the last message for the end of the round, and may begin the next before our own requests are
    // complete.
    s.state = State::kAwaitsPing;
    ++s.ping;
    counters_.last = now;
    if (s.right) {
      ++counters_.rounds;
      counters_.octets += s.octets;
    } else {
      ++counters_.corrupted;
    }
    post(now, s, {.wr_id = kWrite,
                  .opcode = SendOpcode::kWrite,
                  .sges = {s.memory.piece(0, s.octets)},
                  .remote_address = offer.address,
                  .r_key = offer.r_key});
    post(now, s, {.wr_id = kDone, .sges = {s.memory.piece(kAnswerAt, RpingMessage::kOctets)}});
  } else {
    sessions_.violated(now, s);
  }
}

// A QP that has gone into error says so by completions.
void RpingServer::post(Instant now, Session& s, const SendWr& wr) {
  if (s.ended) return;
  if (!context_.engine.post_send(now, s.qp, wr)) sessions_.violated(now, s);
}

void RpingServer::post_receive(Instant now, Session& s, std::uint64_t place) {
  static_cast<void>(context_.engine.post_recv(
      now, s.qp,
      {.wr_id = place,
       .sges = {s.memory.piece(kMessagesAt + place * RpingMessage::kOctets, std::uint32_t{RpingMessage::kOctets})}}));
}

}  // namespace railyard::roce
