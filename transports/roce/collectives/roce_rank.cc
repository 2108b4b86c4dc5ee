#include "transports/roce/collectives/roce_rank.h"

#include <array>
#include <utility>

#include "dataplane/base/assert.h"
#include "transports/roce/collectives/collective_layout.h"

namespace railyard::roce {

RoceRank::RoceRank(Engine& engine, const CollectiveConfig& config, RankProgram program, bool real_payload)
    : CollectiveRank(&engine.memory(), config, std::move(program), real_payload),
      nics_{{&engine, engine.create_cq(completions_of(this->program()))}},
      connections_(this->program().connections.size()) {}

std::uint32_t RoceRank::add_nic(Engine& engine) {
  nics_.push_back({&engine, engine.create_cq(completions_of(program()))});
  return register_at(engine.memory());
}

void RoceRank::post(Instant now, const Outgoing& m) {
  const Connection& to = connections_[m.connection];
  const Source from = source(m, to.nic);
  const SendWr wr{.wr_id = wr_id(m.connection, m.step),
                  .opcode = SendOpcode::kWriteImm,
                  .sges = {{from.address, m.octets, from.key}},
                  .remote_address = to.address + base(m.repeat, to.stride) + m.place,
                  .r_key = to.key,
                  .immediate = m.peer_step | (m.repeat % 2 != 0 ? kOdd : 0)};
  const auto posted = engine_of(m.connection).post_send(now, to.qp, wr);
  RAILYARD_ASSERT(posted.has_value(), "a rank posts what its QPs take");
}

bool RoceRank::post_credit(Instant now, std::uint32_t connection) {
  const SendWr wr{.wr_id = wr_id(connection, kNoStep), .opcode = SendOpcode::kWriteImm, .immediate = kCredit};
  return engine_of(connection).post_send(now, connections_[connection].qp, wr).has_value();
}

void RoceRank::post_receive(Instant now, std::uint32_t connection) {
  const auto posted =
      engine_of(connection).post_recv(now, connections_[connection].qp, {.wr_id = wr_id(connection, kNoStep)});
  RAILYARD_ASSERT(posted.has_value(), "a rank posts what its QPs take");
}

bool RoceRank::take_completions(Instant now) {
  bool any = false;
  for (const Nic& nic : nics_) {
    if (nic.engine->cq(nic.cq).size() == 0) continue;
    any = true;
    std::array<Completion, 16> some;
    while (const std::size_t n = nic.engine->poll(nic.cq, some))
      for (const Completion& completion : std::span(some).first(n)) on_completion(now, completion);
  }
  return any;
}

void RoceRank::on_completion(Instant now, const Completion& completion) {
  const auto connection = static_cast<std::uint32_t>(completion.wr_id >> 32);
  if (!completion.ok()) return on_failed(now, connection, "QP", name(completion.status));
  if (completion.opcode != WcOpcode::kRecvWriteImm)
    return on_sent(now, connection, static_cast<std::uint32_t>(completion.wr_id));
  post_receive(now, connection);
  if (completion.immediate == kCredit) return on_credit(now, connection);
  on_message(now, connection,
             {.step = completion.immediate & ~kOdd,
              .repeat = repeat_of((completion.immediate & kOdd) != 0),
              .octets = completion.octets,
              .intact = completion.intact,
              .stream = completion.stream,
              .offset = completion.offset});
}

QpCounters RoceRank::counters() const noexcept {
  QpCounters sum;
  for (std::uint32_t c = 0; c < connections_.size(); ++c)
    if (!is_in_host(c)) sum += std::as_const(engine_of(c)).qp(connections_[c].qp)->info.counters;
  return sum;
}

RankTraffic RoceRank::own_traffic() const noexcept {
  const QpCounters c = counters();
  return {.packets = c.data_packets,
          .retransmitted_packets = c.retransmitted_packets,
          .out_of_order = c.out_of_sequence,
          .packet_seq_err = c.packet_seq_err,
          .local_ack_timeout_err = c.local_ack_timeout_err,
          .ecn_marked = c.np_ecn_marked_roce_packets,
          .cnp_sent = c.np_cnp_sent,
          .cnp_handled = c.rp_cnp_handled};
}

}  // namespace railyard::roce
