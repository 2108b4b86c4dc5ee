// What rdma_* calls hand out: librdmacm's public structures, and behind each what this library knows of it.
//
// Locks: a NIC's (Device::management) before the queue lock (channel.cc); a call of verbs takes a NIC's itself and is
// made with neither held.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <rdma/rdma_cma.h>

#include "transports/rdmacm/cm_nic.h"

namespace railyard::rdmacm {

struct Id;

// Something that happened to an ID, until the application has acknowledged it.
struct Event {
  rdma_cm_event event{};  // first: the application has its address
  Id* counted = nullptr;  // whose acknowledgement it is: event.id, of a request its listener
  std::vector<std::byte> private_data{};
  bool needs_qp = false;  // a response: before the application hears of it, the QP goes to RTS
};

struct Channel {
  rdma_event_channel channel{};  // first. Its descriptor counts the events that wait
  std::deque<std::unique_ptr<Event>> waiting{};
};

enum class IdState : std::uint8_t {
  kIdle,
  kBound,
  kAddressResolved,
  kRouteResolved,
  kListening,
  kConnecting,   // REQ or SIDR_REQ sent
  kResponse,     // REP received
  kRequested,    // of a listener: REQ or SIDR_REQ received
  kAccepted,     // REP sent
  kConnected,
  kDisconnected  // ended, rejected or unreachable
};

struct Id {
  rdma_cm_id id{};  // first
  IdState state = IdState::kIdle;
  bool synchronous = false;  // made without a channel: calls wait for what they cause
  Device* device = nullptr;  // it is bound to; nullptr: none, or to all of them
  std::optional<roce::cm::ConnectionId> connection{};
  IpServiceValues addresses{};  // of a connection, this end's first

  // A port of this process's own, on these devices.
  std::uint16_t port = 0;
  std::vector<Device*> port_of{};

  // Options.
  std::optional<std::uint8_t> tos{};
  std::optional<std::uint8_t> ack_timeout{};
  bool v6_only = false;

  // Begins a connection to the peer; again, while nobody listens there and this has not passed.
  std::function<std::expected<roce::cm::ConnectionId, roce::cm::ConnectError>(Instant now)> begin{};
  Instant refused_from = Instant::never();

  // What the ends agreed on.
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::optional<roce::cm::ConnectionManager::Agreement> agreement{};

  // Of a listener.
  int backlog = 0;
  std::atomic<int> waiting = 0;  // requests that the application has not taken

  // Of rdma_create_ep(): what requests get.
  std::optional<ibv_qp_init_attr> qp_of_requests{};
  ibv_pd* pd_of_requests = nullptr;

  bool made_send_cq = false, made_recv_cq = false;
  bool response_failed = false;  // the application has heard; what the peer says of it is of no interest
  ibv_sa_path_rec path{};

  // Events that the application has taken and acknowledged; by the queue lock.
  std::uint32_t taken = 0, acknowledged = 0;
  std::condition_variable all_acknowledged{};
};

inline Id& of(rdma_cm_id* id) noexcept { return *reinterpret_cast<Id*>(id); }
inline PortSpace space_of(const Id& id) noexcept { return id.id.ps == RDMA_PS_TCP ? PortSpace::kTcp : PortSpace::kUdp; }
inline Channel& of(rdma_event_channel* channel) noexcept { return *reinterpret_cast<Channel*>(channel); }

// -1, and errno.
int failed(int error) noexcept;
// 0, or -1 and the errno of `error`.
int result_of(int error) noexcept;

// ---- The operations, by file. As rdma_cma.h has them; 0, or -1 and errno -----------------------------------------

// channel.cc
rdma_event_channel* create_event_channel();
void destroy_event_channel(rdma_event_channel* channel);
int get_cm_event(rdma_event_channel* channel, rdma_cm_event** event);
int ack_cm_event(rdma_cm_event* event);
int migrate_id(rdma_cm_id* id, rdma_event_channel* channel);
const char* event_str(rdma_cm_event_type event) noexcept;
// For the application.
void post(Id& id, std::unique_ptr<Event> event);
void post(Id& id, rdma_cm_event_type type, int status = 0);
// What waits of `id`, or is a request to it, is taken out and returned.
std::vector<std::unique_ptr<Event>> take_out(Id& id);
void wait_for_acknowledgements(Id& id);
// Of a synchronous ID: waits for the event of what was begun, and returns what came of it. Else 0.
int complete(Id& id);

// id.cc
int create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context, rdma_port_space ps);
int destroy_id(rdma_cm_id* id);
int set_option(rdma_cm_id* id, int level, int option, const void* value, std::size_t octets);
// A new one of a listener's.
Id* make_request_id(Id& listener);
void forget(Id& id);

// resolve.cc
int bind_addr(rdma_cm_id* id, sockaddr* address);
int resolve_addr(rdma_cm_id* id, sockaddr* source, sockaddr* destination, int timeout_ms);
int resolve_route(rdma_cm_id* id, int timeout_ms);
void bind_to(Id& id, Device& device) noexcept;
void release_port(Id& id);
// Fills in what the public structure says of addresses and path.
void set_addresses(Id& id, const IpServiceValues& addresses, std::uint16_t peer_port) noexcept;

// connect.cc
int connect(rdma_cm_id* id, const rdma_conn_param* param);
int establish(rdma_cm_id* id);
int listen(rdma_cm_id* id, int backlog);
int get_request(rdma_cm_id* listener, rdma_cm_id** id);
int accept(rdma_cm_id* id, const rdma_conn_param* param);
int reject(rdma_cm_id* id, const void* private_data, std::uint8_t octets, roce::cm::RejReason reason);
int disconnect(rdma_cm_id* id);
int notify(rdma_cm_id* id, ibv_event_type event);
// The QP of an ID that got its response goes to RTS, and the peer hears of it. 0, or an errno.
int finish_response(Id& id);

// queue_pair.cc
int create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* attr);
int create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* attr);
void destroy_qp(rdma_cm_id* id);
int create_srq(rdma_cm_id* id, ibv_pd* pd, ibv_srq_init_attr* attr);
void destroy_srq(rdma_cm_id* id);
int init_qp_attr(rdma_cm_id* id, ibv_qp_attr* attr, int* mask);
// 0, or an errno.
int to_rts(Id& id);
void to_err(Id& id) noexcept;
ibv_ah_attr way(const Id& id, const roce::AddressVector& av) noexcept;

// endpoint.cc
int create_ep(rdma_cm_id** id, rdma_addrinfo* info, ibv_pd* pd, ibv_qp_init_attr* attr);
void destroy_ep(rdma_cm_id* id);
int getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints, rdma_addrinfo** result);
void freeaddrinfo(rdma_addrinfo* info);

}  // namespace railyard::rdmacm
