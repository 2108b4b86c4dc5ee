#include "transports/roce/services/rping_client.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace railyard::roce {
namespace {

// Between the last answer and the end of the connection: a NIC acknowledges an answer before its application has seen
// it.
constexpr Duration kBeforeLeaving{20'000'000};

// Where messages are in a session's memory: those that come, the one that goes.
constexpr std::size_t kOfferAt = ServiceContext::kMostReceives * RpingMessage::kOctets;
constexpr std::size_t kMessagesOctets = kOfferAt + RpingMessage::kOctets;

}  // namespace

std::string_view name(RpingClient::State state) noexcept {
  constexpr std::array<std::string_view, 7> kNames{"waits",  "connects", "offers_ping", "offers_sink",
                                                   "leaves", "done",     "failed"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view name(RpingClient::Failure failure) noexcept {
  constexpr std::array<std::string_view, 8> kNames{"",      "not_started", "rejected",  "unreachable",
                                                   "error", "violation",   "no_answer", "disconnected"};
  return kNames[static_cast<std::size_t>(failure)];
}

void RpingClient::exchange_figures(StateArchive& archive) {
  archive(state_, failure_, ended_, reason_, attempts_failed_, counters_, latency_);
  if (state_ > State::kFailed || failure_ > Failure::kDisconnected)
    throw std::runtime_error("what another process told of an rping client cannot be");
}

struct RpingClient::Session {
  Session(Engine& engine, ProtectionDomain domain, std::uint32_t octets)
      : source(engine, domain, octets, Access::kRemoteRead),
        sink(engine, domain, octets, Access::kRemoteWrite),
        messages(engine, domain, kMessagesOctets, {}) {}

  QpNumber qp{};
  cm::ConnectionId connection{};
  ServiceMemory source;
  ServiceMemory sink;
  ServiceMemory messages;
};

RpingClient::RpingClient(ServiceContext& context, const RpingClientConfig& config)
    : context_(context), config_(config), deadline_(config.start) {}

RpingClient::~RpingClient() = default;

void RpingClient::on_timer(Instant now) {
  if (now < deadline_) return;
  deadline_ = Instant::never();
  if (state_ == State::kWaits)
    connect(now);
  else if (state_ == State::kLeaves)
    static_cast<void>(context_.connections.disconnect(now, session_->connection));
  else if (state_ == State::kOffersPing || state_ == State::kOffersSink)
    fail(now, Failure::kNoAnswer);
}

void RpingClient::connect(Instant now) {
  if (now >= config_.stop) {
    state_ = State::kDone;
    ended_ = now;
    return;
  }
  const ProtectionDomain domain{context_.next_domain++};
  const auto qp = create_service_qp(context_, domain);
  if (!qp) return fail(now, Failure::kNotStarted);
  session_ = std::make_unique<Session>(context_.engine, domain, config_.octets);
  session_->qp = *qp;
  cm::ConnectionParameters p = context_.defaults;
  p.qp = *qp;
  p.access_flags = Access::kRemoteRead | Access::kRemoteWrite;
  p.path_mtu = config_.path_mtu;
  p.service_type = config_.service_type;
  const auto connection = context_.connections.connect(
      now, {.source_port = config_.own_port, .source = config_.own, .destination = config_.server}, cm::PortSpace::kTcp,
      config_.server_port, p);
  if (!connection) {
    fail(now, Failure::kNotStarted);
    return forget();
  }
  session_->connection = *connection;
  state_ = State::kConnects;
  for (std::uint64_t i = 0; i < ServiceContext::kMostReceives; ++i) post_receive(now, i);
}

bool RpingClient::on_event(Instant now, const cm::Event& event) {
  if (session_ == nullptr || event.qp != session_->qp) return false;
  switch (event.type) {
    case cm::EventType::kEstablished:
      ++counters_.connections;
      ++counters_.open;
      begin_ping(now);
      break;
    case cm::EventType::kRejected:
      reason_ = event.reason;
      not_connected(now, Failure::kRejected);
      break;
    case cm::EventType::kUnreachable:
      not_connected(now, Failure::kUnreachable);
      break;
    case cm::EventType::kDisconnected:
      if (state_ == State::kLeaves) {
        state_ = State::kDone;
        ended_ = now;
        deadline_ = Instant::never();
        --counters_.open;
      }
      fail(now, Failure::kDisconnected);
      break;
    case cm::EventType::kTimewaitExit:
      forget();
      break;
    case cm::EventType::kConnectRequest:
    case cm::EventType::kResponse:  // not of a manager that has an engine
    case cm::EventType::kLookUp:    // udaddy has a service of its own
    case cm::EventType::kFound:
      break;
  }
  return true;
}

bool RpingClient::on_completion(Instant now, const Completion& c) {
  if (session_ == nullptr || c.qp != session_->qp) return false;
  if (state_ != State::kOffersPing && state_ != State::kOffersSink) return true;
  if (c.status == WcStatus::kWrFlushErr) return true;  // of what ends the connection there is an event
  if (!c.ok()) {
    counters_.status = c.status;
    fail(now, Failure::kError);
  } else if (c.opcode == WcOpcode::kRecv) {
    if (c.octets != RpingMessage::kOctets) {
      fail(now, Failure::kViolation);
    } else {
      post_receive(now, c.wr_id);
      on_message(now);
    }
  }
  return true;
}

bool RpingClient::on_invalid_request(Instant now, QpNumber qp) {
  if (session_ == nullptr || qp != session_->qp) return false;
  fail(now, Failure::kViolation);
  return true;
}

void RpingClient::begin_ping(Instant now) {
  const bool ends = (config_.count > 0 && ping_ == config_.count) || now >= config_.stop;
  if (ends) return leave(now);
  began_ = now;
  write_ping(session_->source.octets(), ping_);
  std::ranges::fill(session_->sink.octets(), std::byte{});
  offer(now, State::kOffersPing, kOfferAt, session_->source);
}

void RpingClient::offer(Instant now, State next, std::size_t offset, const ServiceMemory& memory) {
  ServiceMemory& messages = session_->messages;
  state_ = next;
  deadline_ = now + config_.patience;
  write_rping(messages.octets().data() + offset, {memory.address(), memory.key(), config_.octets});
  if (!context_.engine.post_send(now, session_->qp, {.sges = {messages.piece(offset, RpingMessage::kOctets)}}))
    fail(now, Failure::kViolation);
}

void RpingClient::on_message(Instant now) {
  if (state_ == State::kOffersPing) return offer(now, State::kOffersSink, kOfferAt, session_->sink);
  if (is_ping(session_->sink.octets(), ping_)) {
    ++counters_.rounds;
    counters_.octets += config_.octets;
  } else {
    ++counters_.corrupted;
  }
  counters_.last = now;
  latency_.record(static_cast<std::uint64_t>((now - began_).ps));
  ++ping_;
  begin_ping(now);
}

void RpingClient::post_receive(Instant now, std::uint64_t place) {
  static_cast<void>(context_.engine.post_recv(
      now, session_->qp,
      {.wr_id = place, .sges = {session_->messages.piece(place * RpingMessage::kOctets, RpingMessage::kOctets)}}));
}

void RpingClient::leave(Instant now) {
  state_ = State::kLeaves;
  deadline_ = now + kBeforeLeaving;
}

void RpingClient::fail(Instant now, Failure why) {
  if (state_ == State::kDone || state_ == State::kFailed) return;
  state_ = State::kFailed;
  ended_ = now;
  failure_ = why;
  deadline_ = Instant::never();
  if (why == Failure::kError) ++counters_.failed;
  if (why == Failure::kViolation) ++counters_.violations;
  if (counters_.open > 0) --counters_.open;
  if (session_ != nullptr) static_cast<void>(context_.connections.disconnect(now, session_->connection));
}

void RpingClient::not_connected(Instant now, Failure why) {
  ++attempts_failed_;
  if (config_.retry_after > Duration{}) {
    state_ = State::kWaits;
    deadline_ = now + config_.retry_after;
  } else {
    fail(now, why);
  }
  forget();
}

void RpingClient::forget() {
  context_.engine.destroy_qp(session_->qp);
  session_.reset();
}

}  // namespace railyard::roce
