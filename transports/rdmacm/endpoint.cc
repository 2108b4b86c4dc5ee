// Endpoints: an ID, resolved and with its QP, in one call; and what they are described by.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include <netdb.h>

#include "transports/rdmacm/addresses.h"
#include "transports/rdmacm/devices.h"
#include "transports/rdmacm/names.h"
#include "transports/rdmacm/objects.h"

namespace railyard::rdmacm {
namespace {

int connect_endpoint(rdma_cm_id* id, rdma_addrinfo* info, ibv_pd* pd, ibv_qp_init_attr* attr) {
  if (resolve_addr(id, info->ai_src_addr, info->ai_dst_addr, 2000) != 0 || resolve_route(id, 2000) != 0) return -1;
  if (attr == nullptr) return 0;
  attr->qp_type = static_cast<ibv_qp_type>(info->ai_qp_type);
  return create_qp(id, pd, attr);
}

std::optional<std::uint16_t> port_of(const char* service) {
  if (service == nullptr) return std::uint16_t{0};
  std::uint16_t port = 0;
  const std::string_view text(service);
  const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size()) return port;
  const servent* const known = ::getservbyname(service, "tcp");
  if (known == nullptr) return std::nullopt;
  return ::ntohs(static_cast<std::uint16_t>(known->s_port));
}

sockaddr* copy(const sockaddr* from, socklen_t octets) {
  auto* const to = static_cast<sockaddr*>(std::calloc(1, sizeof(sockaddr_storage)));
  if (to == nullptr) throw std::bad_alloc();
  std::memcpy(to, from, std::min<std::size_t>(octets, sizeof(sockaddr_storage)));
  return to;
}
sockaddr* make(const SocketAddress& address, socklen_t& octets) {
  sockaddr_storage storage{};
  octets = write(address, reinterpret_cast<sockaddr*>(&storage));
  return copy(reinterpret_cast<sockaddr*>(&storage), octets);
}

// Of a name, in the family that is asked for; 0: either.
std::optional<wire::IpAddress> find(const char* node, bool passive, int family) {
  if (node == nullptr) {
    if (!passive) return std::nullopt;
    return family == AF_INET6 ? wire::IpAddress{} : wire::IpAddress{0u};
  }
  for (const wire::IpAddress& a : addresses_of(node))
    if (family == 0 || family == (a.is_v4() ? AF_INET : AF_INET6)) return a;
  return std::nullopt;
}

}  // namespace

int create_ep(rdma_cm_id** out, rdma_addrinfo* info, ibv_pd* pd, ibv_qp_init_attr* attr) {
  rdma_cm_id* id = nullptr;
  if (create_id(nullptr, &id, nullptr, static_cast<rdma_port_space>(info->ai_port_space)) != 0) return -1;
  int result = 0;
  if ((info->ai_flags & RAI_PASSIVE) != 0) {
    result = bind_addr(id, info->ai_src_addr);
    if (result == 0 && attr != nullptr) {
      of(id).qp_of_requests = *attr;
      of(id).qp_of_requests->qp_type = static_cast<ibv_qp_type>(info->ai_qp_type);
      of(id).pd_of_requests = pd;
    }
    if (pd != nullptr) id->pd = pd;
  } else {
    result = connect_endpoint(id, info, pd, attr);
  }
  if (result != 0) {
    const int error = errno;
    destroy_ep(id);
    return failed(error);
  }
  *out = id;
  return 0;
}

void destroy_ep(rdma_cm_id* id) {
  destroy_qp(id);
  destroy_srq(id);
  destroy_id(id);
}

// 0, or a number for gai_strerror().
int getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints, rdma_addrinfo** result) {
  if (node == nullptr && service == nullptr && hints == nullptr) return failed(EINVAL);
  const rdma_addrinfo none{};
  const rdma_addrinfo& asked = hints != nullptr ? *hints : none;
  const bool passive = (asked.ai_flags & RAI_PASSIVE) != 0;
  const auto port = port_of(service);
  if (!port) return EAI_SERVICE;
  const auto freed = [](rdma_addrinfo* i) { freeaddrinfo(i); };
  std::unique_ptr<rdma_addrinfo, decltype(freed)> info(
      static_cast<rdma_addrinfo*>(std::calloc(1, sizeof(rdma_addrinfo))));
  if (info == nullptr) return EAI_MEMORY;
  info->ai_flags = asked.ai_flags;
  info->ai_qp_type = asked.ai_qp_type;
  info->ai_port_space = asked.ai_port_space;
  // One says the other.
  if (info->ai_port_space == 0) info->ai_port_space = info->ai_qp_type == IBV_QPT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
  if (info->ai_qp_type == 0) info->ai_qp_type = info->ai_port_space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
  if (node != nullptr || service != nullptr) {
    const auto address = find(node, passive, asked.ai_family);
    if (!address) return EAI_NONAME;
    info->ai_family = address->is_v4() ? AF_INET : AF_INET6;
    if (passive)
      info->ai_src_addr = make({*address, *port}, info->ai_src_len);
    else
      info->ai_dst_addr = make({*address, *port}, info->ai_dst_len);
  } else {
    info->ai_family = asked.ai_family;
  }
  if (info->ai_src_addr == nullptr && asked.ai_src_len > 0 && asked.ai_src_addr != nullptr) {
    info->ai_src_addr = copy(asked.ai_src_addr, asked.ai_src_len);
    info->ai_src_len = asked.ai_src_len;
  }
  if (info->ai_dst_addr == nullptr && asked.ai_dst_len > 0 && asked.ai_dst_addr != nullptr) {
    info->ai_dst_addr = copy(asked.ai_dst_addr, asked.ai_dst_len);
    info->ai_dst_len = asked.ai_dst_len;
  }
  *result = info.release();
  return 0;
}

void freeaddrinfo(rdma_addrinfo* info) {
  while (info != nullptr) {
    rdma_addrinfo* const next = info->ai_next;
    std::free(info->ai_src_addr);
    std::free(info->ai_dst_addr);
    std::free(info);
    info = next;
  }
}

}  // namespace railyard::rdmacm
