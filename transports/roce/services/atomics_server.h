// A server of exchanges of atomics (atomics_exchange.h), any number at a time: for peers that want to know whether
// theirs are done right, and have theirs tried.
#pragma once

#include <cstdint>

#include "transports/roce/services/atomics_exchange.h"
#include "transports/roce/services/server_sessions.h"

namespace railyard::roce {

class AtomicsServer {
 public:
  // As ServerSessions.
  AtomicsServer(ServiceContext& context, std::size_t most_sessions, std::uint16_t port = kAtomicsPort);
  ~AtomicsServer();

  std::uint16_t port() const noexcept { return port_; }
  // Rounds and octets: atomics of both ends, of exchanges that were right; corrupted: exchanges that were not.
  const ServiceCounters& counters() const noexcept { return counters_; }
  // The same, told by the process that runs the NIC, taken by others.
  void exchange_figures(StateArchive& archive) { archive(counters_); }

  void on_request(Instant now, const cm::Event& request);
  // False: of a QP that is not of this service.
  bool on_event(Instant now, const cm::Event& event);
  bool on_completion(Instant now, const Completion& completion);
  bool on_invalid_request(Instant now, QpNumber qp);

 private:
  struct Session;

  ServiceContext& context_;
  std::uint16_t port_;
  ServiceCounters counters_;
  ServerSessions<Session> sessions_;
};

}  // namespace railyard::roce
