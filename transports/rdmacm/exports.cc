// rdma_*, as programs call them. This library stands before librdmacm (LD_PRELOAD): in a program that is in no lab each
// call goes on to it.
#include <cerrno>
#include <cstdlib>
#include <new>
#include <utility>

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>

#include "transports/rdmacm/addresses.h"
#include "transports/rdmacm/devices.h"
#include "transports/rdmacm/names.h"
#include "transports/rdmacm/objects.h"

namespace railyard::rdmacm {
namespace {

// librdmacm's own. A program may have loaded it where RTLD_NEXT does not look (dlopen).
void* next(const char* name) {
  if (void* const found = ::dlsym(RTLD_NEXT, name); found != nullptr) return found;
  static void* const library = ::dlopen("librdmacm.so.1", RTLD_LAZY);
  return library != nullptr ? ::dlsym(library, name) : nullptr;
}

template <class R>
R nothing() noexcept {
  errno = ENOSYS;
  if constexpr (std::is_pointer_v<R>)
    return nullptr;
  else if constexpr (std::is_void_v<R>)
    return;
  else
    return static_cast<R>(-1);
}

template <class R, class... A>
R pass_on(const char* name, R (*)(A...), std::type_identity_t<A>... arguments) {
  const auto function = reinterpret_cast<R (*)(A...)>(next(name));
  return function != nullptr ? function(arguments...) : nothing<R>();
}

bool in_lab() { return !lab_folder().empty(); }

// A thread that is cancelled (pthread_cancel) unwinds, which must not happen within this library: it waits until the call
// is over.
class Uncancelled {
 public:
  Uncancelled() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { ::pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// Where a thread that waits for events may be cancelled. False: a signal came.
bool wait_for_event(int fd) {
  if ((::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0) return true;
  pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&readable, 1, -1) >= 0;
}

// No exception leaves.
template <class F>
auto guarded(F&& call, decltype(call()) otherwise) noexcept {
  const Uncancelled until_the_end;
  try {
    return call();
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
  } catch (...) {
    errno = EIO;
  }
  return otherwise;
}

__be16 port_in(const sockaddr* address) noexcept {
  const auto read = rdmacm::read(address);
  return ::htons(read ? read->port : std::uint16_t{0});
}

}  // namespace
}  // namespace railyard::rdmacm

namespace cm = railyard::rdmacm;

#define RAILYARD_EXPORT extern "C" [[gnu::visibility("default")]]
// In no lab: librdmacm's.
#define RAILYARD_OR_ELSE(name, ...) \
  if (!cm::in_lab()) return cm::pass_on(#name, &name __VA_OPT__(, ) __VA_ARGS__)

RAILYARD_EXPORT rdma_event_channel* rdma_create_event_channel() {
  RAILYARD_OR_ELSE(rdma_create_event_channel);
  return cm::guarded([] { return cm::create_event_channel(); }, nullptr);
}
RAILYARD_EXPORT void rdma_destroy_event_channel(rdma_event_channel* channel) {
  RAILYARD_OR_ELSE(rdma_destroy_event_channel, channel);
  cm::destroy_event_channel(channel);
}
RAILYARD_EXPORT int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context, rdma_port_space ps) {
  RAILYARD_OR_ELSE(rdma_create_id, channel, id, context, ps);
  return cm::guarded([&] { return cm::create_id(channel, id, context, ps); }, -1);
}
RAILYARD_EXPORT int rdma_create_ep(rdma_cm_id** id, rdma_addrinfo* info, ibv_pd* pd, ibv_qp_init_attr* attr) {
  RAILYARD_OR_ELSE(rdma_create_ep, id, info, pd, attr);
  return cm::guarded([&] { return cm::create_ep(id, info, pd, attr); }, -1);
}
RAILYARD_EXPORT void rdma_destroy_ep(rdma_cm_id* id) {
  RAILYARD_OR_ELSE(rdma_destroy_ep, id);
  cm::guarded([&] { return cm::destroy_ep(id), 0; }, 0);
}
RAILYARD_EXPORT int rdma_destroy_id(rdma_cm_id* id) {
  RAILYARD_OR_ELSE(rdma_destroy_id, id);
  return cm::guarded([&] { return cm::destroy_id(id); }, -1);
}
RAILYARD_EXPORT int rdma_bind_addr(rdma_cm_id* id, sockaddr* address) {
  RAILYARD_OR_ELSE(rdma_bind_addr, id, address);
  return cm::guarded([&] { return cm::bind_addr(id, address); }, -1);
}
RAILYARD_EXPORT int rdma_resolve_addr(rdma_cm_id* id, sockaddr* source, sockaddr* destination, int timeout_ms) {
  RAILYARD_OR_ELSE(rdma_resolve_addr, id, source, destination, timeout_ms);
  return cm::guarded([&] { return cm::resolve_addr(id, source, destination, timeout_ms); }, -1);
}
RAILYARD_EXPORT int rdma_resolve_route(rdma_cm_id* id, int timeout_ms) {
  RAILYARD_OR_ELSE(rdma_resolve_route, id, timeout_ms);
  return cm::guarded([&] { return cm::resolve_route(id, timeout_ms); }, -1);
}
RAILYARD_EXPORT int rdma_create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* attr) {
  RAILYARD_OR_ELSE(rdma_create_qp, id, pd, attr);
  return cm::guarded([&] { return cm::create_qp(id, pd, attr); }, -1);
}
RAILYARD_EXPORT int rdma_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* attr) {
  RAILYARD_OR_ELSE(rdma_create_qp_ex, id, attr);
  return cm::guarded([&] { return cm::create_qp_ex(id, attr); }, -1);
}
RAILYARD_EXPORT void rdma_destroy_qp(rdma_cm_id* id) {
  RAILYARD_OR_ELSE(rdma_destroy_qp, id);
  cm::destroy_qp(id);
}
RAILYARD_EXPORT int rdma_create_srq(rdma_cm_id* id, ibv_pd* pd, ibv_srq_init_attr* attr) {
  RAILYARD_OR_ELSE(rdma_create_srq, id, pd, attr);
  return cm::guarded([&] { return cm::create_srq(id, pd, attr); }, -1);
}
// Declared in no header of Debian's.
RAILYARD_EXPORT int rdma_create_srq_ex(rdma_cm_id* id, ibv_srq_init_attr_ex* attr) {
  RAILYARD_OR_ELSE(rdma_create_srq_ex, id, attr);
  if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) != 0 && attr->srq_type != IBV_SRQT_BASIC)
    return cm::failed(EOPNOTSUPP);
  ibv_pd* const pd = (attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) != 0 ? attr->pd : nullptr;
  // It begins as the plain one.
  return cm::guarded([&] { return cm::create_srq(id, pd, reinterpret_cast<ibv_srq_init_attr*>(attr)); }, -1);
}
RAILYARD_EXPORT void rdma_destroy_srq(rdma_cm_id* id) {
  RAILYARD_OR_ELSE(rdma_destroy_srq, id);
  cm::destroy_srq(id);
}
RAILYARD_EXPORT int rdma_connect(rdma_cm_id* id, rdma_conn_param* param) {
  RAILYARD_OR_ELSE(rdma_connect, id, param);
  return cm::guarded([&] { return cm::connect(id, param); }, -1);
}
RAILYARD_EXPORT int rdma_establish(rdma_cm_id* id) {
  RAILYARD_OR_ELSE(rdma_establish, id);
  return cm::guarded([&] { return cm::establish(id); }, -1);
}
RAILYARD_EXPORT int rdma_listen(rdma_cm_id* id, int backlog) {
  RAILYARD_OR_ELSE(rdma_listen, id, backlog);
  return cm::guarded([&] { return cm::listen(id, backlog); }, -1);
}
RAILYARD_EXPORT int rdma_get_request(rdma_cm_id* listener, rdma_cm_id** id) {
  RAILYARD_OR_ELSE(rdma_get_request, listener, id);
  return cm::guarded([&] { return cm::get_request(listener, id); }, -1);
}
RAILYARD_EXPORT int rdma_accept(rdma_cm_id* id, rdma_conn_param* param) {
  RAILYARD_OR_ELSE(rdma_accept, id, param);
  return cm::guarded([&] { return cm::accept(id, param); }, -1);
}
RAILYARD_EXPORT int rdma_reject(rdma_cm_id* id, const void* private_data, std::uint8_t octets) {
  RAILYARD_OR_ELSE(rdma_reject, id, private_data, octets);
  return cm::guarded([&] { return cm::reject(id, private_data, octets, railyard::roce::cm::RejReason::kConsumer); },
                     -1);
}
RAILYARD_EXPORT int rdma_reject_ece(rdma_cm_id* id, const void* private_data, std::uint8_t octets) {
  RAILYARD_OR_ELSE(rdma_reject_ece, id, private_data, octets);
  constexpr railyard::roce::cm::RejReason kVendorOption{35};  // "vendor option is not supported"
  return cm::guarded([&] { return cm::reject(id, private_data, octets, kVendorOption); }, -1);
}
RAILYARD_EXPORT int rdma_notify(rdma_cm_id* id, ibv_event_type event) {
  RAILYARD_OR_ELSE(rdma_notify, id, event);
  return cm::guarded([&] { return cm::notify(id, event); }, -1);
}
RAILYARD_EXPORT int rdma_disconnect(rdma_cm_id* id) {
  RAILYARD_OR_ELSE(rdma_disconnect, id);
  return cm::guarded([&] { return cm::disconnect(id); }, -1);
}
RAILYARD_EXPORT int rdma_join_multicast(rdma_cm_id* id, sockaddr* address, void* context) {
  RAILYARD_OR_ELSE(rdma_join_multicast, id, address, context);
  return cm::failed(EOPNOTSUPP);
}
RAILYARD_EXPORT int rdma_join_multicast_ex(rdma_cm_id* id, rdma_cm_join_mc_attr_ex* attr, void* context) {
  RAILYARD_OR_ELSE(rdma_join_multicast_ex, id, attr, context);
  return cm::failed(EOPNOTSUPP);
}
RAILYARD_EXPORT int rdma_leave_multicast(rdma_cm_id* id, sockaddr* address) {
  RAILYARD_OR_ELSE(rdma_leave_multicast, id, address);
  return cm::failed(EOPNOTSUPP);
}
RAILYARD_EXPORT int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  RAILYARD_OR_ELSE(rdma_get_cm_event, channel, event);
  if (!cm::wait_for_event(channel->fd)) return -1;
  return cm::guarded([&] { return cm::get_cm_event(channel, event); }, -1);
}
RAILYARD_EXPORT int rdma_ack_cm_event(rdma_cm_event* event) {
  RAILYARD_OR_ELSE(rdma_ack_cm_event, event);
  return cm::ack_cm_event(event);
}
RAILYARD_EXPORT __be16 rdma_get_src_port(rdma_cm_id* id) {
  RAILYARD_OR_ELSE(rdma_get_src_port, id);
  return cm::port_in(&id->route.addr.src_addr);
}
RAILYARD_EXPORT __be16 rdma_get_dst_port(rdma_cm_id* id) {
  RAILYARD_OR_ELSE(rdma_get_dst_port, id);
  return cm::port_in(&id->route.addr.dst_addr);
}
RAILYARD_EXPORT ibv_context** rdma_get_devices(int* count) {
  RAILYARD_OR_ELSE(rdma_get_devices, count);
  return cm::guarded(
      [&]() -> ibv_context** {
        const auto& all = cm::devices();
        auto** const list = static_cast<ibv_context**>(std::calloc(all.size() + 1, sizeof(ibv_context*)));
        for (std::size_t i = 0; list != nullptr && i < all.size(); ++i) list[i] = all[i]->context;
        if (count != nullptr) *count = list != nullptr ? static_cast<int>(all.size()) : 0;
        return list;
      },
      nullptr);
}
RAILYARD_EXPORT void rdma_free_devices(ibv_context** list) {
  RAILYARD_OR_ELSE(rdma_free_devices, list);
  std::free(list);
}
RAILYARD_EXPORT const char* rdma_event_str(rdma_cm_event_type event) { return cm::event_str(event); }
RAILYARD_EXPORT int rdma_set_option(rdma_cm_id* id, int level, int option, void* value, std::size_t octets) {
  RAILYARD_OR_ELSE(rdma_set_option, id, level, option, value, octets);
  return cm::set_option(id, level, option, value, octets);
}
RAILYARD_EXPORT int rdma_migrate_id(rdma_cm_id* id, rdma_event_channel* channel) {
  RAILYARD_OR_ELSE(rdma_migrate_id, id, channel);
  return cm::guarded([&] { return cm::migrate_id(id, channel); }, -1);
}
RAILYARD_EXPORT int rdma_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints,
                                     rdma_addrinfo** result) {
  RAILYARD_OR_ELSE(rdma_getaddrinfo, node, service, hints, result);
  return cm::guarded([&] { return cm::getaddrinfo(node, service, hints, result); }, -1);
}
RAILYARD_EXPORT void rdma_freeaddrinfo(rdma_addrinfo* info) {
  RAILYARD_OR_ELSE(rdma_freeaddrinfo, info);
  cm::freeaddrinfo(info);
}
RAILYARD_EXPORT int rdma_init_qp_attr(rdma_cm_id* id, ibv_qp_attr* attr, int* mask) {
  RAILYARD_OR_ELSE(rdma_init_qp_attr, id, attr, mask);
  return cm::guarded([&] { return cm::init_qp_attr(id, attr, mask); }, -1);
}
RAILYARD_EXPORT int rdma_set_local_ece(rdma_cm_id* id, ibv_ece* ece) {
  RAILYARD_OR_ELSE(rdma_set_local_ece, id, ece);
  return cm::failed(EOPNOTSUPP);
}
RAILYARD_EXPORT int rdma_get_remote_ece(rdma_cm_id* id, ibv_ece* ece) {
  RAILYARD_OR_ELSE(rdma_get_remote_ece, id, ece);
  return cm::failed(EOPNOTSUPP);
}
// Event channels are file descriptors like any other; of rsockets there are none here.
RAILYARD_EXPORT int rpoll(pollfd* fds, nfds_t count, int timeout_ms) {
  RAILYARD_OR_ELSE(rpoll, fds, count, timeout_ms);
  return ::poll(fds, count, timeout_ms);
}
