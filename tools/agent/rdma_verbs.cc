#include "tools/agent/rdma_verbs.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>

namespace railyard::agent {
namespace {

template <class T, auto kGiveUp>
struct GiveUp {
  void operator()(T* thing) const noexcept { kGiveUp(thing); }
};
template <class T, auto kGiveUp>
using Owned = std::unique_ptr<T, GiveUp<T, kGiveUp>>;

using Context = Owned<ibv_context, ibv_close_device>;
using Domain = Owned<ibv_pd, ibv_dealloc_pd>;
using Channel = Owned<ibv_comp_channel, ibv_destroy_comp_channel>;
using Queue = Owned<ibv_cq, ibv_destroy_cq>;
using Region = Owned<ibv_mr, ibv_dereg_mr>;
using QueuePair = Owned<ibv_qp, ibv_destroy_qp>;

class DeviceList {
 public:
  DeviceList() : list_(ibv_get_device_list(&count_)) {}
  ~DeviceList() {
    if (list_ != nullptr) ibv_free_device_list(list_);
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;
  std::span<ibv_device* const> all() const noexcept {
    return {list_, list_ == nullptr ? 0 : static_cast<std::size_t>(count_)};
  }

 private:
  int count_ = 0;
  ibv_device** list_;
};

[[noreturn]] void fail(const std::string& device, const std::string& what, int error) {
  throw VerbsError(fmt::format("{}: {}: {}", device, what, std::strerror(error)));
}

// Indexes of a port's GIDs of RoCE v2, with their addresses: an IPv4 address is in one as IpAddress has it.
std::vector<std::pair<std::uint8_t, wire::IpAddress>> gids_of(ibv_context* context, std::uint32_t port) {
  std::vector<ibv_gid_entry> table(256);
  const ssize_t n = ibv_query_gid_table(context, table.data(), table.size(), 0);
  std::vector<std::pair<std::uint8_t, wire::IpAddress>> out;
  for (const ibv_gid_entry& e : std::span(table).first(static_cast<std::size_t>(std::max<ssize_t>(n, 0)))) {
    if (e.port_num != port || e.gid_type != IBV_GID_TYPE_ROCE_V2) continue;
    std::array<std::uint8_t, 16> octets{};
    std::memcpy(octets.data(), e.gid.raw, octets.size());
    out.emplace_back(static_cast<std::uint8_t>(e.gid_index), wire::IpAddress(octets));
  }
  return out;
}

std::uint32_t octets_of(ibv_mtu mtu) noexcept { return 128u << static_cast<unsigned>(mtu); }
std::optional<ibv_mtu> mtu_of(std::uint32_t octets) noexcept {
  for (const ibv_mtu mtu : {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096})
    if (octets_of(mtu) == octets) return mtu;
  return {};
}

bool is_ethernet(const ibv_port_attr& port) noexcept { return port.link_layer == IBV_LINK_LAYER_ETHERNET; }

class PortVerbs final : public RcVerbs {
 public:
  PortVerbs(Context context, std::uint8_t port, std::uint8_t gid, std::size_t completions)
      : context_(std::move(context)), device_(ibv_get_device_name(context_->device)), port_(port), gid_(gid) {
    if (ibv_query_device(context_.get(), &attributes_) != 0 || ibv_query_port(context_.get(), port_, &port_info_) != 0)
      fail(device_, "cannot read its attributes", errno);
    if (completions > static_cast<std::size_t>(attributes_.max_cqe))
      throw VerbsError(fmt::format(
          "{}: up to {} completions may be pending, but its completion queue has {} entries; use larger chunks",
          device_, completions, attributes_.max_cqe));
    domain_.reset(ibv_alloc_pd(context_.get()));
    if (!domain_) fail(device_, "no protection domain", errno);
    channel_.reset(ibv_create_comp_channel(context_.get()));
    if (!channel_) fail(device_, "no completion channel", errno);
    const int flags = ::fcntl(channel_->fd, F_GETFL);
    if (flags < 0 || ::fcntl(channel_->fd, F_SETFL, flags | O_NONBLOCK) != 0)
      fail(device_, "cannot poll its completion channel", errno);
    queue_.reset(ibv_create_cq(context_.get(), static_cast<int>(completions), nullptr, channel_.get(), 0));
    if (!queue_) fail(device_, fmt::format("cannot create a completion queue of {} entries", completions), errno);
    if (ibv_req_notify_cq(queue_.get(), 0) != 0) fail(device_, "cannot request completion notifications", errno);
  }
  ~PortVerbs() override {
    if (events_ > 0) ibv_ack_cq_events(queue_.get(), events_);
  }

  const std::string& device() const override { return device_; }

  std::uint8_t most_reads() const override {
    return static_cast<std::uint8_t>(
        std::clamp(std::min(attributes_.max_qp_rd_atom, attributes_.max_qp_init_rd_atom), 0, 255));
  }

  Memory register_memory(std::span<std::byte> memory, RemoteAccess access) override {
    remote_access_ = IBV_ACCESS_REMOTE_WRITE;
    if (access == RemoteAccess::kReadToo) remote_access_ |= IBV_ACCESS_REMOTE_READ;
    region_.reset(ibv_reg_mr(domain_.get(), memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE | remote_access_));
    if (!region_)
      fail(device_,
           fmt::format("cannot register {} bytes of memory (`ulimit -l` shows the limit of locked memory)",
                       memory.size()),
           errno);
    memory_ = memory;
    return {reinterpret_cast<std::uintptr_t>(memory.data()), region_->rkey};
  }

  std::uint32_t create_qp(std::size_t send_requests, std::size_t receive_requests) override {
    const auto most = static_cast<std::size_t>(attributes_.max_qp_wr);
    if (std::max(send_requests, receive_requests) > most)
      throw VerbsError(fmt::format("{}: a QP takes at most {} work requests, but {} are needed; use larger chunks",
                                   device_, most, std::max(send_requests, receive_requests)));
    ibv_qp_init_attr a{};
    a.send_cq = a.recv_cq = queue_.get();
    a.qp_type = IBV_QPT_RC;
    a.sq_sig_all = 1;
    a.cap.max_send_wr = static_cast<std::uint32_t>(send_requests);
    a.cap.max_recv_wr = static_cast<std::uint32_t>(receive_requests);
    a.cap.max_send_sge = a.cap.max_recv_sge = 1;
    QueuePair qp(ibv_create_qp(domain_.get(), &a));
    if (!qp) fail(device_, fmt::format("cannot create QP {} of the rank", qps_.size()), errno);
    qps_.push_back(std::move(qp));
    return qps_.back()->qp_num;
  }

  void initialise(std::size_t qp) override {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_INIT;
    a.port_num = port_;
    a.qp_access_flags = remote_access_;
    modify(qp, a, "INIT", static_cast<unsigned>(IBV_QP_STATE) | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  }

  // The kernel finds the peer's MAC address by ARP or neighbour discovery on the way to RTR.
  void connect(std::size_t qp, const agents::QpPeer& peer, const agents::QpTerms& terms) override {
    const auto mtu = mtu_of(terms.path_mtu);
    if (!mtu || *mtu > port_info_.active_mtu)
      throw VerbsError(fmt::format("{}: a path MTU of {} is needed, but its port has {}", device_, terms.path_mtu,
                                   octets_of(port_info_.active_mtu)));
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_RTR;
    a.path_mtu = *mtu;
    a.dest_qp_num = peer.qpn;
    a.rq_psn = peer.rq_psn;
    a.min_rnr_timer = terms.min_rnr_timer;
    a.max_dest_rd_atomic = terms.reads;
    a.ah_attr.is_global = 1;
    std::memcpy(a.ah_attr.grh.dgid.raw, peer.address.octets.data(), peer.address.octets.size());
    a.ah_attr.grh.sgid_index = gid_;
    a.ah_attr.grh.hop_limit = 64;
    a.ah_attr.grh.traffic_class = terms.traffic_class;
    // The UDP source port is made of it (Linux: rdma_flow_label_to_udp_sport); of 0, of the QP numbers.
    a.ah_attr.grh.flow_label = peer.udp_source_port & 0x3FFFu;
    a.ah_attr.port_num = port_;
    modify(qp, a, fmt::format("RTR, to {}", wire::to_string(peer.address)),
           static_cast<unsigned>(IBV_QP_STATE) | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
               IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    a = {};
    a.qp_state = IBV_QPS_RTS;
    a.timeout = terms.timeout;
    a.retry_cnt = terms.retry_cnt;
    a.rnr_retry = terms.rnr_retry;
    a.sq_psn = peer.sq_psn;
    a.max_rd_atomic = terms.reads;
    modify(qp, a, "RTS",
           static_cast<unsigned>(IBV_QP_STATE) | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
               IBV_QP_MAX_QP_RD_ATOMIC);
  }

  void post_send(std::size_t qp, const SendRequest& request) override {
    static constexpr std::array kOpcodes{IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_RDMA_READ};
    static constexpr std::array kNames{"WRITE", "WRITE", "SEND", "READ"};
    const auto opcode = static_cast<std::size_t>(request.opcode);
    ibv_sge sge = piece(request.offset, request.octets);
    ibv_send_wr wr{};
    wr.wr_id = request.wr_id;
    wr.sg_list = &sge;
    wr.num_sge = request.octets == 0 ? 0 : 1;
    wr.opcode = kOpcodes[opcode];
    wr.imm_data = htonl(request.immediate);
    wr.wr.rdma.remote_addr = request.remote_address;
    wr.wr.rdma.rkey = request.remote_key;
    ibv_send_wr* bad = nullptr;
    if (const int error = ibv_post_send(qps_[qp].get(), &wr, &bad); error != 0)
      fail(device_, fmt::format("cannot post a {}", kNames[opcode]), error);
  }

  void post_receive(std::size_t qp, std::uint64_t wr_id, std::uint64_t offset, std::uint32_t octets) override {
    ibv_sge sge = piece(offset, octets);
    ibv_recv_wr wr{};
    wr.wr_id = wr_id;
    wr.sg_list = &sge;
    wr.num_sge = octets == 0 ? 0 : 1;
    ibv_recv_wr* bad = nullptr;
    if (const int error = ibv_post_recv(qps_[qp].get(), &wr, &bad); error != 0)
      fail(device_, "cannot post a receive request", error);
  }

  std::size_t poll(std::span<WorkCompletion> out) override {
    if (const std::size_t n = take(out); n > 0) return n;
    // Nothing: what comes from now on is told; what came meanwhile is looked for once more.
    take_events();
    if (ibv_req_notify_cq(queue_.get(), 0) != 0) fail(device_, "cannot request completion notifications", errno);
    return take(out);
  }
  int ready_fd() const override { return channel_->fd; }

 private:
  ibv_sge piece(std::uint64_t offset, std::uint32_t octets) const noexcept {
    return {.addr = reinterpret_cast<std::uintptr_t>(memory_.data()) + offset, .length = octets, .lkey = region_->lkey};
  }

  void modify(std::size_t qp, ibv_qp_attr& a, const std::string& to, unsigned mask) {
    if (const int error = ibv_modify_qp(qps_[qp].get(), &a, static_cast<int>(mask)); error != 0)
      fail(device_, fmt::format("cannot move QP {} to {}", qps_[qp]->qp_num, to), error);
  }

  std::size_t take(std::span<WorkCompletion> out) {
    std::array<ibv_wc, 16> some{};
    const int n = ibv_poll_cq(queue_.get(), static_cast<int>(std::min(out.size(), some.size())), some.data());
    if (n < 0) throw VerbsError(fmt::format("{}: cannot poll its completion queue", device_));
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      const ibv_wc& wc = some[i];
      out[i] = {.wr_id = wc.wr_id};
      if (wc.status != IBV_WC_SUCCESS) {
        out[i].ok = false;
        out[i].error = ibv_wc_status_str(wc.status);
      } else if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM || wc.opcode == IBV_WC_RECV) {
        out[i].received = true;
        if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM) out[i].immediate = ntohl(wc.imm_data);
        out[i].octets = wc.byte_len;
      }
    }
    return static_cast<std::size_t>(n);
  }

  void take_events() {
    ibv_cq* queue = nullptr;
    void* ignored = nullptr;
    while (ibv_get_cq_event(channel_.get(), &queue, &ignored) == 0) ++events_;
    constexpr unsigned kEnough = 1024;
    if (events_ >= kEnough) ibv_ack_cq_events(queue_.get(), std::exchange(events_, 0));
  }

  // In the order in which they are made; given up the other way round.
  Context context_;
  std::string device_;
  std::uint8_t port_;
  std::uint8_t gid_;
  ibv_device_attr attributes_{};
  ibv_port_attr port_info_{};
  Domain domain_;
  Channel channel_;
  Queue queue_;
  unsigned events_ = 0;  // taken and not acknowledged
  std::span<std::byte> memory_;
  Region region_;
  unsigned remote_access_ = 0;
  std::vector<QueuePair> qps_;
};

}  // namespace

RdmaVerbs::RdmaVerbs(std::string only) : only_(std::move(only)) {
  if (only_.empty()) return;
  std::string names;
  const DeviceList devices;
  for (ibv_device* const device : devices.all()) {
    if (only_ == ibv_get_device_name(device)) return;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", ibv_get_device_name(device));
  }
  throw VerbsError(fmt::format("this host has no RDMA device '{}'; there {}", only_,
                               names.empty() ? "is none" : fmt::format("are: {}", names)));
}

std::vector<agents::DevicePort> RdmaVerbs::devices() {
  std::vector<agents::DevicePort> all;
  const DeviceList devices;
  for (ibv_device* const device : devices.all()) {
    if (!only_.empty() && only_ != ibv_get_device_name(device)) continue;
    const Context context(ibv_open_device(device));
    ibv_device_attr a{};
    if (!context || ibv_query_device(context.get(), &a) != 0) continue;
    for (std::uint8_t port = 1; port <= a.phys_port_cnt; ++port) {
      ibv_port_attr p{};
      if (ibv_query_port(context.get(), port, &p) != 0 || !is_ethernet(p)) continue;
      agents::DevicePort d{.device = ibv_get_device_name(device),
                           .port = port,
                           .state = ibv_port_state_str(p.state),
                           .active_mtu = octets_of(p.active_mtu),
                           .max_qps = static_cast<std::uint32_t>(a.max_qp),
                           .max_work_requests = static_cast<std::uint32_t>(a.max_qp_wr),
                           .max_completions = static_cast<std::uint32_t>(a.max_cqe)};
      for (const auto& [index, address] : gids_of(context.get(), port)) d.gids.push_back(address);
      all.push_back(std::move(d));
    }
  }
  return all;
}

std::unique_ptr<RcVerbs> RdmaVerbs::open(const wire::IpAddress& address, std::size_t completions) {
  const DeviceList devices;
  for (ibv_device* const device : devices.all()) {
    if (!only_.empty() && only_ != ibv_get_device_name(device)) continue;
    Context context(ibv_open_device(device));
    ibv_device_attr a{};
    if (!context || ibv_query_device(context.get(), &a) != 0) continue;
    for (std::uint8_t port = 1; port <= a.phys_port_cnt; ++port)
      for (const auto& [index, gid] : gids_of(context.get(), port))
        if (gid == address) return std::make_unique<PortVerbs>(std::move(context), port, index, completions);
  }
  throw VerbsError(fmt::format("no RDMA device of this host has the RoCE v2 GID {}", wire::to_string(address)));
}

std::map<std::string, std::uint64_t> RdmaVerbs::counters(const std::string& device) {
  std::map<std::string, std::uint64_t> all;
  std::error_code error;
  const std::filesystem::path folder = "/sys/class/infiniband/" + device + "/ports/1/hw_counters";
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    std::uint64_t count = 0;
    if (name != "lifespan" && std::ifstream(entry.path()) >> count) all[name] = count;
  }
  return all;
}

}  // namespace railyard::agent
