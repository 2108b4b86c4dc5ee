#include "transports/roce/services/rping_server.h"

#include <utility>

namespace railyard::roce {
namespace {

// Where things are in a session's memory: the ping, messages that come, the one that goes.
constexpr std::size_t kMessagesAt = 65536;
constexpr std::size_t kAnswerAt = kMessagesAt + ServiceContext::kMostReceives * RpingMessage::kOctets;
constexpr std::size_t kMemoryOctets = kAnswerAt + RpingMessage::kOctets;

// What a send request was for.
enum Tag : std::uint64_t { kRead, kGoOn, kWrite, kDone };

}  // namespace

struct RpingServer::Session {
  Session(Engine& engine, ProtectionDomain domain) : memory(engine, domain, kMemoryOctets, {}) {}

  cm::ConnectionId connection{};
  QpNumber qp{};
  State state = State::kAwaitsPing;
  bool open = false;
  std::uint32_t octets = 0;  // of the ping
  std::uint64_t ping = 0;    // its number
  bool right = false;        // what was read is what rping sends
  ServiceMemory memory;
};

RpingServer::RpingServer(ServiceContext& context, std::size_t most_sessions, std::uint16_t port)
    : context_(context), most_sessions_(most_sessions), port_(port) {
  context_.connections.listen(cm::PortSpace::kTcp, port_);
}

RpingServer::~RpingServer() = default;

void RpingServer::on_request(Instant now, const cm::Event& request) {
  const ProtectionDomain domain{context_.next_domain++};
  const auto qp = sessions_.size() < most_sessions_ ? create_service_qp(context_, domain) : std::nullopt;
  if (!qp) {
    ++counters_.refused;
    static_cast<void>(context_.connections.reject(now, request.connection, {}, cm::RejReason::kNoResources));
    return;
  }
  cm::ConnectionParameters parameters = context_.defaults;
  parameters.qp = *qp;
  if (!context_.connections.accept(now, request.connection, parameters)) {
    // It was rejected, or is gone already.
    ++counters_.refused;
    context_.engine.destroy_qp(*qp);
    return;
  }
  auto session = std::make_unique<Session>(context_.engine, domain);
  session->connection = request.connection;
  session->qp = *qp;
  for (std::uint64_t i = 0; i < ServiceContext::kMostReceives; ++i) post_receive(now, *session, i);
  sessions_.emplace(qp->value, std::move(session));
}

bool RpingServer::on_event(Instant now, const cm::Event& event) {
  const auto found = sessions_.find(event.qp.value);
  if (found == sessions_.end()) return false;
  Session& s = *found->second;
  switch (event.type) {
    case cm::EventType::kEstablished:
      ++counters_.connections;
      ++counters_.open;
      s.open = true;
      break;
    case cm::EventType::kUnreachable:  // of what was accepted: nobody has confirmed it
    case cm::EventType::kDisconnected:
      end(now, s);
      break;
    case cm::EventType::kRejected:  // it is forgotten at once
    case cm::EventType::kTimewaitExit:
      end(now, s);
      context_.engine.destroy_qp(s.qp);
      sessions_.erase(found);
      break;
    case cm::EventType::kConnectRequest:
      break;
  }
  return true;
}

bool RpingServer::on_completion(Instant now, const Completion& c) {
  const auto found = sessions_.find(c.qp.value);
  if (found == sessions_.end()) return false;
  Session& s = *found->second;
  if (s.state == State::kEnded) return true;
  if (c.status == WcStatus::kWrFlushErr) return true;  // of what ends the connection there is an event
  if (!c.ok()) {
    if (counters_.failed++ == 0) counters_.status = c.status;
    end(now, s);
    return true;
  }
  if (c.opcode == WcOpcode::kRecv) {
    // Data may come before the confirmation of the connection does.
    context_.connections.on_path_established(now, s.qp);
    if (c.octets != RpingMessage::kOctets) {
      violated(now, s);
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

bool RpingServer::on_invalid_request(Instant now, QpNumber qp) {
  const auto found = sessions_.find(qp.value);
  if (found == sessions_.end()) return false;
  if (found->second->state != State::kEnded) violated(now, *found->second);
  return true;
}

void RpingServer::on_message(Instant now, Session& s, const RpingOffer& offer) {
  if (s.state == State::kAwaitsPing) {
    if (offer.octets < kLeastPing || offer.octets > kMostPing) return violated(now, s);
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
    violated(now, s);
  }
}

// A QP that has gone into error says so by completions.
void RpingServer::post(Instant now, Session& s, const SendWr& wr) {
  if (s.state == State::kEnded) return;
  if (!context_.engine.post_send(now, s.qp, wr)) violated(now, s);
}

void RpingServer::post_receive(Instant now, Session& s, std::uint64_t place) {
  static_cast<void>(context_.engine.post_recv(
      now, s.qp,
      {.wr_id = place,
       .sges = {s.memory.piece(kMessagesAt + place * RpingMessage::kOctets, std::uint32_t{RpingMessage::kOctets})}}));
}

// Whose connection still stands is told; its QP goes into error, and what was posted is flushed.
void RpingServer::end(Instant now, Session& s) {
  if (s.state == State::kEnded) return;
  s.state = State::kEnded;
  if (std::exchange(s.open, false)) --counters_.open;
  static_cast<void>(context_.connections.disconnect(now, s.connection));
}

void RpingServer::violated(Instant now, Session& s) {
  ++counters_.violations;
  end(now, s);
}

}  // namespace railyard::roce
