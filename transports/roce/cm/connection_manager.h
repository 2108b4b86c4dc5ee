// Connection management (IBTA Vol 1 chapter 12; roce-and-lossless §6): two ends agree on a connection by datagrams
// between their QPs 1, and each takes a QP of its engine to RTS. Sans-IO: datagrams and instants in, datagrams, events
// and the next deadline out. Gsi (gsi.h) carries the datagrams.
//
//   active                                                     passive
//   connect()          REQ ------------------------------->    kConnectRequest
//   kReqSent                                                   kReqReceived
//   QP in RTS          <------------------------------- REP    accept(): QP in RTS, kRepSent
//   kEstablished       RTU ------------------------------->    kEstablished (or when data comes before)
//   disconnect()       DREQ ------------------------------>    kDisconnected
//   kTimewait          <------------------------------ DREP    kTimewait
//
// Without an engine the user takes QPs through their states itself: the REP is told by kResponse, and establish() sends
// the RTU. So does rdma_cm in programs (transports/rdmacm).
//
// Datagrams (SIDR, IBTA Vol 1 §16.3): look_up() asks which QP takes those for a port.
//
// A REJ may come instead of REP or RTU. What is not answered goes again, at most `max_retries` times. What comes twice
// is answered as it was the first time.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/base/counter.h"
#include "dataplane/base/rng.h"
#include "dataplane/base/state_archive.h"
#include "transports/roce/cm/ip_service.h"
#include "transports/roce/cm/mad_user.h"
#include "transports/roce/cm/messages.h"
#include "transports/roce/engine.h"

namespace railyard::roce::cm {

// A connection at this end: its local communication ID.
using ConnectionId = Id<struct ConnectionTag, std::uint32_t>;

struct CmConfig {
  Seed seed{};                         // of communication IDs and first PSNs
  std::uint64_t ca_guid = 0;           // of this NIC
  // Communication IDs are first_comm_id .. first_comm_id + comm_ids - 1; 0: all there are.
  std::uint32_t first_comm_id = 0;
  std::uint32_t comm_ids = 0;
  std::uint8_t response_timeout = 20;  // 4.096 us * 2^n, 1..31: when a message goes again; Linux has 20, 4.3 s
  std::uint8_t max_retries = 15;       // 0..15
  // How long a connection's IDs and QP are not used again after its end; longer than any packet of it lives.
  Duration timewait = local_ack_timeout(17);
  // The class at the NIC of what is sent with a DSCP: a passive end takes the one that the REQ names. Without it that
  // of `route` is kept.
  std::function<Priority(std::uint8_t dscp)> class_of{};
  // The way from one of our addresses to a peer; nullopt: there is none.
  std::function<std::optional<AddressVector>(const wire::IpAddress& own, const wire::IpAddress& peer)> route{};
};

// Of the packets of a connection: what rdma_cm's TOS says, and its class at the NIC.
struct ServiceType {
  std::uint8_t dscp = 0;  // 0..63
  bool ect = false;
  Priority priority{};
};

// What this end wants of a connection.
struct ConnectionParameters {
  QpNumber qp{};                              // RC or UC, in RESET
  AccessSet access_flags{};                   // what the peer may do
  std::uint8_t responder_resources = 16;      // READs and atomics that it may have outstanding here, at most
  std::uint8_t initiator_depth = 16;          // and that this end wants to have outstanding there
  std::uint8_t retry_count = 7;               // 0..7, of both ends; connect() only
  std::uint8_t rnr_retry_count = 7;           // 0..7, of the peer
  PathMtu path_mtu = PathMtu::k1024;          // connect(): of both ends; accept(): the largest that is taken
  std::uint8_t ack_timeout = 17;              // 0..31, of both ends; connect() only. rdma_cm has 0.5 s on RoCE
  std::uint8_t min_rnr_timer = 12;            // 0..31. rdma_cm leaves it at 0, 655 ms
  std::optional<ServiceType> service_type{};  // connect(): of both ends; nothing: as `route` says
  // Without an engine, which would know:
  QpType type = QpType::kRc;
  bool has_srq = false;
  std::span<const std::byte> private_data{};  // for the peer's application: 56 octets of a REQ, 196 of a REP
};

enum class ConnectError : std::uint8_t {
  kUnknownQp,
  kQpState,  // not RC or UC, or not in RESET
  kUnknownConnection,
  kConnectionState,  // it is not one to be accepted, rejected, disconnected
  kNoRoute,
  kPrivateData,  // more than there is room for
  kPathMtu,      // the peer's is larger than this end takes; it was rejected
  kAttributes,   // the QP does not take them
};
std::string_view name(ConnectError error) noexcept;  // "unknown_qp", ...

enum class EventType : std::uint8_t {
  kConnectRequest,  // passive: accept() or reject() it
  kEstablished,     // the QP is in RTS at both ends
  kRejected,        // by the peer: `reason`
  kUnreachable,     // no answer, max_retries times over; of look_up() also: nobody takes datagrams for the port
  kDisconnected,    // by the peer, or this end's disconnect() is through; the QP is in ERR
  kTimewaitExit,    // the QP may be used again; the ConnectionId is nobody's
  kResponse,        // without an engine, active: take the QP to RTS, then establish() or reject()
  kLookUp,          // a peer asks for the QP of a port that is listened to: answer() it
  kFound            // of look_up(): the QP
};
struct Event {
  EventType type = EventType::kConnectRequest;
  ConnectionId connection{};
  QpNumber qp{};                        // none yet of a kConnectRequest
  RejReason reason{};                   // kRejected
  SidrStatus status{};                  // kUnreachable of look_up(): what the peer said; kValid: nothing
  std::uint32_t remote_qpn = 0;         // kFound
  std::uint32_t q_key = 0;              // kFound
  PortSpace space = PortSpace::kTcp;    // kConnectRequest, kLookUp: of `port`
  std::uint16_t port = 0;               // kConnectRequest, kLookUp: that was asked for
  IpServiceValues addresses{};          // kConnectRequest, kLookUp: of the peer's application and ours
  // Of the peer's application: kConnectRequest, kResponse, kEstablished (active), kRejected, kLookUp, kFound.
  std::vector<std::byte> private_data;
};

// READs and atomics outstanding, at most: what a QP takes.
inline constexpr std::uint8_t kMostDepth = kMostRdAtomic;

// Why a message that came was of no use; none is answered but by a REJ where the standard has one.
enum class Ignored : std::uint8_t {
  kMalformed,          // by reason in CmCounters::malformed
  kUnknownConnection,  // it names none of ours
  kOtherPeer,          // it names one of ours, and comes from somebody else
  kUnexpected,         // not in this state
  kDuplicate,          // answered again
  kRefused,            // a REQ that was answered by a REJ, a SIDR_REQ by a SIDR_REP that says no
  kNoRoute,            // a REQ from an address that there is no way back to
  kCount
};
std::string_view name(Ignored reason) noexcept;  // "malformed", ...

struct CmCounters {
  Counter received;
  Counter taken;
  Counter sent;
  Counter sent_again;  // for want of an answer
  std::array<Counter, static_cast<std::size_t>(Ignored::kCount)> ignored;
  std::array<Counter, static_cast<std::size_t>(Malformed::kCount)> malformed;

  // All of it, to or from another process.
  void exchange(StateArchive& archive) { archive(received, taken, sent, sent_again, ignored, malformed); }
};

class ConnectionManager final : public MadUser {
 public:
  // The engine outlives it.
  ConnectionManager(Engine& engine, CmConfig config) : ConnectionManager(&engine, std::move(config)) {}
  // Without one.
  explicit ConnectionManager(CmConfig config) : ConnectionManager(nullptr, std::move(config)) {}

  // REQs for this port are told by kConnectRequest, SIDR_REQs by kLookUp; those for other ports rejected.
  void listen(PortSpace space, std::uint16_t port) { listeners_.insert(service_id(space, port)); }
  void stop_listening(PortSpace space, std::uint16_t port) { listeners_.erase(service_id(space, port)); }

  // Datagrams for this port go to a UD QP: whoever asks for it is told so (SIDR). Nobody need agree.
  struct DatagramService {
    QpNumber qp{};
    std::uint32_t q_key = 0;
    std::uint64_t asked = 0;  // how often it was told
  };
  void serve_datagrams(std::uint16_t port, QpNumber qp, std::uint32_t q_key) {
    datagram_services_[service_id(PortSpace::kUdp, port)] = {qp, q_key};
  }
  // nullptr: nobody takes any.
  const DatagramService* datagram_service(std::uint16_t port) const noexcept {
    const auto found = datagram_services_.find(service_id(PortSpace::kUdp, port));
    return found == datagram_services_.end() ? nullptr : &found->second;
  }
  // From one of our addresses to a peer; nullopt: there is none.
  std::optional<AddressVector> way(const wire::IpAddress& own, const wire::IpAddress& peer) const {
    return config_.route ? config_.route(own, peer) : std::nullopt;
  }

  // Begins a connection from `addresses.source` to `port` at `addresses.destination`. The engine's QP goes to INIT.
  std::expected<ConnectionId, ConnectError> connect(Instant now, const IpServiceValues& addresses, PortSpace space,
                                                    std::uint16_t port, const ConnectionParameters& parameters);
  // Of a kConnectRequest. The engine's QP goes to RTS.
  std::expected<void, ConnectError> accept(Instant now, ConnectionId connection,
                                           const ConnectionParameters& parameters);
  // Of a kConnectRequest or a kResponse.
  std::expected<void, ConnectError> reject(Instant now, ConnectionId connection, std::span<const std::byte> data = {},
                                           RejReason reason = RejReason::kConsumer);
  // Of a kResponse, with the QP in RTS. No event follows.
  std::expected<void, ConnectError> establish(Instant now, ConnectionId connection);
  // Tells the peer that accept() takes its time, up to 4.096 us * 2^service_timeout.
  std::expected<void, ConnectError> working(Instant now, ConnectionId connection, std::uint8_t service_timeout);
  // Of an established connection. The engine's QP goes to ERR.
  std::expected<void, ConnectError> disconnect(Instant now, ConnectionId connection);
  // The user is gone: the peer is told what it needs to know, once, and no event follows but kTimewaitExit.
  void abandon(Instant now, ConnectionId connection);

  // Asks `addresses.destination` for the QP that takes datagrams for `port` there: 180 octets of private data.
  std::expected<ConnectionId, ConnectError> look_up(Instant now, const IpServiceValues& addresses, std::uint16_t port,
                                                    const std::optional<ServiceType>& service_type,
                                                    std::span<const std::byte> private_data);
  // Of a kLookUp: 136 octets of private data. The ConnectionId is nobody's afterwards.
  std::expected<void, ConnectError> answer(ConnectionId connection, SidrStatus status, QpNumber qp, std::uint32_t q_key,
                                           std::span<const std::byte> private_data);

  // What was agreed on. Holds until the connection is forgotten.
  struct Agreement {
    AddressVector way{};               // to the peer
    std::uint32_t remote_qpn = 0;
    PathMtu path_mtu = PathMtu::k1024;
    std::uint32_t rq_psn = 0;
    std::uint32_t sq_psn = 0;
    std::uint8_t peer_responder_resources = 0;  // as the peer said it in its REQ or REP
    std::uint8_t peer_initiator_depth = 0;
    std::uint8_t ack_timeout = 0;
    std::uint8_t retry_count = 0;
    std::uint8_t rnr_retry_count = 0;  // of this end
    bool flow_control = false;
    bool peer_has_srq = false;
  };
  // nullopt: there is none of this number, or the peer has not said anything yet.
  std::optional<Agreement> agreement(ConnectionId connection) noexcept;

  void on_mad(Instant now, const wire::IpAddress& from, const wire::IpAddress& to,
              std::span<const std::byte> mad) override;
  // The engine's kPathEstablished: data came before the RTU.
  void on_path_established(Instant now, QpNumber qp);

  // When on_timer() wants to be called; never(): not at all.
  Instant deadline() const noexcept { return timers_.empty() ? Instant::never() : timers_.begin()->first; }
  void on_timer(Instant now);

  std::optional<Outgoing> next() override;
  // What happened since the last call.
  std::vector<Event> take_events() { return std::exchange(events_, {}); }

  const CmCounters& counters() const noexcept { return counters_; }
  // The same, and how often datagram services were asked for: told by the process that runs the NIC, taken by others.
  void exchange_figures(StateArchive& archive) {
    archive(counters_);
    for (auto& [id, service] : datagram_services_) archive(service.asked);
  }
  // Those that are not forgotten yet, in timewait, too.
  std::size_t size() const noexcept { return connections_.size(); }

 private:
  enum class State : std::uint8_t {
    kReqSent,
    kReqReceived,
    kRepSent,
    kRepReceived,
    kEstablished,
    kDreqSent,
    kTimewait,
    kSidrReqSent,
    kSidrReqReceived
  };
  struct Connection {
    ConnectionId id{};
    State state = State::kReqSent;
    bool active = false;
    QpNumber qp{};
    AddressVector av{};                // to the peer
    std::uint32_t remote_comm_id = 0;  // 0: not known
    std::uint32_t remote_qpn = 0;
    ConnectionParameters parameters{};  // without private data
    Req req{};
    Rep rep{};                       // that came
    std::uint32_t psn = 0;           // that the peer begins with
    std::optional<Datagram> sent{};  // last, for when it goes again
    std::uint8_t retries = 0;        // left
    Instant deadline = Instant::never();
  };
  using PeerKey = std::pair<wire::IpAddress, std::uint32_t>;

  ConnectionManager(Engine* engine, CmConfig config);

  Connection* find(ConnectionId id) noexcept;
  // The range's `n`th communication ID.
  std::uint32_t comm_id(std::uint32_t n) const noexcept {
    return config_.comm_ids == 0 ? n : config_.first_comm_id + n % config_.comm_ids;
  }
  Connection& add(const AddressVector& av);
  std::optional<AddressVector> way_of(const IpServiceValues& addresses,
                                      const std::optional<ServiceType>& service_type) const;
  void forget(Connection& c);
  void set_timer(Connection& c, Instant at);
  void send(const AddressVector& av, const Datagram& datagram);
  void send_and_wait(Instant now, Connection& c, const Datagram& datagram);
  void send_last(Connection& c);
  void send_rej(const AddressVector& av, std::uint64_t transaction, std::uint32_t own, std::uint32_t peers,
                std::uint8_t message, RejReason reason, std::span<const std::byte> data = {});
  std::optional<ConnectError> check(const ConnectionParameters& parameters) const;
  bool to_init(Instant now, const Connection& c);
  bool to_rts(Instant now, const Connection& c, const QpAttributes& a);
  void to_err(Instant now, const Connection& c);
  bool is_uc(const ConnectionParameters& p) const noexcept;
  void tell(EventType type, const Connection& c, std::span<const std::byte> data = {}, RejReason reason = {});
  void established(Connection& c, std::span<const std::byte> data = {});
  void ended(Instant now, Connection& c, EventType type);
  void give_up(Instant now, Connection& c);
  std::uint64_t transaction() noexcept { return ++transaction_; }

  // nullopt: taken.
  std::optional<Ignored> on_message(Instant now, const AddressVector& back, std::uint64_t transaction, const Req& req);
  std::optional<Ignored> on_message(const AddressVector& back, std::uint64_t transaction, const SidrReq& req);
  std::optional<Ignored> on_message(const AddressVector& back, const SidrRep& rep);
  std::optional<Ignored> on_message(Instant now, Connection& c, std::uint64_t transaction, const Mra& mra);
  std::optional<Ignored> on_message(Instant now, Connection& c, std::uint64_t transaction, const Rej& rej);
  std::optional<Ignored> on_message(Instant now, Connection& c, std::uint64_t transaction, const Rep& rep);
  std::optional<Ignored> on_message(Instant now, Connection& c, std::uint64_t transaction, const Rtu& rtu);
  std::optional<Ignored> on_message(Instant now, Connection& c, std::uint64_t transaction, const Dreq& dreq);
  std::optional<Ignored> on_message(Instant now, Connection& c, std::uint64_t transaction, const Drep& drep);
  template <class M>
  std::optional<Ignored> on_reply(Instant now, const AddressVector& back, std::uint64_t transaction, const M& message);

  Engine* engine_;  // nullptr: there is none
  CmConfig config_;
  RngStream rng_;
  std::uint64_t transaction_ = 0;
  std::uint32_t next_id_ = 0;
  std::set<std::uint64_t> listeners_;
  std::map<std::uint64_t, DatagramService> datagram_services_;  // by service ID
  std::map<std::uint32_t, Connection> connections_;
  std::map<PeerKey, std::uint32_t> by_remote_id_;   // passive ones, for REQs that come twice
  std::map<PeerKey, std::uint32_t> by_remote_qpn_;  // established ones, for stale ones
  std::map<std::uint32_t, std::uint32_t> by_qp_;
  std::set<std::pair<Instant, std::uint32_t>> timers_;
  std::deque<Outgoing> outgoing_;
  std::vector<Event> events_;
  CmCounters counters_;
};

}  // namespace railyard::roce::cm
