#include "transports/roce/services/atomics_server.h"

namespace railyard::roce {

struct AtomicsServer::Session : ServerSession {
  Session(Engine& engine, ProtectionDomain domain) : exchange(engine, domain) {}

  AtomicsExchange exchange;
};

AtomicsServer::AtomicsServer(ServiceContext& context, std::size_t most_sessions, std::uint16_t port)
    : context_(context), port_(port), sessions_(context, counters_, most_sessions, port) {}

AtomicsServer::~AtomicsServer() = default;

void AtomicsServer::on_request(Instant now, const cm::Event& request) {
  if (Session* const s = sessions_.on_request(now, request, AtomicsExchange::access())) s->exchange.start(now, s->qp);
}

bool AtomicsServer::on_event(Instant now, const cm::Event& event) { return sessions_.on_event(now, event); }

bool AtomicsServer::on_completion(Instant now, const Completion& c) {
  using State = AtomicsExchange::State;
  Session* const s = sessions_.find(c.qp);
  if (s == nullptr) return false;
  if (sessions_.ends_by(now, *s, c)) return true;
  // Data may come before the confirmation of the connection does.
  if (c.opcode == WcOpcode::kRecv) context_.connections.on_path_established(now, s->qp);
  const State before = s->exchange.state();
  s->exchange.on_completion(now, c);
  const State after = s->exchange.state();
  if (after == before) return true;
  if (after == State::kViolated) sessions_.violated(now, *s);
  if (after == State::kWrong) ++counters_.corrupted;
  if (after == State::kRight) {
    counters_.rounds += s->exchange.atomics();
    counters_.octets += 8 * s->exchange.atomics();
    counters_.last = now;
  }
  return true;
}

bool AtomicsServer::on_invalid_request(Instant now, QpNumber qp) { return sessions_.on_invalid_request(now, qp); }

}  // namespace railyard::roce
