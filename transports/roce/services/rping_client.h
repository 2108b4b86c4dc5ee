// A client that talks to rping's servers: connects, has the server READ pings and WRITE them back, compares, and
// disconnects.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "transports/roce/services/rping_message.h"
#include "transports/roce/services/service_context.h"
#include "transports/roce/services/service_counters.h"

namespace railyard::roce {

struct RpingClientConfig {
  std::uint64_t id = 0;  // of the whole run
  wire::IpAddress own;
  wire::IpAddress server;
  std::uint16_t own_port = 0;
  std::uint16_t server_port = kRpingPort;
  std::uint32_t octets = 100;  // of a ping, kLeastPing..kMostPing
  std::uint64_t count = 0;     // pings; 0: no end
  PathMtu path_mtu = PathMtu::k1024;
  std::optional<cm::ServiceType> service_type{};  // nothing: as the way to the server says
  Instant start{};
  Instant stop = Instant::never();  // no ping begins at or after this
  // Without an answer from the server for so long, the client gives it up; rping itself would wait for ever.
  Duration patience{30'000'000'000'000};
  // Rejected or not answered, a request for a connection is made again after so long; 0: it is not.
  Duration retry_after{};
};

class RpingClient {
 public:
  enum class State : std::uint8_t { kWaits, kConnects, kOffersPing, kOffersSink, kLeaves, kDone, kFailed };
  // Why it is kFailed.
  enum class Failure : std::uint8_t {
    kNone,
    kNotStarted,   // no QP, or no way to the server
    kRejected,     // counters().reason
    kUnreachable,  // nobody answers the request for a connection
    kError,        // a completion: counters().status
    kViolation,    // what the server said is not rping's
    kNoAnswer,     // it says nothing any more
    kDisconnected  // by the server, before the end
  };

  // `context` outlives it.
  RpingClient(ServiceContext& context, const RpingClientConfig& config);
  ~RpingClient();

  const RpingClientConfig& config() const noexcept { return config_; }
  const ServiceCounters& counters() const noexcept { return counters_; }
  State state() const noexcept { return state_; }
  Failure failure() const noexcept { return failure_; }
  cm::RejReason reason() const noexcept { return reason_; }  // kRejected; of the last time
  // How often a connection was asked for and did not come to be.
  std::uint64_t attempts_failed() const noexcept { return attempts_failed_; }
  // When it was done, or failed; never(): it goes on.
  Instant ended() const noexcept { return ended_; }
  // Of pings: from the offer to when it is back; ps.
  const Histogram& latency() const noexcept { return latency_; }
  // All of these, told by the process that runs the NIC, taken by others.
  void exchange_figures(StateArchive& archive);

  void stop_at(Instant at) noexcept { config_.stop = at < config_.stop ? at : config_.stop; }

  // When on_timer() wants to be called; never(): not at all.
  Instant deadline() const noexcept { return deadline_; }
  void on_timer(Instant now);
  // False: of a QP that is not this client's.
  bool on_event(Instant now, const cm::Event& event);
  bool on_completion(Instant now, const Completion& completion);
  // What the server asked of the QP was invalid, and the QP is in error.
  bool on_invalid_request(Instant now, QpNumber qp);

 private:
  struct Session;

  void connect(Instant now);
  void begin_ping(Instant now);
  void offer(Instant now, State next, std::size_t offset, const ServiceMemory& memory);
  void on_message(Instant now);
  void post_receive(Instant now, std::uint64_t place);
  void leave(Instant now);
  void fail(Instant now, Failure why);
  void not_connected(Instant now, Failure why);
  void forget();

  ServiceContext& context_;
  RpingClientConfig config_;
  State state_ = State::kWaits;
  Failure failure_ = Failure::kNone;
  Instant ended_ = Instant::never();
  cm::RejReason reason_{};
  Instant deadline_;
  Instant began_{};  // this ping
  std::uint64_t ping_ = 0;
  std::uint64_t attempts_failed_ = 0;
  ServiceCounters counters_;
  Histogram latency_;
  std::unique_ptr<Session> session_;
};

std::string_view name(RpingClient::State state) noexcept;      // "waits", "connects", ...
std::string_view name(RpingClient::Failure failure) noexcept;  // "rejected", ...; empty: none

}  // namespace railyard::roce
