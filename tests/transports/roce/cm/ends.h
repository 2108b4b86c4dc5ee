// Two ends of connection management and a wire between them that loses and doubles what a test wants.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "transports/roce/cm/connection_manager.h"

namespace railyard::roce::cm {

inline constexpr std::uint16_t kPort = 7471;
inline constexpr Duration kWireDelay{1'000'000};

inline std::vector<std::byte> octets_of(std::string_view text) {
  const auto octets = std::as_bytes(std::span(text));
  return {octets.begin(), octets.end()};
}
inline std::string text_of(std::span<const std::byte> octets) {
  std::string text;
  for (const std::byte b : octets)
    if (b != std::byte{}) text += static_cast<char>(b);
  return text;
}
inline wire::IpAddress ip(std::size_t i) { return wire::IpAddress(0x0A000001u + static_cast<std::uint32_t>(i)); }

struct Sent {
  std::size_t from;
  std::string name;
  std::size_t nth;  // of that name from there, from 0 on
  Message message;
};
enum class What { kArrives, kLost, kTwice };

class Ends {
 public:
  explicit Ends(QpType type = QpType::kRc, const std::function<void(CmConfig&)>& change = {}) {
    for (std::size_t i = 0; i < 2; ++i) {
      End& e = ends_[i];
      e.engine = std::make_unique<Engine>(EngineConfig{});
      CmConfig config{.seed = {i + 1}, .ca_guid = 0xA0 + i};
      config.route = [](const wire::IpAddress& own, const wire::IpAddress& peer) -> std::optional<AddressVector> {
        if (peer != ip(0) && peer != ip(1)) return std::nullopt;
        AddressVector av;
        av.source = own;
        av.destination = peer;
        return av;
      };
      if (change) change(config);
      e.manager = std::make_unique<ConnectionManager>(*e.engine, config);
      e.cq = e.engine->create_cq(16);
      e.type = type;
    }
    manager(1).listen(PortSpace::kTcp, kPort);
  }

  ConnectionManager& manager(std::size_t i) { return *ends_[i].manager; }
  Engine& engine(std::size_t i) { return *ends_[i].engine; }
  QpNumber qp(std::size_t i) {
    return *engine(i).create_qp({.type = ends_[i].type, .send_cq = ends_[i].cq, .recv_cq = ends_[i].cq});
  }
  Instant now() const { return now_; }
  const Qp& state(std::size_t i, QpNumber number) { return *engine(i).qp(number); }

  ConnectionId connect(QpNumber qp, ConnectionParameters parameters = {}, std::uint16_t port = kPort) {
    parameters.qp = qp;
    const auto id = manager(0).connect(now_, {.source_port = 40000, .source = ip(0), .destination = ip(1)},
                                       PortSpace::kTcp, port, parameters);
    EXPECT_TRUE(id) << name(id.error());
    return id.value_or(ConnectionId{});
  }

  // Until nothing happens any more, or `until`. REQs are accepted by end 1 if it should.
  void run(Instant until = Instant::never()) {
    for (;;) {
      for (std::size_t i = 0; i < 2; ++i) {
        while (const auto out = manager(i).next()) put(i, *out);
        for (const Event& e : manager(i).take_events()) {
          events_[i].push_back(e);
          if (e.type == EventType::kConnectRequest && accepts) accept(e);
        }
      }
      if (std::ranges::any_of(ends_, [](const End& e) { return e.again; })) {
        for (End& e : ends_) e.again = false;
        continue;
      }
      Instant next = wire_.empty() ? Instant::never() : wire_.begin()->first;
      for (std::size_t i = 0; i < 2; ++i) next = std::min(next, manager(i).deadline());
      if (next == Instant::never() || next > until) break;
      now_ = std::max(now_, next);
      for (std::size_t i = 0; i < 2; ++i) manager(i).on_timer(now_);
      while (!wire_.empty() && wire_.begin()->first <= now_) {
        const auto [to, mad] = wire_.begin()->second;
        wire_.erase(wire_.begin());
        manager(to).on_mad(now_, ip(1 - to), ip(to), mad);
      }
    }
    if (until != Instant::never()) now_ = until;
  }
  void accept(const Event& e) {
    ConnectionParameters p = accepted;
    p.qp = qp(1);
    const auto done = manager(1).accept(now_, e.connection, p);
    ends_[1].again = true;
    accepted_error = done ? "" : std::string(name(done.error()));
  }

  // "kinds" of what happened at an end, in order, since the last call.
  std::string happened(std::size_t i) {
    constexpr std::array kNames{"request",       "established", "rejected", "unreachable", "disconnected",
                                "timewait_exit", "response",    "look_up",  "found"};
    std::string text;
    for (const Event& e : events_[i]) {
      text += (text.empty() ? "" : " ") + std::string(kNames[static_cast<std::size_t>(e.type)]);
      if (e.type == EventType::kRejected) text += fmt::format(":{}", static_cast<int>(e.reason));
      last[i] = e;
    }
    events_[i].clear();
    return text;
  }
  std::string said() const {
    std::string text;
    for (const Sent& s : log) text += fmt::format("{}{}{}", text.empty() ? "" : " ", s.from, s.name);
    return text;
  }
  std::uint64_t ignored(std::size_t i, Ignored why) {
    return manager(i).counters().ignored[static_cast<std::size_t>(why)].read();
  }
  // Both QPs are in RTS and each knows the other.
  void expect_connected(QpNumber active, QpNumber passive) {
    const QpInfo& a = state(0, active).info;
    const QpInfo& b = state(1, passive).info;
    EXPECT_EQ(a.state, QpState::kRts);
    EXPECT_EQ(b.state, QpState::kRts);
    EXPECT_EQ(a.attributes.dest_qpn, passive.value);
    EXPECT_EQ(b.attributes.dest_qpn, active.value);
    EXPECT_EQ(a.attributes.sq_psn, b.attributes.rq_psn);
    EXPECT_EQ(b.attributes.sq_psn, a.attributes.rq_psn);
    EXPECT_EQ(a.attributes.av.destination, ip(1));
    EXPECT_EQ(b.attributes.av.destination, ip(0));
    EXPECT_EQ(a.attributes.av.source_port, b.attributes.av.source_port);
  }

  std::function<What(const Sent&)> fate;
  std::vector<Sent> log;
  bool accepts = true;
  ConnectionParameters accepted{};
  std::string accepted_error;
  std::array<Event, 2> last;

 private:
  struct End {
    std::unique_ptr<Engine> engine;
    std::unique_ptr<ConnectionManager> manager;
    CqId cq{};
    QpType type{};
    bool again = false;
  };
  using Octets = std::array<std::byte, kMadOctets>;

  void put(std::size_t from, const Outgoing& out) {
    EXPECT_EQ(out.av.destination, ip(1 - from));
    const Message message = decode(out.mad).value().message;
    const std::string what(name(message));
    const auto nth = std::ranges::count_if(log, [&](const Sent& s) { return s.from == from && s.name == what; });
    log.push_back({from, what, static_cast<std::size_t>(nth), message});
    const What f = fate ? fate(log.back()) : What::kArrives;
    for (int i = 0; i < (f == What::kLost ? 0 : f == What::kTwice ? 2 : 1); ++i)
      wire_.insert({now_ + kWireDelay, {1 - from, out.mad}});
  }

  std::array<End, 2> ends_;
  std::array<std::vector<Event>, 2> events_;
  std::multimap<Instant, std::pair<std::size_t, Octets>> wire_;
  Instant now_{};
};

}  // namespace railyard::roce::cm
