// A server that rping's clients talk to, any number at a time: it READs each ping, checks it, and WRITEs it back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "transports/roce/services/rping_message.h"
#include "transports/roce/services/service_context.h"
#include "transports/roce/services/service_counters.h"

namespace railyard::roce {

class RpingServer {
 public:
  // Listens. At most `most_sessions` connections at a time, those that have ended and whose QPs may not be used again
  // yet included. `context` outlives it.
  RpingServer(ServiceContext& context, std::size_t most_sessions, std::uint16_t port = kRpingPort);
  ~RpingServer();

  std::uint16_t port() const noexcept { return port_; }
  const ServiceCounters& counters() const noexcept { return counters_; }

  // A kConnectRequest for port(): accepts it, or refuses for want of room.
  void on_request(Instant now, const cm::Event& request);
  // Any other event, or a completion. False: of a QP that is not of this service.
  bool on_event(Instant now, const cm::Event& event);
  bool on_completion(Instant now, const Completion& completion);
  // What the peer asked of the QP was invalid, and the QP is in error.
  bool on_invalid_request(Instant now, QpNumber qp);

 private:
  enum class State : std::uint8_t { kAwaitsPing, kReads, kAwaitsSink, kEnded };
  struct Session;

  void on_message(Instant now, Session& s, const RpingOffer& offer);
  void post(Instant now, Session& s, const SendWr& wr);
  void post_receive(Instant now, Session& s, std::uint64_t place);
  void end(Instant now, Session& s);
  void violated(Instant now, Session& s);

  ServiceContext& context_;
  std::size_t most_sessions_;
  std::uint16_t port_;
  std::map<std::uint32_t, std::unique_ptr<Session>> sessions_;  // by QP number
  ServiceCounters counters_;
};

}  // namespace railyard::roce
