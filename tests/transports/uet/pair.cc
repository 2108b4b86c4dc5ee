#include "tests/transports/uet/pair.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dataplane/base/payload_pattern.h"
#include "dataplane/base/units.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/parse.h"

namespace railyard::uet {
namespace {

constexpr BitRate kRate{100'000'000'000};
constexpr ProtectionDomain kDomain{1};
constexpr std::size_t kL3 = wire::Ethernet::kOctets;

wire::IpAddress ip(std::size_t end) { return wire::IpAddress(0x0A000001u + static_cast<std::uint32_t>(end)); }
wire::MacAddress mac(std::size_t end) { return wire::MacAddress{{2, 0, 0, 0, 0, static_cast<std::uint8_t>(end + 1)}}; }
std::size_t end_of(const wire::IpAddress& a) { return a.v4() - 0x0A000001u; }

void checksum(std::vector<std::byte>& frame) {
  std::byte* const h = frame.data() + kL3;
  wire::write<wire::Ipv4::HeaderChecksum>(h, 0);
  wire::write<wire::Ipv4::HeaderChecksum>(h, wire::internet_checksum({h, wire::Ipv4::kOctets}));
}

}  // namespace

std::string Seen::name() const {
  if (const auto* n = nack()) return fmt::format("NACK {}", uet::name(n->code));
  if (const auto* c = cp()) return fmt::format("CP {}", uet::name(c->ctl_type));
  return std::string(uet::name(type(packet.pds)));
}

EngineConfig test_config() {
  return {{.payload_mtu = 1024,
           .pdcid_quiet = Duration{100'000'000},
           .idle_close = Duration{200'000'000},
           .target_idle = Duration{50'000'000'000},
           .close_req_time = Duration{10'000'000'000},
           .rto_init = Duration{100'000'000},
           .retries = 8,
           .no_match_least = Duration{100'000'000},
           .no_match_most = Duration{200'000'000},
           .congestion = NsccConfig::of({.base_rtt = Duration{4'000'000}, .mtu = 1024, .packet_octets = 1080})},
          {}};
}

Pair::Pair(const std::vector<EngineConfig>& configs, const ContextInit& context)
    : ends_(configs.size()), free_at_(configs.size()), sent_(configs.size()) {
  const std::size_t ends = configs.size();
  encapsulation_.dscp.trimmed = 12;
  for (std::size_t i = 0; i < ends; ++i) {
    End& e = ends_[i];
    e.endpoint =
        std::make_unique<UetEndpoint>(configs[i], encapsulation_, RngStream(Seed{1}, fmt::format("end {}", i)), true);
    Engine& engine = e.engine();
    e.key = engine.memory()
                .add({.address = address(i),
                      .octets = kMemory,
                      .access = AccessSet(Access::kLocalWrite) | Access::kRemoteWrite | Access::kRemoteRead |
                                Access::kRemoteAtomic,
                      .domain = kDomain,
                      .memory = e.memory.data()})
                .value();
    e.cq = engine.create_cq(1 << 16);
    ContextInit init = context;
    init.domain = kDomain;
    init.cq = e.cq;
    init.initiator = static_cast<std::uint32_t>(0x10 + i);
    e.context = engine.create_context(init);
    for (std::size_t j = 0; j < ends; ++j)
      e.peers.push_back(
          j == i ? PeerId{~0u}
                 : engine.peer({.source_mac = mac(i), .next_hop_mac = mac(j), .source = ip(i), .destination = ip(j)}));
  }
}

LocalBuffer Pair::local(std::size_t end, std::size_t offset, std::size_t octets) const {
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

SendWr Pair::send(std::size_t from, std::uint64_t wr_id, std::size_t offset, std::size_t octets) const {
  return {.wr_id = wr_id,
          .operation = Operation::kSend,
          .peer = ends_[from].peers[from == 1 ? 0 : 1],
          .local = local(from, offset, octets)};
}
SendWr Pair::tagged(std::size_t from, std::uint64_t wr_id, std::size_t offset, std::size_t octets,
                    std::uint64_t tag) const {
  SendWr wr = send(from, wr_id, offset, octets);
  wr.operation = Operation::kTaggedSend;
  wr.match_bits = tag;
  return wr;
}
SendWr Pair::write(std::size_t from, std::uint64_t wr_id, std::size_t offset, std::size_t to,
                   std::size_t octets) const {
  SendWr wr = send(from, wr_id, offset, octets);
  wr.operation = Operation::kWrite;
  wr.memory_key = ends_[from == 1 ? 0 : 1].key;
  wr.buffer_offset = to;
  return wr;
}
SendWr Pair::read(std::size_t from, std::uint64_t wr_id, std::size_t to, std::size_t offset, std::size_t octets) const {
  SendWr wr = write(from, wr_id, to, offset, octets);
  wr.operation = Operation::kRead;
  return wr;
}
SendWr Pair::fetch_add(std::size_t from, std::uint64_t wr_id, std::size_t to, std::size_t offset,
                       std::uint64_t add) const {
  SendWr wr = write(from, wr_id, to, offset, 8);
  wr.operation = Operation::kFetchingAtomic;
  wr.operand = add;
  return wr;
}

void Pair::post(std::size_t end, const SendWr& wr) {
  const auto posted = engine(end).post(now_, ends_[end].context, wr);
  ASSERT_TRUE(posted) << name(posted.error());
}
void Pair::receive(std::size_t end, const RecvWr& wr) {
  const auto posted = engine(end).post_receive(now_, ends_[end].context, wr);
  ASSERT_TRUE(posted) << name(posted.error());
}

std::vector<Completion> Pair::completions(std::size_t end) {
  std::vector<Completion> out(1 << 12);
  out.resize(engine(end).poll(ends_[end].cq, out));
  return out;
}
std::string Pair::text(std::size_t end) {
  std::vector<Completion> all = completions(end);
  std::ranges::stable_sort(all, {}, &Completion::wr_id);
  std::string out;
  for (const Completion& c : all) {
    out += fmt::format("{}{}:{}", out.empty() ? "" : " ", c.wr_id, name(c.status));
    if (c.status == Status::kRefused) out += fmt::format(" {}", name(c.return_code));
  }
  return out;
}

OuterHeaders Pair::outer(std::size_t from, std::size_t to) const {
  return {.source_mac = mac(from),
          .next_hop_mac = mac(to),
          .source = ip(from),
          .destination = ip(to),
          .dscp = encapsulation_.dscp.trimmable,
          .entropy = 0x4242};
}

void Pair::put(std::size_t from, std::vector<std::byte> frame) {
  const auto view = wire::parse_frame(frame, frame.size()).value();
  const auto inner = decapsulate(frame, view, encapsulation_).value();
  const Seen seen{.from = from,
                  .index = sent_[from]++,
                  .at = now_,
                  .entropy = inner.entropy,
                  .packet = decode(inner.octets, inner.packet_octets).value()};
  log_.push_back(seen);
  const Fate f = fate ? fate(seen) : Fate{};
  if (f.lost) return;
  if (f.marked) {
    wire::write<wire::Ipv4::ECN>(frame.data() + kL3, 3);
    checksum(frame);
  }
  const PdsType what = type(seen.packet.pds);
  const bool has_data = seen.packet.payload_octets > 0;
  if (f.trimmed && (seen.request() != nullptr || what == PdsType::kRudiReq || what == PdsType::kUudReq ||
                    (what == PdsType::kRudiResp && has_data))) {
    constexpr std::size_t kKept = 24;  // behind the IP header (uet §10.4)
    frame.resize(kL3 + wire::Ipv4::kOctets + kKept);
    wire::write<wire::Ipv4::DSCP>(frame.data() + kL3, *encapsulation_.dscp.trimmed);
    wire::write<wire::Ipv4::TotalLength>(frame.data() + kL3, static_cast<std::uint16_t>(frame.size() - kL3));
    checksum(frame);
  }
  if (f.corrupted) frame.back() ^= std::byte{0x10};
  const std::size_t to = end_of(view.destination);
  for (unsigned i = 0; i < f.copies; ++i)
    arrivals_.push({now_ + kDelay + f.late + (i > 0 ? f.copy_late : Duration{}), order_++, to, frame});
}

bool Pair::send_one(std::size_t from) {
  UetEndpoint& endpoint = *ends_[from].endpoint;
  const Readiness r = endpoint.ready(now_);
  if (r.classes == 0 || free_at_[from] > now_) return false;
  std::size_t best = kPriorities;
  for (std::size_t p = kPriorities; p-- > 0 && best == kPriorities;)
    if ((r.classes >> p & 1) != 0) best = p;
  std::array<std::byte, kMaxHeaderOctets> header{};
  TxFrame tx;
  tx.header = header.data();
  if (endpoint.send(now_, Priority{static_cast<std::uint8_t>(best)}, {&tx, 1}) == 0) return true;
  std::vector<std::byte> frame(header.begin(), header.begin() + tx.header_octets);
  if (tx.payload.bytes != nullptr) {
    frame.insert(frame.end(), tx.payload.bytes, tx.payload.bytes + tx.payload.octets);
  } else {
    frame.resize(frame.size() + tx.payload.octets);
    fill_payload(tx.payload.stream, tx.payload.offset, std::span(frame).last(tx.payload.octets));
  }
  frame.resize(frame.size() + tx.trailer_octets);
  const auto packet = std::span(frame).subspan(kL3);
  write_crc(frame.data() + frame.size() - kCrcOctets, crc_of(packet.first(packet.size() - kCrcOctets)),
            encapsulation_.crc_msb_first);
  free_at_[from] = now_ + Bytes{static_cast<std::int64_t>(frame.size() + 24)} / kRate;
  put(from, std::move(frame));
  return true;
}

void Pair::inject_octets(std::size_t from, std::size_t to, std::span<const std::byte> octets) {
  std::vector<std::byte> frame(kMaxHeaderOctets);
  frame.resize(encode_outer(frame, encapsulation_, outer(from, to), octets.size() + kCrcOctets));
  frame.insert(frame.end(), octets.begin(), octets.end());
  frame.resize(frame.size() + kCrcOctets);
  const auto packet = std::span(frame).subspan(kL3);
  write_crc(frame.data() + frame.size() - kCrcOctets, crc_of(packet.first(packet.size() - kCrcOctets)),
            encapsulation_.crc_msb_first);
  arrivals_.push({now_ + kDelay, order_++, to, std::move(frame)});
}

void Pair::inject(std::size_t from, std::size_t to, const Packet& packet, std::span<const std::byte> payload) {
  std::vector<std::byte> octets(kMostPacketHeaderOctets);
  octets.resize(encode_headers(octets, packet));
  octets.insert(octets.end(), payload.begin(), payload.end());
  inject_octets(from, to, octets);
}

Instant Pair::next_event() {
  Instant next = arrivals_.empty() ? Instant::never() : arrivals_.top().at;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    const Readiness r = ends_[i].endpoint->ready(now_);
    next = std::min(next, r.classes != 0 ? std::max(now_, free_at_[i]) : r.until);
  }
  return next;
}

void Pair::handle_until(Instant until) {
  for (;;) {
    for (bool any = true; any;) {
      any = false;
      for (std::size_t i = 0; i < ends_.size(); ++i) any = send_one(i) || any;
    }
    const Instant next = next_event();
    if (next == Instant::never() || next > until) break;
    now_ = std::max(now_, next);
    while (!arrivals_.empty() && arrivals_.top().at <= now_) {
      const Arrival a = arrivals_.top();
      arrivals_.pop();
      const std::span<const std::byte> frame(a.frame);
      // As from a port: headers up to UDP's end, the rest behind them.
      const std::size_t front = std::min<std::size_t>(frame.size(), 54);
      const RxFrame rx{
          .at = a.at,
          .sent = a.at,
          .header = frame.first(front),
          .payload = {.octets = static_cast<std::uint32_t>(frame.size() - front), .bytes = frame.data() + front},
          .icrc_pending = false};
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
  std::optional<std::uint32_t> start;
  for (const Seen& s : log_)
    if (!start && s.request() != nullptr && s.request()->syn) start = s.request()->start_psn();
  for (const Seen& s : log_) {
    if (s.from != from) continue;
    std::uint32_t psn = 0;
    if (const auto* r = s.request()) psn = r->psn;
    if (const auto* a = s.ack()) psn = a->p ? a->cack_psn : a->ack_psn();
    if (const auto* n = s.nack()) psn = n->nack_psn;
    if (const auto* c = s.cp()) psn = c->psn;
    out +=
        fmt::format("{}{} {}", out.empty() ? "" : ", ", s.name(), static_cast<std::int32_t>(psn - start.value_or(0)));
  }
  return out;
}

void Pair::expect_clean() {
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    const Counters& c = counters(i);
    EXPECT_EQ(c.received_packets.read(), c.taken_packets.read() + c.all_drops()) << i;
    EXPECT_EQ(c.pdcs_opened.read(), c.pdcs_closed.read() + c.pdcs_failed.read()) << i;
    EXPECT_EQ(engine(i).pdcs(), 0u) << i;
    EXPECT_EQ(engine(i).open_messages(), 0u) << i;
  }
}

}  // namespace railyard::uet
