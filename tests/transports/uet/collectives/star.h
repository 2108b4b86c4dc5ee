// Ranks of a collective, each behind its own UET NIC, around a switch without queues: every frame arrives 1 us after it
// has left at 100 Gb/s, unless a test makes something else of it. Those of one host may have a scale-up network of
// 800 Gb/s and 300 ns.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dataplane/base/payload_pattern.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/parse.h"
#include "tests/transports/uet/pair.h"
#include "transports/uet/collectives/collective_connection.h"
#include "transports/uet/flows/flow_endpoint.h"

namespace railyard::uet {

struct StarConfig {
  bool real = false;
  EngineConfig engine = test_config();
  DeliveryMode mode = DeliveryMode::kRud;
  std::vector<std::uint32_t> host{};  // by rank; empty: none is with another
};

class Star {
 public:
  // As many jobs as there are lists of programs, all over the same NICs.
  Star(const CollectiveConfig& config, std::vector<std::vector<RankProgram>> jobs, const StarConfig& star) {
    encapsulation_.dscp.trimmed = 12;
    const std::size_t n = jobs.front().size();
    std::map<std::uint32_t, std::shared_ptr<ScaleUp>> networks;
    for (std::size_t r = 0; r < n; ++r) {
      nics_.push_back(std::make_unique<FlowEndpoint>(star.engine, encapsulation_,
                                                     RngStream(Seed{1}, fmt::format("nic {}", r)), star.real, 1));
      if (star.host.empty()) continue;
      auto& network = networks[star.host[r]];
      if (network == nullptr)
        network = std::make_shared<ScaleUp>(ScaleUpConfig{BitRate{800'000'000'000}, Duration{300'000}});
      nics_.back()->join(network);
    }
    free_at_.resize(n);
    for (std::uint32_t job = 0; job < jobs.size(); ++job) {
      CollectiveConfig c = config;
      c.index = job;
      std::vector<CollectiveEnd> ends;
      for (std::size_t r = 0; r < n; ++r) {
        UetRank& rank = nics_[r]->add_rank(c, std::move(jobs[job][r]), {.job_id = 2 + job, .mode = star.mode});
        ends.push_back({&rank, nics_[r].get()});
        ranks.push_back(&rank);
      }
      connect_ranks(ends, [](std::uint32_t from, std::uint32_t to, std::uint32_t) {
        AddressVector av{};
        av.source = wire::IpAddress(kNet + from);
        av.destination = wire::IpAddress(kNet + to);
        return av;
      });
    }
  }
  Star(const CollectiveConfig& config, std::vector<RankProgram> programs, const StarConfig& star)
      : Star(config, std::vector<std::vector<RankProgram>>(1, std::move(programs)), star) {}

  std::vector<const UetRank*> ranks;
  // What becomes of a frame from a rank.
  std::function<Fate(std::size_t from, Instant at)> fate = [](std::size_t, Instant) { return Fate{}; };

  // Until nothing happens any more, or `until`.
  void run(Instant until = Instant{} + Duration{10'000'000'000'000}) {
    for (;;) {
      Instant next = Instant::never();
      for (std::size_t i = 0; i < nics_.size(); ++i) next = std::min(next, step(i));
      if (!arrivals_.empty()) next = std::min(next, arrivals_.begin()->first.first);
      if (next == Instant::never() || next > until) return;
      now_ = std::max(now_, next);
      while (!arrivals_.empty() && arrivals_.begin()->first.first <= now_) {
        const Frame f = std::move(arrivals_.begin()->second);
        arrivals_.erase(arrivals_.begin());
        PayloadRef payload = f.payload;
        if (!f.octets.empty()) payload.bytes = f.octets.data();
        const RxFrame in{now_, f.at, f.header, payload, !f.trimmed, f.trimmed};
        nics_[f.to]->receive({&in, 1});
      }
    }
  }

  Engine& engine(std::size_t rank) { return nics_[rank]->engine(); }
  FlowEndpoint& nic(std::size_t rank) { return *nics_[rank]; }
  Instant now() const { return now_; }
  bool complete() const {
    return std::ranges::all_of(ranks, [](const UetRank* r) { return r->complete(); });
  }
  std::uint64_t wrong_octets() const {
    std::uint64_t all = 0;
    for (const UetRank* r : ranks) all += r->wrong().octets;
    return all;
  }
  std::uint64_t wrong_messages() const {
    std::uint64_t all = 0;
    for (const UetRank* r : ranks) all += r->wrong_messages();
    return all;
  }
  std::uint64_t retransmitted() {
    std::uint64_t all = 0;
    for (const auto& nic : nics_) all += nic->engine().counters().retransmitted_packets.read();
    return all;
  }
  // Of the first job.
  Duration time(std::uint32_t repeat) const {
    Instant begin = Instant::never();
    Instant end{};
    for (std::size_t r = 0; r < nics_.size(); ++r) {
      begin = std::min(begin, ranks[r]->started().at(repeat));
      end = std::max(end, ranks[r]->finished().at(repeat));
    }
    return end - begin;
  }

 private:
  static constexpr std::uint32_t kNet = 0x0A000001;
  struct Frame {
    std::size_t to = 0;
    Instant at{};
    std::vector<std::byte> header;
    PayloadRef payload;
    std::vector<std::byte> octets;  // real payload
    bool trimmed = false;
  };

  // Cut behind the IP header's next 24 octets (uet §10.4).
  void trim(Frame& f) const {
    constexpr std::size_t kL3 = wire::Ethernet::kOctets;
    constexpr std::size_t kKept = 24;
    f.header.resize(kL3 + wire::Ipv4::kOctets + kKept);
    std::byte* const h = f.header.data() + kL3;
    wire::write<wire::Ipv4::DSCP>(h, *encapsulation_.dscp.trimmed);
    wire::write<wire::Ipv4::TotalLength>(h, static_cast<std::uint16_t>(f.header.size() - kL3));
    wire::write<wire::Ipv4::HeaderChecksum>(h, 0);
    wire::write<wire::Ipv4::HeaderChecksum>(h, wire::internet_checksum({h, wire::Ipv4::kOctets}));
    f.payload = {};
    f.octets.clear();
    f.trimmed = true;
  }

  // Sends what can go now; when the NIC wants to be looked at again.
  Instant step(std::size_t i) {
    const Readiness r = nics_[i]->ready(now_);
    if (now_ < free_at_[i]) return std::min(free_at_[i], r.until);
    for (std::size_t p = kPriorities; p-- > 0;) {
      const Priority priority{static_cast<std::uint8_t>(p)};
      if ((r.classes & bit(priority)) == 0) continue;
      std::array<std::byte, kMaxHeaderOctets> header;
      TxFrame out;
      out.header = header.data();
      if (nics_[i]->send(now_, priority, {&out, 1}) == 0) continue;
      Frame f{0, now_, {header.begin(), header.begin() + out.header_octets}, out.payload, {}};
      const auto view = wire::parse_frame(f.header, f.header.size() + out.payload.octets + out.trailer_octets);
      f.to = view->destination.v4() - kNet;
      if (nics_[i]->has_real_payload() && out.payload.octets > 0) {
        f.octets.resize(out.payload.octets);
        if (out.payload.bytes != nullptr)
          std::copy_n(out.payload.bytes, out.payload.octets, f.octets.begin());
        else
          fill_payload(out.payload.stream, out.payload.offset, f.octets);
      }
      f.payload.bytes = nullptr;
      const auto octets = static_cast<std::int64_t>(f.header.size() + f.payload.octets + out.trailer_octets + 24);
      free_at_[i] = now_ + Bytes{octets} / BitRate{100'000'000'000};
      const Fate what = fate(i, now_);
      if (what.lost) return free_at_[i];
      if (what.trimmed && f.payload.octets > 0) trim(f);
      for (unsigned n = 0; n < what.copies; ++n) {
        const Duration late = what.late + (n > 0 ? what.copy_late : Duration{});
        arrivals_.emplace(std::pair{free_at_[i] + Duration{1'000'000} + late, order_++}, f);
      }
      return free_at_[i];
    }
    return r.until;
  }

  EncapsulationConfig encapsulation_{};
  std::vector<std::unique_ptr<FlowEndpoint>> nics_;
  std::vector<Instant> free_at_;
  std::map<std::pair<Instant, std::uint64_t>, Frame> arrivals_;
  std::uint64_t order_ = 0;
  Instant now_{};
};

}  // namespace railyard::uet
