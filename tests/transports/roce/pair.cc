#include "tests/transports/roce/pair.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dataplane/base/payload_pattern.h"
#include "dataplane/base/units.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/rewrite.h"

namespace railyard::roce {
namespace {

constexpr BitRate kRate{100'000'000'000};
constexpr ProtectionDomain kPairDomain{1};
constexpr std::size_t kUdpOctets = wire::Udp::kOctets;

std::size_t ip_offset() { return wire::Ethernet::kOctets; }

// Of a frame of which `promised` octets are not there.
Packet packet_of(const std::vector<std::byte>& frame, std::size_t promised) {
  const auto view = wire::parse_frame(frame, frame.size() + promised).value();
  const std::size_t at = view.l4_offset + kUdpOctets;
  return decode(std::span(frame).subspan(at), view.l3_offset + view.ip_octets - at).value();
}

}  // namespace

std::function<Fate(const Seen&)> lose_first(std::size_t from, std::function<bool(const Seen&)> which) {
  return [=, gone = false](const Seen& s) mutable {
    if (gone || s.from != from || !which(s)) return Fate{};
    gone = true;
    return Fate{.lost = true};
  };
}

Pair::Pair(const PairConfig& config) : config_(config) {
  for (std::size_t i = 0; i < 2; ++i) {
    End& e = ends_[i];
    e.endpoint = std::make_unique<RoceEndpoint>(config.engine, !config.elided);
    Engine& engine = e.engine();
    e.key = engine.memory()
                .add({.address = address(i),
                      .octets = kMemory,
                      .access = AccessSet(Access::kLocalWrite) | Access::kRemoteWrite | Access::kRemoteRead |
                                Access::kRemoteAtomic,
                      .domain = kPairDomain,
                      .memory = config.elided ? nullptr : e.memory.data(),
                      .stream = 100 + i})
                .value();
    e.send_cq = engine.create_cq(config.cq);
    e.recv_cq = engine.create_cq(config.cq);
    if (config.srq && i == 1) e.srq = engine.create_srq(kPairDomain, config.max_wr);
    e.ah = engine.create_ah(vector_from(i));
    e.qp = engine
               .create_qp({.type = config.type,
                           .domain = kPairDomain,
                           .send_cq = e.send_cq,
                           .recv_cq = e.recv_cq,
                           .srq = e.srq,
                           .max_send_wr = config.max_wr,
                           .max_recv_wr = config.max_wr,
                           .cnps = config.cnps,
                           .selective_repeat = config.selective_repeat})
               .value();
  }
  if (!config.connect) return;
  for (std::size_t i = 0; i < 2; ++i) connect(i, config.attributes);
}

AddressVector Pair::vector_from(std::size_t from) const {
  const auto ip = [&](std::size_t i) {
    if (!config_.ipv6) return wire::IpAddress(0x0A000001u + static_cast<std::uint32_t>(i));
    wire::IpAddress a;
    a.octets[0] = 0x20;
    a.octets[15] = static_cast<std::uint8_t>(i + 1);
    return a;
  };
  const auto mac = [](std::size_t i) { return wire::MacAddress{{2, 0, 0, 0, 0, static_cast<std::uint8_t>(i + 1)}}; };
  return {.source_mac = mac(from), .next_hop_mac = mac(1 - from), .source = ip(from), .destination = ip(1 - from)};
}

void Pair::connect(std::size_t i, const QpAttributes& wanted) {
  using enum QpAttribute;
  End& e = ends_[i];
  QpAttributes a = wanted;
  a.access_flags = AccessSet(Access::kRemoteWrite) | Access::kRemoteRead | Access::kRemoteAtomic;
  a.av = vector_from(i);
  a.dest_qpn = ends_[1 - i].qp.value;
  a.sq_psn = i == 0 ? config_.psn0 : config_.psn1;
  a.rq_psn = i == 0 ? config_.psn1 : config_.psn0;
  const auto modify = [&](QpState to, QpAttributeSet given) {
    const auto done = e.engine().modify_qp(now_, e.qp, to, given, a);
    ASSERT_TRUE(done) << to_string(done.error());
  };
  switch (config_.type) {
    case QpType::kRc:
      modify(QpState::kInit, {kAccessFlags, kPKeyIndex, kPort});
      modify(QpState::kRtr, {kAv, kPathMtu, kDestQpn, kRqPsn, kMaxDestRdAtomic, kMinRnrTimer});
      modify(QpState::kRts, {kSqPsn, kTimeout, kRetryCnt, kRnrRetry, kMaxRdAtomic});
      break;
    case QpType::kUc:
      modify(QpState::kInit, {kAccessFlags, kPKeyIndex, kPort});
      modify(QpState::kRtr, {kAv, kPathMtu, kDestQpn, kRqPsn});
      modify(QpState::kRts, {kSqPsn});
      break;
    case QpType::kUd:
      a.q_key = 0x11;
      modify(QpState::kInit, {kPKeyIndex, kPort, kQKey});
      modify(QpState::kRtr, {});
      modify(QpState::kRts, {kSqPsn});
      break;
  }
}

Sge Pair::local(std::size_t end, std::size_t offset, std::size_t octets) const {
  return {address(end) + offset, static_cast<std::uint32_t>(octets), ends_[end].key};
}
std::span<std::byte> Pair::memory(std::size_t end, std::size_t offset, std::size_t octets) {
  return std::span(ends_[end].memory).subspan(offset, octets);
}
void Pair::fill(std::size_t end, std::size_t offset, std::size_t octets, std::uint64_t seed) {
  fill_payload(seed * 2 + end, offset, memory(end, offset, octets));
}
bool Pair::same(std::size_t end_a, std::size_t offset_a, std::size_t end_b, std::size_t offset_b, std::size_t octets) {
  return std::ranges::equal(memory(end_a, offset_a, octets), memory(end_b, offset_b, octets));
}

void Pair::write_and_expect(std::size_t octets) {
  fill(0, 0, octets);
  post(0, write(0, 1, 0, 0, octets));
  run();
  EXPECT_TRUE(same(0, 0, 1, 0, octets));
  EXPECT_EQ(sent_text(0), "1:SUCCESS");
}

SendWr Pair::send(std::size_t from, std::uint64_t wr_id, std::size_t offset, std::size_t octets) const {
  return {.wr_id = wr_id, .opcode = SendOpcode::kSend, .sges = {local(from, offset, octets)}};
}
SendWr Pair::write(std::size_t from, std::uint64_t wr_id, std::size_t offset, std::size_t to,
                   std::size_t octets) const {
  return {.wr_id = wr_id,
          .opcode = SendOpcode::kWrite,
          .sges = {local(from, offset, octets)},
          .remote_address = address(1 - from) + to,
          .r_key = ends_[1 - from].key};
}
SendWr Pair::read(std::size_t from, std::uint64_t wr_id, std::size_t to, std::size_t offset, std::size_t octets) const {
  SendWr wr = write(from, wr_id, to, offset, octets);
  wr.opcode = SendOpcode::kRead;
  return wr;
}
SendWr Pair::compare_swap(std::size_t from, std::uint64_t wr_id, std::size_t to, std::size_t offset,
                          std::uint64_t compare, std::uint64_t swap) const {
  SendWr wr = write(from, wr_id, to, offset, 8);
  wr.opcode = SendOpcode::kCompareSwap;
  wr.compare = compare;
  wr.swap_add = swap;
  return wr;
}
SendWr Pair::fetch_add(std::size_t from, std::uint64_t wr_id, std::size_t to, std::size_t offset,
                       std::uint64_t add) const {
  SendWr wr = write(from, wr_id, to, offset, 8);
  wr.opcode = SendOpcode::kFetchAdd;
  wr.swap_add = add;
  return wr;
}

void Pair::post(std::size_t end, const SendWr& wr) {
  const auto posted = engine(end).post_send(now_, ends_[end].qp, wr);
  ASSERT_TRUE(posted) << name(posted.error());
}
void Pair::receive(std::size_t end, std::uint64_t wr_id, std::size_t offset, std::size_t octets) {
  const RecvWr wr{.wr_id = wr_id, .sges = {local(end, offset, octets)}};
  const auto posted =
      ends_[end].srq ? engine(end).post_srq_recv(*ends_[end].srq, wr) : engine(end).post_recv(now_, ends_[end].qp, wr);
  ASSERT_TRUE(posted) << name(posted.error());
}

std::vector<Completion> Pair::poll(std::size_t end, CqId cq) {
  std::vector<Completion> all(config_.cq);
  all.resize(engine(end).poll(cq, all));
  return all;
}
std::string Pair::text(const std::vector<Completion>& completions) {
  std::string out;
  for (const Completion& c : completions)
    out += fmt::format("{}{}:{}", out.empty() ? "" : " ", c.wr_id, name(c.status));
  return out;
}

// ---- The wire ------------------------------------------------------------------------------------------------------

void Pair::put(std::size_t from, std::vector<std::byte> frame, const PayloadRef& payload,
               const PathTelemetry* telemetry) {
  const Seen seen{from, sent_[from]++, now_, packet_of(frame, config_.elided ? payload.octets + wire::kIcrcOctets : 0),
                  telemetry != nullptr ? std::optional(*telemetry) : std::nullopt};
  log_.push_back(seen);
  const Fate f = fate ? fate(seen) : Fate{};
  if (f.lost) return;
  if (f.marked && !config_.elided) {
    if (config_.ipv6) {
      wire::write<wire::Ipv6::ECN>(frame.data() + ip_offset(), 3);
    } else {
      wire::write<wire::Ipv4::ECN>(frame.data() + ip_offset(), 3);
      std::byte* const ip = frame.data() + ip_offset();
      wire::write<wire::Ipv4::HeaderChecksum>(ip, 0);
      wire::write<wire::Ipv4::HeaderChecksum>(ip, wire::internet_checksum({ip, wire::Ipv4::kOctets}));
    }
  }
  if (f.corrupted && !config_.elided) frame.back() ^= std::byte{0x10};
  for (unsigned i = 0; i < f.copies; ++i)
    arrivals_.push({now_ + kDelay + f.late, order_++, 1 - from, frame, payload, seen.telemetry});
}

bool Pair::send_one(std::size_t from) {
  RoceEndpoint& endpoint = *ends_[from].endpoint;
  const Readiness r = ready(from);
  if (r.classes == 0 || free_at_[from] > now_) return false;
  std::size_t best = kPriorities;
  for (std::size_t p = kPriorities; p-- > 0 && best == kPriorities;)
    if ((r.classes >> p & 1) != 0) best = p;
  std::array<std::byte, kMaxHeaderOctets> header{};
  TxFrame tx;
  tx.header = header.data();
  if (endpoint.send(now_, Priority{static_cast<std::uint8_t>(best)}, {&tx, 1}) == 0) return true;

  std::vector<std::byte> frame(header.begin(), header.begin() + tx.header_octets);
  if (config_.elided) {
    PayloadRef promise = tx.payload;
    promise.octets += tx.trailer_octets - std::uint32_t{wire::kIcrcOctets};
    free_at_[from] = now_ + Bytes{static_cast<std::int64_t>(frame.size() + promise.octets + 28)} / kRate;
    put(from, std::move(frame), promise, tx.telemetry);
    return true;
  }
  if (tx.payload.bytes != nullptr) {
    frame.insert(frame.end(), tx.payload.bytes, tx.payload.bytes + tx.payload.octets);
  } else {
    frame.resize(frame.size() + tx.payload.octets);
    fill_payload(tx.payload.stream, tx.payload.offset, std::span(frame).last(tx.payload.octets));
  }
  frame.resize(frame.size() + tx.trailer_octets);
  const auto ip = std::span(frame).subspan(ip_offset());
  wire::write_crc32(frame.data() + frame.size() - wire::kIcrcOctets,
                    wire::icrc(ip.first(ip.size() - wire::kIcrcOctets)));
  free_at_[from] = now_ + Bytes{static_cast<std::int64_t>(frame.size() + 24)} / kRate;
  put(from, std::move(frame), {}, tx.telemetry);
  return true;
}

void Pair::inject(std::size_t to, Packet packet, std::span<const std::byte> payload) {
  packet.payload_octets = static_cast<std::uint32_t>(payload.size());
  packet.bth.pad_cnt = pad_octets(payload.size());
  std::vector<std::byte> frame(Path::kMostOctets + packet.octets());
  const Path path(vector_from(1 - to));
  frame.resize(path.header_octets() + packet.octets());
  std::vector<std::byte> front(Path::kMostOctets);
  path.write(front.data(), packet.octets());
  std::copy_n(front.begin(), path.header_octets(), frame.begin());
  encode(std::span(frame).subspan(path.header_octets()), packet, payload);
  const auto ip = std::span(frame).subspan(ip_offset());
  wire::write_crc32(frame.data() + frame.size() - wire::kIcrcOctets,
                    wire::icrc(ip.first(ip.size() - wire::kIcrcOctets)));
  arrivals_.push({now_ + kDelay, order_++, to, std::move(frame), {}, {}});
}

Readiness Pair::ready(std::size_t end) {
  Readiness r = ends_[end].endpoint->ready(now_);
  r.classes = static_cast<PriorityMask>(r.classes & ~paused[end]);
  return r;
}

Instant Pair::next_event() {
  Instant next = arrivals_.empty() ? Instant::never() : arrivals_.top().at;
  for (std::size_t i = 0; i < 2; ++i) {
    const Readiness r = ready(i);
    next = std::min(next, r.classes != 0 ? std::max(now_, free_at_[i]) : r.until);
  }
  return next;
}

void Pair::handle_until(Instant until) {
  for (;;) {
    while (send_one(0) || send_one(1)) {
    }
    const Instant next = next_event();
    if (next == Instant::never() || next > until) break;
    now_ = std::max(now_, next);
    while (!arrivals_.empty() && arrivals_.top().at <= now_) {
      Arrival a = arrivals_.top();
      arrivals_.pop();
      const std::size_t octets = a.frame.size();
      if (a.telemetry) {
        a.frame.resize(octets + a.telemetry->octets());
        a.telemetry->write(a.frame.data() + octets);
      }
      const auto frame = std::span<const std::byte>(a.frame).first(octets);
      // As from a port: headers up to the BTH, the rest behind them.
      const std::size_t front = config_.elided ? frame.size() : std::min<std::size_t>(frame.size(), 54);
      const RxFrame rx{.at = a.at,
                       .sent = a.at,
                       .header = frame.first(front),
                       .payload = config_.elided
                                      ? a.payload
                                      : PayloadRef{.octets = static_cast<std::uint32_t>(frame.size() - front),
                                                   .bytes = frame.data() + front},
                       .icrc_pending = config_.elided,
                       .telemetry = a.telemetry.has_value()};
      ends_[a.to].endpoint->receive({&rx, 1});
    }
  }
}

void Pair::run_until(Instant until) {
  handle_until(until);
  now_ = until;
}

void Pair::run(Duration limit) { handle_until(now_ + limit); }

std::size_t Pair::count(std::size_t from, const std::function<bool(const Seen&)>& which) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(log_, [&](const Seen& s) { return s.from == from && which(s); }));
}
std::size_t Pair::count(std::size_t from, std::string_view name) const {
  return count(from, [&](const Seen& s) { return s.name() == name; });
}

std::string Pair::trace(std::size_t from) const {
  std::string out;
  for (const Seen& s : log_)
    if (s.from == from) out += fmt::format("{}{} {:x}", out.empty() ? "" : ", ", s.name(), s.psn());
  return out;
}

bool Pair::books_balance() {
  for (std::size_t i = 0; i < 2; ++i) {
    const Counters& c = counters(i);
    if (c.received_packets.read() != c.taken_packets.read() + c.all_drops()) return false;
  }
  return true;
}

}  // namespace railyard::roce
