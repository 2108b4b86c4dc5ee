// What a packet costs an engine, from post to completion, by how many QPs are active at once: a sender's and a
// receiver's engine on one core, nothing between them. Every QP always has a message under way, so that packets of all QPs follow
// each other in turn. `ratio`: against as many packets of 10 QPs, measured in turn with them, because machines are not
// steady.
#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <vector>

#include <benchmark/benchmark.h>

#include "transports/roce/engine.h"

namespace railyard::roce {
namespace {

constexpr ProtectionDomain kDomain{1};
constexpr std::uint32_t kMtu = 4096;
constexpr std::uint32_t kMessage = 16 * kMtu;
constexpr std::uint64_t kAddress = 0x7F0000000000;
constexpr std::size_t kBurst = 32;                             // as NICs hand them over
constexpr Duration kPacketTime{(kMtu + 82) * 8 * 1000 / 400};  // at 400 Gb/s

constexpr BitRate kLine{400'000'000'000};

// Paced: every QP at its share of the line for good, so that each packet waits for an instant of its own.
CongestionConfig congestion_of(std::uint32_t qps, bool paced) {
  if (!paced) return {};
  DcqcnConfig config = DcqcnConfig::vendor(kLine);
  config.on_first_cnp = {kLine.bps / qps};
  config.cut_period = config.alpha_period = config.increase_period = {1'000'000'000'000'000};
  return config;
}

class World {
 public:
  World(std::uint32_t qps, bool paced) : ends_{End(congestion_of(qps, paced)), End(congestion_of(qps, paced))} {
    for (std::uint32_t i = 0; i < qps; ++i) {
      for (std::size_t e = 0; e < 2; ++e)
        ends_[e].qps.push_back(ends_[e]
                                   .engine
                                   .create_qp({.domain = kDomain,
                                               .send_cq = ends_[e].cq,
                                               .recv_cq = ends_[e].cq,
                                               .max_send_wr = 4,
                                               .max_recv_wr = 4,
                                               .cnps = true})
                                   .value());
      connect(0, i);
      connect(1, i);
      if (paced) {
        InPacket cnp{.source = wire::IpAddress(0x0A000002u), .destination = wire::IpAddress(0x0A000001u)};
        cnp.packet.bth = cnp_bth(0x11 + i);
        ends_[0].engine.on_packet(now_, cnp);
      }
      post(i);
      post(i);
    }
    // Until memory is as it will be.
    run(qps * 64);
  }

  // Carries `packets` packets of data from end 0 to end 1, acknowledges and all.
  void run(std::size_t packets) {
    for (std::size_t done = 0; done < packets;) {
      const std::size_t n = carry(0, 1);
      carry(1, 0);
      reap();
      done += n;
      if (n == 0)
        now_ = std::max(now_ + kPacketTime, std::min(ends_[0].engine.ready(now_).until, now_ + kPacketTime * 100));
    }
  }
  bool all_well() const {
    return ends_[0].engine.counters().all_drops() == 0 && ends_[1].engine.counters().all_drops() == 0 &&
           ends_[0].engine.counters().retransmitted_packets.read() == 0;
  }

 private:
  struct End {
    explicit End(const CongestionConfig& congestion) : engine({.congestion = congestion}) {
      key = engine.memory()
                .add({.address = kAddress,
                      .octets = 1 << 20,
                      .access = AccessSet(Access::kLocalWrite) | Access::kRemoteWrite,
                      .domain = kDomain})
                .value();
      cq = engine.create_cq(1 << 16);
    }
    Engine engine;
    MemoryRegions::Key key = 0;
    CqId cq{};
    std::vector<QpNumber> qps;
  };

  void connect(std::size_t e, std::uint32_t i) {
    using enum QpAttribute;
    End& end = ends_[e];
    QpAttributes a{.access_flags = Access::kRemoteWrite, .path_mtu = PathMtu::k4096};
    a.av.source = wire::IpAddress(0x0A000001u + static_cast<std::uint32_t>(e));
    a.av.destination = wire::IpAddress(0x0A000002u - static_cast<std::uint32_t>(e));
    a.dest_qpn = 0x11 + i;
    const auto to = [&](QpState state, QpAttributeSet given) {
      if (!end.engine.modify_qp(now_, end.qps[i], state, given, a)) std::abort();
    };
    to(QpState::kInit, {kAccessFlags, kPKeyIndex, kPort});
    to(QpState::kRtr, {kAv, kPathMtu, kDestQpn, kRqPsn, kMaxDestRdAtomic, kMinRnrTimer});
    to(QpState::kRts, {kSqPsn, kTimeout, kRetryCnt, kRnrRetry, kMaxRdAtomic});
  }
  void post(std::uint32_t i) {
    const SendWr wr{.wr_id = i,
                    .opcode = SendOpcode::kWrite,
                    .sges = {{kAddress, kMessage, ends_[0].key}},
                    .remote_address = kAddress,
                    .r_key = ends_[1].key};
    if (!ends_[0].engine.post_send(now_, ends_[0].qps[i], wr)) std::abort();
  }
  std::size_t carry(std::size_t from, std::size_t to) {
    Engine& sender = ends_[from].engine;
    sender.begin_burst();
    std::size_t n = 0;
    if (sender.ready(now_).classes == 0) return 0;
    for (; n < kBurst; ++n) {
      OutPacket& out = burst_[n];
      if (!sender.send(now_, Priority{3}, out)) break;
      if (from == 0) now_ = now_ + kPacketTime;
    }
    constexpr std::size_t kAhead = 4;
    for (std::size_t i = 0; i < n; ++i) {
      if (i + kAhead < n) ends_[to].engine.expect(burst_[i + kAhead].packet);
      const OutPacket& out = burst_[i];
      ends_[to].engine.on_packet(now_, {.packet = out.packet,
                                        .payload = out.payload,
                                        .source = out.path->av().source,
                                        .destination = out.path->av().destination});
    }
    return n;
  }
  void reap() {
    std::array<Completion, 64> done;
    const std::size_t n = ends_[0].engine.poll(ends_[0].cq, done);
    for (std::size_t i = 0; i < n; ++i) post(static_cast<std::uint32_t>(done[i].wr_id));
  }

  std::array<End, 2> ends_;
  std::array<OutPacket, kBurst> burst_{};
  Instant now_{};
};

void ActiveQps(benchmark::State& state) {
  constexpr std::size_t kPackets = 100'000;
  const bool paced = state.range(1) != 0;
  World few(10, paced);
  World many(static_cast<std::uint32_t>(state.range(0)), paced);
  std::vector<double> ratios, costs;
  for (auto _ : state) {
    const auto t0 = std::clock();
    few.run(kPackets);
    const auto t1 = std::clock();
    many.run(kPackets);
    const auto t2 = std::clock();
    ratios.push_back(static_cast<double>(t2 - t1) / static_cast<double>(t1 - t0));
    costs.push_back(static_cast<double>(t2 - t1) * 1e9 / CLOCKS_PER_SEC / kPackets);
  }
  if (!few.all_well() || !many.all_well()) state.SkipWithError("packets were lost or dropped");
  std::ranges::sort(ratios);
  std::ranges::sort(costs);
  state.counters["ns_a_packet"] = costs[costs.size() / 2];
  state.counters["ratio"] = ratios[ratios.size() / 2];
}
BENCHMARK(ActiveQps)
    ->ArgNames({"qps", "paced"})
    ->ArgsProduct({{10, 100, 1000, 10'000}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(15);

}  // namespace
}  // namespace railyard::roce

BENCHMARK_MAIN();
