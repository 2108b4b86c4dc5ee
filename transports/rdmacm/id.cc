// IDs: made, destroyed, their options.
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "transports/rdmacm/devices.h"
#include "transports/rdmacm/objects.h"

namespace railyard::rdmacm {

int failed(int error) noexcept {
  errno = error;
  return -1;
}

int result_of(int error) noexcept { return error == 0 ? 0 : failed(error); }

int create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context, rdma_port_space ps) {
  if (devices().empty()) return -1;
  if (ps != RDMA_PS_TCP && ps != RDMA_PS_UDP) return failed(EPROTONOSUPPORT);  // IPoIB, InfiniBand's own
  auto made = std::make_unique<Id>();
  made->synchronous = channel == nullptr;
  if (channel == nullptr) channel = create_event_channel();
  if (channel == nullptr) return -1;
  made->id.channel = channel;
  made->id.context = context;
  made->id.ps = ps;
  made->id.qp_type = ps == RDMA_PS_TCP ? IBV_QPT_RC : IBV_QPT_UD;
  *id = &made.release()->id;
  return 0;
}

// Called by the NIC's thread: no lock but the NIC's is held.
Id* make_request_id(Id& listener) {
  auto made = std::make_unique<Id>();
  made->id.channel = listener.id.channel;
  made->id.context = listener.id.context;
  made->id.ps = listener.id.ps;
  made->id.qp_type = listener.id.qp_type;
  made->tos = listener.tos;
  return made.release();
}

namespace {

void leave(Id& id, Device& device) {
  const std::lock_guard lock(device.management->mutex());
  if (id.state == IdState::kListening) device.cm->stop_listening(id, space_of(id), id.port);
  if (id.device == &device) device.cm->give_up(id);
  if (!id.connection || id.device != &device) return;
  device.cm->remove(*id.connection);
  device.cm->manager().abandon(device.management->now(), *id.connection);
  id.connection.reset();
  device.management->run();
}

}  // namespace

void forget(Id& id) {
  for (Device* const d : id.port_of) leave(id, *d);
  if (id.device != nullptr) leave(id, *id.device);
  for (const auto& e : take_out(id))
    // Requests that nobody has taken go with their listener.
    if (e->event.listen_id == &id.id) {
      Id& request = of(e->event.id);
      forget(request);
      delete &request;
    }
  release_port(id);
}

int destroy_id(rdma_cm_id* handle) {
  Id& id = of(handle);
  forget(id);
  if (handle->event != nullptr) ack_cm_event(std::exchange(handle->event, nullptr));
  wait_for_acknowledgements(id);
  if (id.synchronous) destroy_event_channel(handle->channel);
  delete &id;
  return 0;
}

int set_option(rdma_cm_id* handle, int level, int option, const void* value, std::size_t octets) {
  Id& id = of(handle);
  if (level != RDMA_OPTION_ID) return failed(ENOSYS);  // paths of InfiniBand
  const auto get = [&](auto& to) {
    if (value == nullptr || octets != sizeof to) return failed(EINVAL);
    std::memcpy(&to, value, sizeof to);
    return 0;
  };
  std::uint8_t octet = 0;
  int number = 0;
  switch (option) {
    case RDMA_OPTION_ID_TOS:
      if (get(octet) != 0) return -1;
      id.tos = octet;
      return 0;
    case RDMA_OPTION_ID_ACK_TIMEOUT:
      if (get(octet) != 0) return -1;
      if (octet > 31) return failed(EINVAL);
      id.ack_timeout = octet;
      return 0;
    case RDMA_OPTION_ID_AFONLY:
      if (get(number) != 0) return -1;
      id.v6_only = number != 0;
      return 0;
    case RDMA_OPTION_ID_REUSEADDR:  // ports are free at once when their ID has gone
      return get(number);
    default:
      return failed(ENOSYS);
  }
}

}  // namespace railyard::rdmacm
