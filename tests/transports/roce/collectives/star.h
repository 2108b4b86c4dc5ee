// Ranks of a collective, each behind its own NIC, around a switch without queues: every frame arrives 1 us after it has
// left at 100 Gb/s. Those of one host may have a scale-up network of 800 Gb/s and 300 ns.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "dataplane/base/payload_pattern.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/parse.h"
#include "transports/roce/collectives/collective_connection.h"

namespace railyard::roce {

class Star {
 public:
  // `host`: by rank; empty: none is with another. `apart`: each rank is made as if all others were elsewhere, and
  // connected and started 3 us after the run began.
  Star(const CollectiveConfig& config, std::vector<RankProgram> programs, bool real, PathMtu mtu = PathMtu::k1024,
       const std::vector<std::uint32_t>& host = {}, bool apart = false) {
    std::map<std::uint32_t, std::shared_ptr<ScaleUp>> networks;
    std::vector<CollectiveEnd>& ends = ends_;
    config_ = config;
    programs_ = programs;
    for (std::size_t r = 0; r < programs.size(); ++r) {
      nics_.push_back(std::make_unique<FlowEndpoint>(EngineConfig{}, real, 1));
      if (!host.empty()) {
        auto& network = networks[host[r]];
        if (network == nullptr)
          network = std::make_shared<ScaleUp>(ScaleUpConfig{BitRate{800'000'000'000}, Duration{300'000}});
        nics_.back()->join(network);
      }
      CollectiveEnd& end = ends.emplace_back();
      end.nic = nics_.back().get();
      end.attributes.path_mtu = mtu;
      end.attributes.timeout = 5;
    }
    if (apart)
      make_apart(config, programs, ends, way);
    else
      ranks = CollectiveConnection::make(config, std::move(programs), ends, way, 42);
    free_at_.resize(nics_.size());
  }

  std::vector<CollectiveRank*> ranks;
  // How often a frame from a rank arrives.
  std::function<unsigned(std::size_t from, Instant at)> fate = [](std::size_t, Instant) { return 1u; };

  void run(Instant until = Instant{} + Duration{100'000'000'000}) {
    for (;;) {
      Instant next = Instant::never();
      for (std::size_t i = 0; i < nics_.size(); ++i) next = std::min(next, step(i));
      if (!arrivals_.empty()) next = std::min(next, arrivals_.begin()->first.first);
      if (next > until) return;
      now_ = std::max(now_, next);
      while (!arrivals_.empty() && arrivals_.begin()->first.first <= now_) {
        const Frame f = std::move(arrivals_.begin()->second);
        arrivals_.erase(arrivals_.begin());
        PayloadRef payload = f.payload;
        if (!f.octets.empty()) payload.bytes = f.octets.data();
        const RxFrame in{now_, f.at, f.header, payload, true};
        nics_[f.to]->receive({&in, 1});
      }
    }
  }

  // All ranks are given up, and others carry out the same from now on.
  void again() {
    for (const CollectiveRank* r : ranks)
      CollectiveConnection::retire(const_cast<RoceRank&>(static_cast<const RoceRank&>(*r)));
    config_.start = now_;
    ranks = CollectiveConnection::make(config_, programs_, ends_, way, 43);
  }
  // As somebody does who stops the collective: those that go on are finished, by all ranks.
  void hold() {
    std::size_t begun = 0;
    for (const CollectiveRank* r : ranks) begun = std::max(begun, r->started().size());
    for (CollectiveRank* r : ranks) r->hold_after(static_cast<std::uint32_t>(begun));
  }
  void go_on(std::uint32_t more) {
    for (CollectiveRank* r : ranks) r->go_on(now_, more);
  }
  // All NICs.
  void stop_at(Instant at) {
    for (const auto& nic : nics_) nic->stop_at(at);
  }
  bool complete() const {
    for (const CollectiveRank* r : ranks)
      if (!r->complete()) return false;
    return true;
  }
  WrongData wrong() const {
    WrongData sum;
    for (const CollectiveRank* r : ranks) {
      if (sum.octets == 0) sum = r->wrong();
      else sum.octets += r->wrong().octets;
    }
    return sum;
  }
  std::uint64_t wrong_messages() const {
    std::uint64_t sum = 0;
    for (const CollectiveRank* r : ranks) sum += r->wrong_messages();
    return sum;
  }
  Duration time(std::uint32_t repeat) const {
    Instant begin = Instant::never();
    Instant end{};
    for (const CollectiveRank* r : ranks) {
      begin = std::min(begin, r->started().at(repeat));
      end = std::max(end, r->finished().at(repeat));
    }
    return end - begin;
  }

 private:
  static constexpr std::uint32_t kNet = 0x0A000001;
  static AddressVector way(std::uint32_t from, std::uint32_t to, std::uint32_t = 0) {
    AddressVector av;
    av.source = wire::IpAddress(kNet + from);
    av.destination = wire::IpAddress(kNet + to);
    return av;
  }

  void make_apart(CollectiveConfig config, const std::vector<RankProgram>& programs,
                  const std::vector<CollectiveEnd>& ends, const CollectiveConnection::Way& way) {
    const Instant at = Instant{} + Duration{3'000'000};
    config.start = Instant::never();
    std::vector<RoceRank*> made;
    for (std::size_t r = 0; r < programs.size(); ++r) {
      std::vector<CollectiveEnd> alone(ends.size());
      alone[r] = ends[r];
      made.push_back(CollectiveConnection::make_those_here(config, programs, alone, way, 42)[r]);
    }
    for (std::uint32_t r = 0; r < made.size(); ++r) {
      for (std::uint32_t c = 0; c < made[r]->program().connections.size(); ++c) {
        const RankConnection& plan = made[r]->program().connections[c];
        QpAttributes a = ends[r].attributes;
        a.av = way(r, plan.peer, plan.channel);
        a.av.source_port = 0xC001;
        a.sq_psn = 1000 * r + plan.peer;
        a.rq_psn = 1000 * plan.peer + r;
        CollectiveConnection::connect_to(at, *made[r], c, CollectiveConnection::end_of(*made[plan.peer], plan.at_peer),
                                         a);
      }
      made[r]->start_at(at);
    }
    ranks.assign(made.begin(), made.end());
  }

  struct Frame {
    std::size_t to = 0;
    Instant at{};
    std::vector<std::byte> header;
    PayloadRef payload;
    std::vector<std::byte> octets;  // real payload
  };

  // Sends what can go now; when the NIC wants to be looked at again.
  Instant step(std::size_t i) {
    if (now_ < free_at_[i]) return free_at_[i];
    const Readiness r = nics_[i]->ready(now_);
    for (std::uint8_t p = 0; p < kPriorities; ++p) {
      if ((r.classes & bit(Priority{p})) == 0) continue;
      std::array<std::byte, kMaxHeaderOctets> header;
      TxFrame out;
      out.header = header.data();
      if (nics_[i]->send(now_, Priority{p}, {&out, 1}) == 0) continue;
      const std::uint32_t pad = out.trailer_octets - std::uint32_t{wire::kIcrcOctets};
      Frame f{0, now_, {header.begin(), header.begin() + out.header_octets}, out.payload, {}};
      const auto view = wire::parse_frame(f.header, f.header.size() + out.payload.octets + out.trailer_octets);
      f.to = view->destination.v4() - kNet;
      if (nics_[i]->has_real_payload() && out.payload.octets > 0) {
        f.octets.resize(out.payload.octets + pad);
        if (out.payload.bytes != nullptr)
          std::copy_n(out.payload.bytes, out.payload.octets, f.octets.begin());
        else
          fill_payload(out.payload.stream, out.payload.offset, std::span(f.octets).first(out.payload.octets));
      }
      f.payload.octets += pad;
      f.payload.bytes = nullptr;
      const auto octets = static_cast<std::int64_t>(f.header.size() + f.payload.octets + 28);
      free_at_[i] = now_ + Bytes{octets} / BitRate{100'000'000'000};
      for (unsigned n = fate(i, now_); n > 0; --n)
        arrivals_.emplace(std::pair{free_at_[i] + Duration{1'000'000}, order_++}, f);
      return free_at_[i];
    }
    return r.until;
  }

  CollectiveConfig config_;
  std::vector<RankProgram> programs_;
  std::vector<CollectiveEnd> ends_;
  std::vector<std::unique_ptr<FlowEndpoint>> nics_;
  std::vector<Instant> free_at_;
  std::map<std::pair<Instant, std::uint64_t>, Frame> arrivals_;
  std::uint64_t order_ = 0;
  Instant now_{};
};

}  // namespace railyard::roce
