// The connections of a service that peers connect to by rdma_cm: each has a QP, memory of its own and, in a class
// derived from ServerSession, what its protocol needs to know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "transports/roce/services/service_context.h"
#include "transports/roce/services/service_counters.h"

namespace railyard::roce {

struct ServerSession {
  cm::ConnectionId connection{};
  QpNumber qp{};
  bool open = false;   // established
  bool ended = false;  // its QP may not be used again yet
};

// `Session` derives from ServerSession and is made of (Engine&, ProtectionDomain).
template <class Session>
class ServerSessions {
 public:
  // Listens. At most `most` connections at a time, those that have ended and whose QPs may not be used again yet
  // included. `context` and `counters` outlive it.
  ServerSessions(ServiceContext& context, ServiceCounters& counters, std::size_t most, std::uint16_t port)
      : context_(context), counters_(counters), most_(most) {
    context_.connections.listen(cm::PortSpace::kTcp, port);
  }

  // nullptr: `qp` is not of this service.
  Session* find(QpNumber qp) noexcept {
    const auto found = sessions_.find(qp.value);
    return found == sessions_.end() ? nullptr : found->second.get();
  }

  // Accepts a kConnectRequest: its session, which posts its receives now. nullptr: it was refused for want of room, or
  // is gone already. `access`: what the peer may do.
  Session* on_request(Instant now, const cm::Event& request, AccessSet access = {}) {
    const ProtectionDomain domain{context_.next_domain++};
    const auto qp = sessions_.size() < most_ ? create_service_qp(context_, domain) : std::nullopt;
    if (!qp) {
      ++counters_.refused;
      static_cast<void>(context_.connections.reject(now, request.connection, {}, cm::RejReason::kNoResources));
      return nullptr;
    }
    cm::ConnectionParameters parameters = context_.defaults;
    parameters.qp = *qp;
    parameters.access_flags = access;
    if (!context_.connections.accept(now, request.connection, parameters)) {
      // It was rejected, or is gone already.
      ++counters_.refused;
      context_.engine.destroy_qp(*qp);
      return nullptr;
    }
    auto session = std::make_unique<Session>(context_.engine, domain);
    session->connection = request.connection;
    session->qp = *qp;
    return sessions_.emplace(qp->value, std::move(session)).first->second.get();
  }

  // Any other event. False: of a QP that is not of this service.
  bool on_event(Instant now, const cm::Event& event) {
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
      case cm::EventType::kResponse:  // not of a manager that has an engine
      case cm::EventType::kLookUp:    // udaddy has a service of its own
      case cm::EventType::kFound:
        break;
    }
    return true;
  }

  // Whether there is nothing to be done about a completion of `s`: it has ended, or ends by this error.
  bool ends_by(Instant now, Session& s, const Completion& c) {
    if (s.ended || c.status == WcStatus::kWrFlushErr) return true;  // of what ends the connection there is an event
    if (c.ok()) return false;
    if (counters_.failed++ == 0) counters_.status = c.status;
    end(now, s);
    return true;
  }

  // What the peer asked of the QP was invalid, and the QP is in error. False: it is not of this service.
  bool on_invalid_request(Instant now, QpNumber qp) {
    Session* const s = find(qp);
    if (s != nullptr && !s->ended) violated(now, *s);
    return s != nullptr;
  }

  // Whose connection still stands is told; its QP goes into error, and what was posted is flushed.
  void end(Instant now, Session& s) {
    if (s.ended) return;
    s.ended = true;
    if (std::exchange(s.open, false)) --counters_.open;
    static_cast<void>(context_.connections.disconnect(now, s.connection));
  }
  // The peer did not keep to the protocol.
  void violated(Instant now, Session& s) {
    ++counters_.violations;
    end(now, s);
  }

 private:
  ServiceContext& context_;
  ServiceCounters& counters_;
  std::size_t most_;
  std::map<std::uint32_t, std::unique_ptr<Session>> sessions_;  // by QP number
};

}  // namespace railyard::roce
