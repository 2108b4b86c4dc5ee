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
    std::uint64_t wr_id;
    std::uint64_t address;
    std::uint32_t key;
    std::uint32_t immediate;
    std::vector<std::byte> data;
  };
  struct Qp {
    Device* device = nullptr;
    bool initialised = false;
    bool connected = false;
    std::uint32_t peer = 0;
    std::uint64_t send_requests = 0;
    std::uint64_t sends_out = 0;
    std::deque<std::uint64_t> receives{};
  };
  struct Device {
    std::span<std::byte> memory{};
    std::uint32_t key = 0;
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
        complete(*from->second.device, {.wr_id = m.wr_id, .ok = false, .error = "transport retry counter exceeded"});
        any = true;
        continue;
      }
      Qp& there = to->second;
      if (!there.connected || there.receives.empty()) {  // RNR, or not yet: again
        messages_.push_back(std::move(m));
        continue;
      }
      any = true;
      Device& d = *there.device;
      const auto base = reinterpret_cast<std::uintptr_t>(d.memory.data());
      const bool in_range = m.data.empty() || (m.key == d.key && m.address >= base &&
                                               m.address + m.data.size() <= base + d.memory.size());
      --from->second.sends_out;
      complete(*from->second.device,
               {.wr_id = m.wr_id, .ok = in_range, .error = in_range ? "" : "remote access error"});
      if (!in_range) continue;
      if (!m.data.empty()) std::memcpy(d.memory.data() + (m.address - base), m.data.data(), m.data.size());
      if (spoil && !m.data.empty()) d.memory[m.address - base] ^= std::byte{std::exchange(spoil, false)};
      complete(d, {.wr_id = there.receives.front(),
                   .immediate = m.immediate,
                   .octets = static_cast<std::uint32_t>(m.data.size())});
      there.receives.pop_front();
    }
    return any;
  }
  // An octet of the next message that is delivered is another one.
  bool spoil = false;

 private:
  friend class FakeRankVerbs;
  static void complete(Device& d, WorkCompletion c) {
    if (d.completions.size() >= d.most_completions) throw VerbsError("the completion queue is overrun");
    d.completions.push_back(std::move(c));
  }
  std::uint32_t next_qpn_ = 17;
  std::uint32_t next_key_ = 100;
  std::map<std::uint32_t, Qp> qps_;
  std::deque<Message> messages_;
};

class FakeRankVerbs final : public RankVerbs {
 public:
  FakeRankVerbs(FakeNetwork& network, std::string device, std::size_t completions)
      : network_(network), name_(std::move(device)) {
    here_.most_completions = completions;
  }
  ~FakeRankVerbs() override {
    for (const std::uint32_t qpn : here_.qps) network_.qps_.erase(qpn);
  }
  const std::string& device() const override { return name_; }
  Memory register_memory(std::span<std::byte> memory) override {
    here_.memory = memory;
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
  void connect(std::size_t qp, const agents::QpPeer& peer, const QpSettings& settings) override {
    if (settings.path_mtu > 4096 || !at(qp).initialised) throw VerbsError("QP cannot go to RTR");
    at(qp).peer = peer.qpn;
    at(qp).connected = true;
  }
  void post_write(std::size_t qp, const WriteImm& w) override {
    FakeNetwork::Qp& q = at(qp);
    if (!q.connected || q.sends_out >= q.send_requests) throw VerbsError("a WRITE cannot be posted");
    ++q.sends_out;
    const auto data = here_.memory.subspan(w.offset, w.octets);
    network_.messages_.push_back({here_.qps[qp], q.peer, w.wr_id, w.remote_address, w.remote_key, w.immediate,
                                  std::vector<std::byte>(data.begin(), data.end())});
  }
  void post_receive(std::size_t qp, std::uint64_t wr_id) override { at(qp).receives.push_back(wr_id); }
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
  std::unique_ptr<RankVerbs> open(const wire::IpAddress& address, std::size_t completions) override {
    if (address != address_) throw VerbsError("no RDMA device here has the address " + wire::to_string(address));
    return std::make_unique<FakeRankVerbs>(network_, "rxe1", completions);
  }
  std::map<std::string, std::uint64_t> counters(const std::string&) override { return {{"sent_pkts", counted += 7}}; }
  bool has_device = true;
  std::uint64_t counted = 0;

 private:
  FakeNetwork& network_;
  wire::IpAddress address_;
};

}  // namespace railyard::agent
