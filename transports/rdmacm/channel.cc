// Events: what happened waits in the channel of its ID until the application takes it.
//
// A channel's descriptor is an eventfd that counts what waits (EFD_SEMAPHORE): it can be polled, and whether it blocks is
// the application's choice.
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "transports/rdmacm/devices.h"
#include "transports/rdmacm/objects.h"

namespace railyard::rdmacm {
namespace {

// Of all channels: what waits there, whose channel is which, who has acknowledged what.
std::mutex& queue_lock() {
  static auto* const lock = new std::mutex;
  return *lock;
}

void count(int fd) noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(::write(fd, &one, sizeof one));
}

// One less, unless who took it is on its way.
void discount(int fd) noexcept {
  pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
  std::uint64_t one;
  if (::poll(&readable, 1, 0) == 1) static_cast<void>(::read(fd, &one, sizeof one));
}

bool concerns(const Event& e, const Id& id) noexcept { return e.event.id == &id.id || e.event.listen_id == &id.id; }

// With the lock held.
std::vector<std::unique_ptr<Event>> take_from(Channel& channel, const Id& id) {
  std::vector<std::unique_ptr<Event>> out;
  std::deque<std::unique_ptr<Event>> rest;
  for (auto& e : channel.waiting) {
    if (concerns(*e, id)) {
      discount(channel.channel.fd);
      out.push_back(std::move(e));
    } else {
      rest.push_back(std::move(e));
    }
  }
  channel.waiting = std::move(rest);
  return out;
}

void enqueue(Channel& channel, std::unique_ptr<Event> event) {
  channel.waiting.push_back(std::move(event));
  count(channel.channel.fd);
}

// What the application is told is made of what happened. False: nothing, this time.
bool prepare(Event& e) {
  Id& id = of(e.event.id);
  rdma_cm_event& event = e.event;
  switch (event.event) {
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
      if (!e.needs_qp || id.id.qp == nullptr) break;
      event.status = -finish_response(id);
      event.event = event.status == 0 ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_ERROR;
      id.response_failed = event.status != 0;
      break;
    case RDMA_CM_EVENT_REJECTED:
      if (id.response_failed) return false;
      to_err(id);
      break;
    case RDMA_CM_EVENT_DISCONNECTED:
      if (id.response_failed) return false;
      break;
    default:
      break;
  }
  const bool datagrams = id.id.ps == RDMA_PS_UDP;
  const auto octets = static_cast<std::uint8_t>(e.private_data.size());
  const void* const data = e.private_data.empty() ? nullptr : e.private_data.data();
  if (datagrams) {
    event.param.ud.private_data = data;
    event.param.ud.private_data_len = octets;
  } else {
    event.param.conn.private_data = data;
    event.param.conn.private_data_len = octets;
  }
  return true;
}

}  // namespace

rdma_event_channel* create_event_channel() {
  if (devices().empty()) return nullptr;
  auto channel = std::make_unique<Channel>();
  channel->channel.fd = ::eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
  if (channel->channel.fd < 0) return nullptr;
  return &channel.release()->channel;
}

void destroy_event_channel(rdma_event_channel* channel) {
  ::close(channel->fd);
  delete &of(channel);
}

void post(Id& id, std::unique_ptr<Event> event) {
  const std::lock_guard lock(queue_lock());
  enqueue(of(id.id.channel), std::move(event));
}

void post(Id& id, rdma_cm_event_type type, int status) {
  auto event = std::make_unique<Event>();
  event->counted = &id;
  event->event.id = &id.id;
  event->event.event = type;
  event->event.status = status;
  post(id, std::move(event));
}

std::vector<std::unique_ptr<Event>> take_out(Id& id) {
  const std::lock_guard lock(queue_lock());
  return take_from(of(id.id.channel), id);
}

int get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  for (;;) {
    std::uint64_t one;
    if (::read(channel->fd, &one, sizeof one) != static_cast<ssize_t>(sizeof one)) return -1;
    std::unique_ptr<Event> e;
    {
      const std::lock_guard lock(queue_lock());
      auto& waiting = of(channel).waiting;
      if (waiting.empty()) continue;  // its ID has gone
      e = std::move(waiting.front());
      waiting.pop_front();
      ++e->counted->taken;
    }
    if (e->event.listen_id != nullptr) --of(e->event.listen_id).waiting;
    if (!prepare(*e)) {
      ack_cm_event(&e.release()->event);
      continue;
    }
    // Requests to a synchronous listener are synchronous, too.
    if (e->event.listen_id != nullptr && of(e->event.listen_id).synchronous)
      if (migrate_id(e->event.id, nullptr) != 0) return -1;
    *event = &e.release()->event;
    return 0;
  }
}

int ack_cm_event(rdma_cm_event* event) {
  if (event == nullptr) return failed(EINVAL);
  const std::unique_ptr<Event> e(reinterpret_cast<Event*>(event));
  const std::lock_guard lock(queue_lock());
  ++e->counted->acknowledged;
  e->counted->all_acknowledged.notify_all();
  return 0;
}

void wait_for_acknowledgements(Id& id) {
  std::unique_lock lock(queue_lock());
  id.all_acknowledged.wait(lock, [&] { return id.taken == id.acknowledged; });
}

int migrate_id(rdma_cm_id* handle, rdma_event_channel* channel) {
  Id& id = of(handle);
  if (id.synchronous && channel == nullptr) return failed(EINVAL);
  const bool becomes_synchronous = channel == nullptr;
  if (becomes_synchronous) {
    channel = create_event_channel();
    if (channel == nullptr) return -1;
  }
  rdma_event_channel* before = nullptr;
  {
    const std::lock_guard lock(queue_lock());
    before = std::exchange(handle->channel, channel);
    for (auto& e : take_from(of(before), id)) enqueue(of(channel), std::move(e));
  }
  if (id.synchronous) {
    if (handle->event != nullptr) ack_cm_event(std::exchange(handle->event, nullptr));
    destroy_event_channel(before);
  }
  id.synchronous = becomes_synchronous;
  return 0;
}

int complete(Id& id) {
  if (!id.synchronous) return 0;
  if (id.id.event != nullptr) ack_cm_event(std::exchange(id.id.event, nullptr));
  if (get_cm_event(id.id.channel, &id.id.event) != 0) return -1;
  const int status = id.id.event->status;
  if (status == 0) return 0;
  if (id.id.event->event == RDMA_CM_EVENT_REJECTED) return failed(ECONNREFUSED);
  return failed(status < 0 ? -status : status);
}

const char* event_str(rdma_cm_event_type event) noexcept {
  static constexpr const char* kNames[] = {
      "RDMA_CM_EVENT_ADDR_RESOLVED",   "RDMA_CM_EVENT_ADDR_ERROR",       "RDMA_CM_EVENT_ROUTE_RESOLVED",
      "RDMA_CM_EVENT_ROUTE_ERROR",     "RDMA_CM_EVENT_CONNECT_REQUEST",  "RDMA_CM_EVENT_CONNECT_RESPONSE",
      "RDMA_CM_EVENT_CONNECT_ERROR",   "RDMA_CM_EVENT_UNREACHABLE",      "RDMA_CM_EVENT_REJECTED",
      "RDMA_CM_EVENT_ESTABLISHED",     "RDMA_CM_EVENT_DISCONNECTED",     "RDMA_CM_EVENT_DEVICE_REMOVAL",
      "RDMA_CM_EVENT_MULTICAST_JOIN",  "RDMA_CM_EVENT_MULTICAST_ERROR",  "RDMA_CM_EVENT_ADDR_CHANGE",
      "RDMA_CM_EVENT_TIMEWAIT_EXIT"};
  const auto i = static_cast<std::size_t>(event);
  return i < std::size(kNames) ? kNames[i] : "UNKNOWN EVENT";
}

}  // namespace railyard::rdmacm
