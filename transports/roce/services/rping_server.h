// A server that rping's clients talk to, any number at a time: it READs each ping, checks it, and WRITEs it back.
#pragma once

#include <cstdint>

#include "transports/roce/services/rping_message.h"
#include "transports/roce/services/server_sessions.h"

namespace railyard::roce {

class RpingServer {
 public:
  // As ServerSessions.
  RpingServer(ServiceContext& context, std::size_t most_sessions, std::uint16_t port = kRpingPort);
  ~RpingServer();

  std::uint16_t port() const noexcept { return port_; }
  const ServiceCounters& counters() const noexcept { return counters_; }
  // The same, told by the process that runs the NIC, taken by others.
  void exchange_figures(StateArchive& archive) { archive(counters_); }

  // A kConnectRequest for port(): accepts it, or refuses for want of room.
  void on_request(Instant now, const cm::Event& request);
  // Any other event, or a completion. False: of a QP that is not of this service.
  bool on_event(Instant now, const cm::Event& event);
  bool on_completion(Instant now, const Completion& completion);
  // What the peer asked of the QP was invalid, and the QP is in error.
  bool on_invalid_request(Instant now, QpNumber qp);

 private:
  enum class State : std::uint8_t { kAwaitsPing, kReads, kAwaitsSink };
  struct Session;

  void on_message(Instant now, Session& s, const RpingOffer& offer);
  void post(Instant now, Session& s, const SendWr& wr);
  void post_receive(Instant now, Session& s, std::uint64_t place);

  ServiceContext& context_;
  std::uint16_t port_;
  ServiceCounters counters_;
  ServerSessions<Session> sessions_;
};

}  // namespace railyard::roce
