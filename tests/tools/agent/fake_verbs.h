// RDMA devices of a test: all in one process, memory copied when it is told to deliver, nothing lost. What real ones
// check is checked here: keys, ranges, receive requests, states.
#pragma once

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/agent/verbs.h"

namespace railyard::agent {

class FakeNetwork {
 public:
  struct Device;
  struct Message {
    std::uint32_t from;  // QP numbers
    std::uint32_t to;
    SendRequest request;
    std::vector<std::byte> data;  // of READ: none
  };
  struct Receive {
    std::uint64_t wr_id;
    std::uint64_t offset;
    std::uint32_t octets;
  };
  struct Qp {
    Device* device = nullptr;
    bool initialised = false;
    bool connected = false;
    std::uint32_t peer = 0;
    std::uint64_t send_requests = 0;
    std::uint64_t sends_out = 0;
    std::deque<Receive> receives{};
  };
  struct Device {
    std::span<std::byte> memory{};
    std::uint32_t key = 0;
    bool readable = false;
    std::vector<std::uint32_t> qps{};
    std::deque<WorkCompletion> completions{};
    std::size_t most_completions = 0;
  };

  // Of everything that was posted before; false: nothing moved.
  bool deliver() {
    bool any = false;
    std::deque<Message> waiting = std::exchange(messages_, {});
    for (Message& m : waiting) {
      const auto from = qps_.find(m.from);
      if (from == qps_.end()) continue;  // whoever sent it has gone
      const auto to = qps_.find(m.to);
      if (to == qps_.end()) {
        --from->second.sends_out;
        complete(*from->second.device,
                 {.wr_id = m.request.wr_id, .ok = false, .error = "transport retry counter exceeded"});
        any = true;
        continue;
      }
      Qp& there = to->second;
      if (!there.connected || (takes_receive(m.request) && there.receives.empty())) {  // RNR, or not yet: again
        messages_.push_back(std::move(m));
        continue;
      }
      any = true;
      --from->second.sends_out;
      const std::string error = carry_out(*from->second.device, there, m);
      complete(*from->second.device, {.wr_id = m.request.wr_id, .ok = error.empty(), .error = error});
    }
    return any;
  }
  // An octet of the next message that is delivered is another one.
  bool spoil = false;

 private:
  friend class FakeRcVerbs;
  using Opcode = SendRequest::Opcode;

  static bool takes_receive(const SendRequest& r) { return r.opcode == Opcode::kWriteImm || r.opcode == Opcode::kSend; }
  // Why not, if it cannot be.
  std::string carry_out(Device& from, Qp& there, const Message& m) {
    Device& d = *there.device;
    const SendRequest& r = m.request;
    std::uint64_t at = r.remote_address - reinterpret_cast<std::uintptr_t>(d.memory.data());
    if (r.opcode != Opcode::kSend && r.octets > 0 &&
        (r.remote_key != d.key || at > d.memory.size() || r.octets > d.memory.size() - at ||
         (r.opcode == Opcode::kRead && !d.readable)))
      return "remote access error";
    if (r.opcode == Opcode::kRead) {
      copy(from, r.offset, d.memory.subspan(at, r.octets));
      return {};
    }
    if (r.opcode == Opcode::kSend) {
      if (there.receives.front().octets < r.octets) return "remote invalid request error";
      at = there.receives.front().offset;
    }
    copy(d, at, m.data);
    if (!takes_receive(r)) return {};
    WorkCompletion came{.wr_id = there.receives.front().wr_id, .received = true, .octets = r.octets};
    if (r.opcode == Opcode::kWriteImm) came.immediate = r.immediate;
    complete(d, std::move(came));
    there.receives.pop_front();
    return {};
  }
  void copy(Device& d, std::uint64_t at, std::span<const std::byte> data) {
    if (data.empty()) return;
    std::memcpy(d.memory.data() + at, data.data(), data.size());
    if (spoil) d.memory[at] ^= std::byte{std::exchange(spoil, false)};
  }
  static void complete(Device& d, WorkCompletion c) {
    if (d.completions.size() >= d.most_completions) throw VerbsError("the completion queue is overrun");
    d.completions.push_back(std::move(c));
  }
  std::uint32_t next_qpn_ = 17;
  std::uint32_t next_key_ = 100;
  std::map<std::uint32_t, Qp> qps_;
  std::deque<Message> messages_;
};

class FakeRcVerbs final : public RcVerbs {
 public:
  FakeRcVerbs(FakeNetwork& network, std::string device, std::size_t completions)
      : network_(network), name_(std::move(device)) {
    here_.most_completions = completions;
  }
  ~FakeRcVerbs() override {
    for (const std::uint32_t qpn : here_.qps) network_.qps_.erase(qpn);
  }
  const std::string& device() const override { return name_; }
  std::uint8_t most_reads() const override { return 2; }
  Memory register_memory(std::span<std::byte> memory, RemoteAccess access) override {
    here_.memory = memory;
    here_.readable = access == RemoteAccess::kReadToo;
    here_.key = network_.next_key_++;
    return {reinterpret_cast<std::uintptr_t>(memory.data()), here_.key};
  }
  std::uint32_t create_qp(std::size_t send_requests, std::size_t) override {
    const std::uint32_t qpn = network_.next_qpn_++;
    network_.qps_[qpn] = {.device = &here_, .send_requests = send_requests};
    here_.qps.push_back(qpn);
    return qpn;
  }
  void initialise(std::size_t qp) override { at(qp).initialised = true; }
  void connect(std::size_t qp, const agents::QpPeer& peer, const agents::QpTerms& terms) override {
    if (terms.path_mtu > 4096 || terms.reads > most_reads() || !at(qp).initialised)
      throw VerbsError("cannot move the QP to RTR");
    at(qp).peer = peer.qpn;
    at(qp).connected = true;
  }
  void post_send(std::size_t qp, const SendRequest& r) override {
    FakeNetwork::Qp& q = at(qp);
    if (!q.connected || q.sends_out >= q.send_requests) throw VerbsError("cannot post a message");
    ++q.sends_out;
    const auto data = here_.memory.subspan(r.offset, r.octets);
    FakeNetwork::Message m{here_.qps[qp], q.peer, r, {}};
    if (r.opcode != SendRequest::Opcode::kRead) m.data.assign(data.begin(), data.end());
    network_.messages_.push_back(std::move(m));
  }
  void post_receive(std::size_t qp, std::uint64_t wr_id, std::uint64_t offset, std::uint32_t octets) override {
    at(qp).receives.push_back({wr_id, offset, octets});
  }
  std::size_t poll(std::span<WorkCompletion> out) override {
    std::size_t n = 0;
    for (; n < out.size() && !here_.completions.empty(); ++n) {
      out[n] = std::move(here_.completions.front());
      here_.completions.pop_front();
    }
    return n;
  }
  int ready_fd() const override { return -1; }

 private:
  FakeNetwork::Qp& at(std::size_t qp) { return network_.qps_.at(here_.qps[qp]); }

  FakeNetwork& network_;
  std::string name_;
  FakeNetwork::Device here_;
};

// One device with one address.
class FakeVerbs final : public Verbs {
 public:
  FakeVerbs(FakeNetwork& network, const std::string& address)
      : network_(network), address_(*wire::IpAddress::parse(address)) {}
  std::vector<agents::DevicePort> devices() override {
    if (!has_device) return {};
    return {{.device = "rxe1", .port = 1, .state = "ACTIVE", .active_mtu = 4096, .max_qps = 1000,
             .max_work_requests = 16384, .max_completions = 32767, .gids = {address_}}};
  }
  std::unique_ptr<RcVerbs> open(const wire::IpAddress& address, std::size_t completions) override {
    if (address != address_)
      throw VerbsError("no RDMA device of this host has the RoCE v2 GID " + wire::to_string(address));
    return std::make_unique<FakeRcVerbs>(network_, "rxe1", completions);
  }
  std::map<std::string, std::uint64_t> counters(const std::string&) override { return {{"sent_pkts", counted += 7}}; }
  bool has_device = true;
  std::uint64_t counted = 0;

 private:
  FakeNetwork& network_;
  wire::IpAddress address_;
};

}  // namespace railyard::agent
