#include "transports/roce/cm/gsi.h"

#include <algorithm>
#include <array>

#include "dataplane/base/assert.h"
#include "transports/roce/wire/grh.h"

namespace railyard::roce::cm {
namespace {

// Nobody's but this QP's.
constexpr ProtectionDomain kGsiDomain{0xFFFFFFFF};
constexpr std::uint64_t kAddress = 0x1000;

}  // namespace

Gsi::Gsi(Instant now, Engine& engine, MadUser& user)
    : engine_(engine), user_(user), memory_(kReceives * kReceiveOctets + kSends * kMadOctets) {
  key_ = engine_.memory()
             .add({.address = kAddress,
                   .octets = memory_.size(),
                   .access = Access::kLocalWrite,
                   .domain = kGsiDomain,
                   .memory = memory_.data()})
             .value();
  send_cq_ = engine_.create_cq(kSends);
  recv_cq_ = engine_.create_cq(kReceives);
  const auto made = engine_.create_qp({.type = QpType::kUd,
                                       .domain = kGsiDomain,
                                       .send_cq = send_cq_,
                                       .recv_cq = recv_cq_,
                                       .max_send_wr = kSends,
                                       .max_recv_wr = kReceives,
                                       .gsi = true});
  RAILYARD_ASSERT(made.has_value(), "an engine has one QP 1");
  using enum QpAttribute;
  const QpAttributes a{.q_key = kGsiQKey};
  for (const auto& [to, given] : {std::pair{QpState::kInit, QpAttributeSet{kPKeyIndex, kPort, kQKey}},
                                  {QpState::kRtr, QpAttributeSet{}},
                                  {QpState::kRts, QpAttributeSet{kSqPsn}}}) {
    const auto modified = engine_.modify_qp(now, kGsiQp, to, given, a);
    RAILYARD_ASSERT(modified.has_value(), "QP 1 goes to RTS");
  }
  for (std::uint64_t i = 0; i < kReceives; ++i) post_receive(now, i);
  for (std::uint64_t i = 0; i < kSends; ++i) {
    free_.push_back(i);
    ways_.push_back(engine_.create_ah({}));
  }
}

void Gsi::post_receive(Instant now, std::uint64_t place) {
  const RecvWr wr{.wr_id = place, .sges = {{kAddress + place * kReceiveOctets, kReceiveOctets, key_}}};
  static_cast<void>(engine_.post_recv(now, kGsiQp, wr));
}

bool Gsi::run(Instant now) {
  bool any = false;
  std::array<Completion, 16> done;
  for (std::size_t n = 0; (n = engine_.poll(recv_cq_, done)) > 0; any = true) {
    for (const Completion& c : std::span(done).first(n)) {
      const auto octets = std::span<const std::byte>(memory_).subspan(c.wr_id * kReceiveOctets, kReceiveOctets);
      const auto addresses = read_grh(octets.first<kGrhOctets>());
      if (c.ok() && addresses)
        user_.on_mad(now, addresses->source, addresses->destination, octets.first(c.octets).subspan(kGrhOctets));
      post_receive(now, c.wr_id);
    }
  }
  for (std::size_t n = 0; (n = engine_.poll(send_cq_, done)) > 0; any = true)
    for (const Completion& c : std::span(done).first(n)) free_.push_back(c.wr_id);
  while (!free_.empty()) {
    const auto out = user_.next();
    if (!out) break;
    any = true;
    const std::uint64_t place = free_.back();
    free_.pop_back();
    const std::size_t at = kReceives * kReceiveOctets + place * kMadOctets;
    std::ranges::copy(out->mad, memory_.begin() + static_cast<std::ptrdiff_t>(at));
    engine_.modify_ah(ways_[place], out->av);
    static_cast<void>(engine_.post_send(now, kGsiQp,
                                        {.wr_id = place,
                                         .opcode = SendOpcode::kSend,
                                         .sges = {{kAddress + at, kMadOctets, key_}},
                                         .ah = ways_[place],
                                         .remote_qp = kGsiQp,
                                         .remote_q_key = kGsiQKey}));
  }
  return any;
}

}  // namespace railyard::roce::cm
