// fi_getinfo(): what can be had of what is asked for.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "dataplane/wire/address.h"
#include "transports/libfabric/objects.h"
#include "transports/uet/work_request.h"

namespace railyard::libfabric {
namespace {

constexpr std::uint64_t kMessages = FI_MSG | FI_TAGGED;
constexpr std::uint64_t kMessageDirections = FI_SEND | FI_RECV;
constexpr std::uint64_t kMemory = FI_RMA | FI_ATOMIC;
constexpr std::uint64_t kMemoryDirections = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
// That may be there without being asked for.
constexpr std::uint64_t kSecondary = FI_MULTI_RECV | FI_SOURCE | FI_LOCAL_COMM | FI_REMOTE_COMM;
constexpr std::uint64_t kReliable =
    kMessages | kMessageDirections | kMemory | kMemoryDirections | kSecondary | FI_DIRECTED_RECV;
constexpr std::uint64_t kDatagram = FI_MSG | kMessageDirections | kSecondary | FI_DIRECTED_RECV;

// A READ is answered when its turn comes: what is written behind it may be in what it returns (WAR).
constexpr std::uint64_t kOrders = FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS | FI_ORDER_WAW | FI_ORDER_WAS |
                                  FI_ORDER_SAR | FI_ORDER_SAW | FI_ORDER_SAS | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW |
                                  FI_ORDER_RMA_WAW | FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR |
                                  FI_ORDER_ATOMIC_WAW;
constexpr std::uint64_t kOperationFlags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE |
                                          FI_DELIVERY_COMPLETE | FI_MULTI_RECV | FI_MORE;

// Flags of fi_getinfo() that libfabric's own layers (ofi_rxd) ask with: reliable endpoints over datagrams would be
// listed before ours, and be slower. libfabric 1.17 has them in no public header.
constexpr std::uint64_t kAskedByLayers = std::uint64_t{3} << 58;

// A message that UUD takes: one packet of a payload MTU that any lab has.
constexpr std::size_t kDatagramOctets = 1024;

// The whole of a capability: what of its directions was not said is all of them.
std::uint64_t with_directions(std::uint64_t caps) noexcept {
  if ((caps & kMessages) != 0 && (caps & kMessageDirections) == 0) caps |= kMessageDirections;
  if ((caps & kMemory) != 0 && (caps & kMemoryDirections) == 0) caps |= kMemoryDirections;
  return caps;
}

bool fits(const fi_info& hints, bool reliable) noexcept {
  const std::uint64_t offered = reliable ? kReliable : kDatagram;
  const std::uint64_t orders = reliable ? kOrders : 0;
  if ((hints.caps & ~offered) != 0) return false;
  if (hints.addr_format != FI_FORMAT_UNSPEC && hints.addr_format != kAddressFormat) return false;
  if (const fi_ep_attr* const e = hints.ep_attr) {
    if (e->type != FI_EP_UNSPEC && e->type != (reliable ? FI_EP_RDM : FI_EP_DGRAM)) return false;
    if (e->protocol != FI_PROTO_UNSPEC && e->protocol != kAddressFormat) return false;
    if (e->max_msg_size > (reliable ? uet::kMostMessageOctets : kDatagramOctets)) return false;
    if (e->max_order_war_size > 0 || e->auth_key_size > 0) return false;
    if ((e->tx_ctx_cnt > 1) || (e->rx_ctx_cnt > 1)) return false;
  }
  if (const fi_tx_attr* const t = hints.tx_attr) {
    if ((t->caps & ~offered) != 0 || (t->msg_order & ~orders) != 0 ||
        (t->comp_order & ~std::uint64_t{FI_ORDER_DATA}) != 0)
      return false;
    if ((t->op_flags & ~kOperationFlags) != 0 || t->inject_size > kInject || t->size > kMostSends) return false;
    if (t->iov_limit > kPieces || t->rma_iov_limit > 1) return false;
  }
  if (const fi_rx_attr* const r = hints.rx_attr) {
    if ((r->caps & ~offered) != 0 || (r->msg_order & ~orders) != 0 ||
        (r->comp_order & ~std::uint64_t{FI_ORDER_DATA}) != 0)
      return false;
    if ((r->op_flags & ~kOperationFlags) != 0 || r->size > kMostReceives || r->iov_limit > kPieces) return false;
  }
  if (const fi_domain_attr* const d = hints.domain_attr) {
    if (d->cq_data_size > sizeof(std::uint64_t) || d->mr_key_size > 6 || d->auth_key_size > 0) return false;
    if ((d->caps & ~(FI_LOCAL_COMM | FI_REMOTE_COMM)) != 0) return false;
  }
  return true;
}

template <class T>
T said(T hint, T ours) noexcept {
  return hint != T{} ? hint : ours;
}

// Basic or scalable, if it was asked for so; else nothing is required of the application.
int memory_mode(const fi_info* hints) noexcept {
  if (hints == nullptr || hints->domain_attr == nullptr) return 0;
  const int mode = hints->domain_attr->mr_mode;
  return mode == FI_MR_BASIC || mode == FI_MR_SCALABLE ? mode : 0;
}

fi_info* make_info(const Device& device, bool reliable, std::uint32_t version, const fi_info* hints) {
  fi_info* const info = fi_allocinfo();
  if (info == nullptr) return nullptr;
  const bool asks = hints != nullptr && hints->caps != 0;
  const std::uint64_t secondary = FI_LOCAL_COMM | FI_REMOTE_COMM;
  info->caps = asks ? with_directions(hints->caps) | secondary : reliable ? kReliable : kDatagram;
  info->addr_format = kAddressFormat;

  const fi_tx_attr tx = hints != nullptr && hints->tx_attr != nullptr ? *hints->tx_attr : fi_tx_attr{};
  info->tx_attr->caps = info->caps & (kMessages | kMemory | FI_SEND | FI_READ | FI_WRITE);
  info->tx_attr->op_flags = tx.op_flags;
  info->tx_attr->msg_order = hints != nullptr ? tx.msg_order : reliable ? kOrders : 0;
  info->tx_attr->comp_order = FI_ORDER_NONE;
  info->tx_attr->inject_size = kInject;
  info->tx_attr->size = said(tx.size, std::size_t{1024});
  info->tx_attr->iov_limit = kPieces;
  info->tx_attr->rma_iov_limit = 1;

  const fi_rx_attr rx = hints != nullptr && hints->rx_attr != nullptr ? *hints->rx_attr : fi_rx_attr{};
  info->rx_attr->caps = info->caps & (kMessages | kMemory | FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_MULTI_RECV |
                                      FI_SOURCE | FI_DIRECTED_RECV);
  info->rx_attr->op_flags = rx.op_flags;
  info->rx_attr->msg_order = hints != nullptr ? rx.msg_order : reliable ? kOrders : 0;
  info->rx_attr->comp_order = FI_ORDER_NONE;
  info->rx_attr->size = said(rx.size, std::size_t{1024});
  info->rx_attr->iov_limit = kPieces;

  fi_ep_attr& e = *info->ep_attr;
  e.type = reliable ? FI_EP_RDM : FI_EP_DGRAM;
  e.protocol = kAddressFormat;
  e.protocol_version = 1;
  e.max_msg_size = reliable ? uet::kMostMessageOctets : kDatagramOctets;
  e.max_order_raw_size = e.max_order_waw_size = reliable ? e.max_msg_size : 0;
  e.mem_tag_format = ~std::uint64_t{0};
  e.tx_ctx_cnt = e.rx_ctx_cnt = 1;

  const fi_domain_attr asked =
      hints != nullptr && hints->domain_attr != nullptr ? *hints->domain_attr : fi_domain_attr{};
  fi_domain_attr& d = *info->domain_attr;
  d.name = ::strdup(device.name.c_str());
  d.threading = said(asked.threading, FI_THREAD_SAFE);
  d.control_progress = said(asked.control_progress, FI_PROGRESS_AUTO);
  d.data_progress = said(asked.data_progress, FI_PROGRESS_AUTO);
  d.resource_mgmt = said(asked.resource_mgmt, FI_RM_ENABLED);
  d.av_type = said(asked.av_type, FI_AV_UNSPEC);
  d.mr_mode = memory_mode(hints);
  d.mr_key_size = 6;
  d.cq_data_size = sizeof(std::uint64_t);
  d.cq_cnt = d.cntr_cnt = 1024;
  d.ep_cnt = 1024;
  d.tx_ctx_cnt = d.rx_ctx_cnt = 1024;
  d.max_ep_tx_ctx = d.max_ep_rx_ctx = 1;
  d.mr_iov_limit = 1;
  d.mr_cnt = 65536;
  d.caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
  d.max_err_data = 0;

  // (libfabric fills in the provider's name and version.)
  info->fabric_attr->name = ::strdup("railyard");
  info->fabric_attr->api_version = version;
  return info;
}

// "PID.INDEX" behind a fabric address: whom a program wants to talk to.
bool read_destination(const char* node, const char* service, Address& out) {
  const auto ip = wire::IpAddress::parse(node);
  unsigned pid = 0, index = 0;
  if (!ip || service == nullptr || std::sscanf(service, "%u.%u", &pid, &index) != 2 || pid > 0xFFF || index > 0xFFF)
    return false;
  out.fabric_address = *ip;
  out.pid_on_fep = static_cast<std::uint16_t>(pid);
  out.resource_index = static_cast<std::uint16_t>(index);
  out.initiator = pid << 12 | index;
  return true;
}

}  // namespace

int get_info(std::uint32_t version, const char* node, const char* service, std::uint64_t flags, const fi_info* hints,
             fi_info** out) {
  if ((flags & kAskedByLayers) != 0) return -FI_ENODATA;
  Address destination;
  const bool has_destination = node != nullptr && (flags & FI_SOURCE) == 0;
  if (has_destination && !read_destination(node, service, destination)) return -FI_ENODATA;
  fi_info* first = nullptr;
  fi_info** last = &first;
  for (const Device& device : devices()) {
    const bool right = hints == nullptr || hints->domain_attr == nullptr || hints->domain_attr->name == nullptr ||
                       device.name == hints->domain_attr->name;
    const bool on_fabric = hints == nullptr || hints->fabric_attr == nullptr || hints->fabric_attr->name == nullptr ||
                           std::strcmp(hints->fabric_attr->name, "railyard") == 0;
    for (const bool reliable : {true, false}) {
      if (!right || !on_fabric || (hints != nullptr && !fits(*hints, reliable))) continue;
      fi_info* const info = make_info(device, reliable, version, hints);
      if (info == nullptr) {
        fi_freeinfo(first);
        return -FI_ENOMEM;
      }
      const void* const to = has_destination ? &destination : hints != nullptr ? hints->dest_addr : nullptr;
      if (to != nullptr && (has_destination || hints->dest_addrlen == sizeof(Address))) {
        info->dest_addr = std::malloc(sizeof(Address));
        if (info->dest_addr != nullptr) {
          std::memcpy(info->dest_addr, to, sizeof(Address));
          info->dest_addrlen = sizeof(Address);
        }
      }
      *last = info;
      last = &info->next;
    }
  }
  *out = first;
  return first == nullptr ? -FI_ENODATA : 0;
}

}  // namespace railyard::libfabric
