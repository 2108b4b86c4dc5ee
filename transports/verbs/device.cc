// What a device says of itself, its port and its events.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transports/verbs/objects.h"

namespace railyard::verbs {
namespace {

// "RYA", which no maker of RDMA devices has: programs know the ways of some makers' parts by these numbers.
constexpr std::uint32_t kVendor = 0x525941;
constexpr std::uint32_t kPart = 1;

struct Speed {
  std::int64_t gbps;
  std::uint8_t width;  // 1: one lane, 2: four
  std::uint8_t speed;  // of a lane: 1 is 2.5 Gb/s, 4 is 10, 32 is 25, 64 is 50, 128 is 100
};
constexpr Speed kSpeeds[] = {{10, 1, 4},   {25, 1, 32},  {40, 2, 4},   {50, 1, 64},
                             {100, 2, 32}, {200, 2, 64}, {400, 2, 128}};

// The fastest that the link has at least; verbs knows no other rates.
Speed speed_of(BitRate rate) noexcept {
  Speed best{0, 1, 1};
  for (const Speed& s : kSpeeds)
    if (rate.bps >= s.gbps * 1'000'000'000) best = s;
  return best;
}

__be64 guid_of(const wire::MacAddress& mac) noexcept {
  const auto& m = mac.octets;
  const std::uint8_t octets[8] = {static_cast<std::uint8_t>(m[0] ^ 2), m[1], m[2], 0xFF, 0xFE, m[3], m[4], m[5]};
  __be64 guid;
  std::memcpy(&guid, octets, sizeof guid);
  return guid;
}

void wait_for(std::uint32_t* done, std::uint32_t events, pthread_mutex_t& mutex, pthread_cond_t& cond) {
  pthread_mutex_lock(&mutex);
  while (*done != events) pthread_cond_wait(&cond, &mutex);
  pthread_mutex_unlock(&mutex);
}

}  // namespace

ibv_mtu active_mtu(const application::NicGrant& grant) noexcept {
  constexpr std::uint32_t kHeaders = 80;  // of IP packets with the longest headers, and the ICRC; as Linux counts
  ibv_mtu best = IBV_MTU_256;
  for (const ibv_mtu m : {IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096})
    if ((std::uint32_t{128} << m) + kHeaders <= grant.mtu) best = m;
  return best;
}

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* attr,
                    std::size_t octets) {
  if (input != nullptr && input->comp_mask != 0) return EINVAL;
  const State& state = state_of(context);
  ibv_device_attr_ex all{};
  ibv_device_attr& a = all.orig_attr;
  std::strncpy(a.fw_ver, "0.1.0", sizeof a.fw_ver - 1);
  a.node_guid = a.sys_image_guid = guid_of(state.nic->grant().mac);
  a.max_mr_size = ~std::uint64_t{0};
  a.page_size_cap = 0xFFFFF000;
  a.vendor_id = kVendor;
  a.vendor_part_id = kPart;
  a.hw_ver = 1;
  a.max_qp = static_cast<int>(state.nic->grant().most_qps);
  a.max_qp_wr = kMostWrs;
  a.device_cap_flags = IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_SRQ_RESIZE |
                       IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  a.max_sge = static_cast<int>(roce::kMostSges);
  a.max_sge_rd = static_cast<int>(roce::kMostSges);
  a.max_cq = kMostCqs;
  a.max_cqe = kMostCqes;
  a.max_mr = kMostMrs;
  a.max_mw = kMostMws;
  a.max_pd = kMostPds;
  a.max_qp_rd_atom = kMostReads;
  a.max_res_rd_atom = static_cast<int>(kMostReads * state.nic->grant().most_qps);
  a.max_qp_init_rd_atom = kMostReads;
  a.atomic_cap = IBV_ATOMIC_HCA;
  a.max_ah = kMostAhs;
  a.max_srq = kMostSrqs;
  a.max_srq_wr = kMostWrs;
  a.max_srq_sge = static_cast<int>(roce::kMostSges);
  a.max_pkeys = 1;
  a.local_ca_ack_delay = 15;
  a.phys_port_cnt = 1;
  if (octets >= sizeof all) {
    all.phys_port_cnt_ex = 1;
    all.completion_timestamp_mask = 0;
  }
  std::memset(attr, 0, octets);
  std::memcpy(attr, &all, std::min(octets, sizeof all));
  return 0;
}

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attr) {
  if (port != 1) return EINVAL;
  const State& state = state_of(context);
  const bool up = state.nic->link_up();
  *attr = {};
  attr->state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  attr->phys_state = up ? 5 : 3;  // LinkUp, Disabled
  attr->max_mtu = IBV_MTU_4096;
  attr->active_mtu = active_mtu(state.nic->grant());
  attr->gid_tbl_len = static_cast<int>(state.gids.size());
  attr->port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS;
  attr->max_msg_sz = 1u << 31;
  attr->pkey_tbl_len = 1;
  const Speed speed = speed_of(state.nic->grant().rate);
  attr->active_width = speed.width;
  attr->active_speed = speed.speed;
  attr->max_vl_num = 1;
  attr->link_layer = IBV_LINK_LAYER_ETHERNET;
  return 0;
}

// ---- Events --------------------------------------------------------------------------------------------------------

namespace {

// As the kernel writes it to async_fd (struct ib_uverbs_async_event_desc).
struct AsyncRecord {
  std::uint64_t element;
  std::uint32_t type;
  std::uint32_t reserved;
};

void tell(const State& state, ibv_event_type type, const void* element, std::uint64_t port = 0) noexcept {
  const AsyncRecord record{element != nullptr ? reinterpret_cast<std::uintptr_t>(element) : port,
                           static_cast<std::uint32_t>(type), 0};
  write_record(state.ibv->async_fd, &record, sizeof record);
}

}  // namespace

void State::on_async(const roce::AsyncEvent& event) {
  using enum roce::AsyncEventType;
  const auto to_qp = [&](ibv_event_type type) {
    if (const auto qp = qps.find(event.number); qp != qps.end()) tell(*this, type, &qp->second->qp);
  };
  switch (event.type) {
    case kQpFatal:
      return to_qp(IBV_EVENT_QP_FATAL);
    case kQpRequestError:
      return to_qp(IBV_EVENT_QP_REQ_ERR);
    case kQpAccessError:
      return to_qp(IBV_EVENT_QP_ACCESS_ERR);
    case kSqDrained:
      return to_qp(IBV_EVENT_SQ_DRAINED);
    case kQpLastWqeReached:
      return to_qp(IBV_EVENT_QP_LAST_WQE_REACHED);
    case kPathEstablished:
      return to_qp(IBV_EVENT_COMM_EST);
    case kSrqLimitReached:
      if (event.number < srqs.size() && srqs[event.number] != nullptr) {
        srqs[event.number]->limit = 0;
        tell(*this, IBV_EVENT_SRQ_LIMIT_REACHED, srqs[event.number]);
      }
      return;
    case kCqError:
      if (event.number < cqs.size() && cqs[event.number] != nullptr) tell(*this, IBV_EVENT_CQ_ERR, cqs[event.number]);
      return;
  }
}

void State::on_progress() {
  for (CqObject* cq : with_channel)
    if (nic->engine().cq(cq->id).take_event()) write_event(*cq);
}

void State::on_link(bool up) { tell(*this, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR, nullptr, 1); }

void State::on_lost() { tell(*this, IBV_EVENT_DEVICE_FATAL, nullptr); }

void State::on_report(application::ConnectionList& list) const {
  for (const auto& [number, object] : qps) {
    const roce::Qp* const qp = nic->engine().qp(object->number);
    if (qp == nullptr) continue;
    const roce::QpInfo& info = qp->info;
    const bool connected = info.type != roce::QpType::kUd && info.state >= roce::QpState::kRtr;
    list.add({.kind = name(info.type),
              .state = name(info.state),
              .local = number,
              .remote = connected ? info.dest_qpn : 0,
              .peer = connected ? info.path.av().destination : wire::IpAddress{},
              .packets = info.counters.data_packets,
              .bytes = info.counters.data_octets,
              .retransmitted = info.counters.retransmitted_packets});
  }
}

// Counts what the application has taken, so that an object goes only when all its events were acknowledged.
void async_event(ibv_context* context, ibv_async_event* event) {
  State& state = state_of(context);
  const std::lock_guard lock(state.nic->mutex());
  switch (event->event_type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
    case IBV_EVENT_COMM_EST:
      ++object_of<QpObject>(event->element.qp).events_read;
      break;
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      ++object_of<SrqObject>(event->element.srq).events_read;
      break;
    case IBV_EVENT_CQ_ERR:
      ++object_of<CqObject>(event->element.cq).async_events_read;
      break;
    default:
      break;
  }
}

void wait_for_acknowledgements(QpObject& qp) {
  wait_for(&qp.qp.qp.events_completed, qp.events_read, qp.qp.qp.mutex, qp.qp.qp.cond);
}
void wait_for_acknowledgements(SrqObject& srq) {
  wait_for(&srq.srq.srq.events_completed, srq.events_read, srq.srq.srq.mutex, srq.srq.srq.cond);
}
void wait_for_acknowledgements(CqObject& cq) {
  wait_for(&cq.cq.comp_events_completed, cq.events_read, cq.cq.mutex, cq.cq.cond);
  wait_for(&cq.cq.async_events_completed, cq.async_events_read, cq.cq.mutex, cq.cq.cond);
}

}  // namespace railyard::verbs
