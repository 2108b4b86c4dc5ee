#include "transports/uet/collectives/uet_rank.h"

#include <algorithm>
#include <array>
#include <utility>

#include "dataplane/base/assert.h"

namespace railyard::uet {
namespace {

// Header data: the receiver's step, or that it is a credit; above it the sender's repeat.
constexpr std::uint32_t kCredit = ~std::uint32_t{0};
constexpr std::uint64_t header_data(std::uint32_t step, std::uint32_t repeat) noexcept {
  return std::uint64_t{repeat} << 32 | step;
}

constexpr std::uint64_t wr_id(std::uint32_t connection, std::uint32_t step) noexcept {
  return std::uint64_t{connection} << 32 | step;
}

// Flows take lanes from 0 on (flows/); channels of collectives from the greatest down, so that they share PDCs late.
constexpr std::uint8_t lane_of(std::uint32_t channel) noexcept {
  constexpr std::uint32_t kMost = 64;
  return static_cast<std::uint8_t>(0xFF - channel % kMost);
}

// That can wait at once: what is sent in a repeat, what comes in two, and credits.
std::size_t completions_of(const RankProgram& program) noexcept {
  constexpr std::size_t kCredits = 8;
  std::size_t all = 0;
  for (const RankConnection& c : program.connections) all += c.sends + 2 * std::size_t{c.receives} + kCredits;
  return all;
}

}  // namespace

UetRank::UetRank(Engine& engine, const CollectiveConfig& config, RankProgram of_rank, bool real_payload,
                 const RankJob& job)
    : CollectiveRank(&engine.memory(), config, std::move(of_rank), real_payload),
      job_(job),
      nics_{{&engine, engine.create_cq(completions_of(program())), job.data_class}},
      connections_(program().connections.size()) {
  for (std::uint32_t c = 0; c < connections_.size(); ++c) {
    const RankConnection& plan = program().connections[c];
    named_.push_back({plan.peer, plan.channel, c});
  }
  std::ranges::sort(named_);
  make_contexts(nics_.front());
}

void UetRank::make_contexts(Nic& nic) {
  std::uint32_t channels = 0;
  for (const RankConnection& c : program().connections) channels = std::max(channels, c.channel + 1);
  for (std::uint32_t channel = 0; channel < channels; ++channel)
    nic.contexts.push_back(nic.engine->create_context({.job_id = job_.job_id,
                                                       .pid_on_fep = job_.pid_on_fep,
                                                       .resource_index = static_cast<std::uint16_t>(channel),
                                                       .initiator = program().rank,
                                                       .domain = kCollectiveDomain,
                                                       .cq = nic.cq,
                                                       .most_receives = 0,
                                                       .most_unexpected = 0}));
}

std::uint32_t UetRank::add_nic(Engine& engine, std::uint8_t data_class) {
  make_contexts(nics_.emplace_back(Nic{&engine, engine.create_cq(completions_of(program())), data_class}));
  return register_at(engine.memory());
}

void UetRank::connect(std::uint32_t connection, PeerId peer, std::uint16_t pid_on_fep, MemoryRegions::Key key,
                      std::uint64_t stride) {
  Connection& c = connections_[connection];
  c = {c.nic, c.data_class, peer, pid_on_fep, key, stride};
}

// ---- Messages that go ----------------------------------------------------------------------------------------------

SendWr UetRank::write_to(std::uint32_t connection) const noexcept {
  const std::uint32_t channel = program().connections[connection].channel;
  return {.operation = Operation::kWrite,
          .mode = job_.mode,
          .peer = connections_[connection].peer,
          .lane = lane_of(channel),
          .pid_on_fep = connections_[connection].pid_on_fep,
          .resource_index = static_cast<std::uint16_t>(channel),
          .memory_key = connections_[connection].key,
          .data_class = connections_[connection].data_class.value_or(nics_[connections_[connection].nic].data_class)};
}

void UetRank::post(Instant now, const Outgoing& m) {
  const Source from = source(m, connections_[m.connection].nic);
  SendWr wr = write_to(m.connection);
  wr.wr_id = wr_id(m.connection, m.step);
  wr.local = {from.address, m.octets, from.key};
  wr.buffer_offset = base(m.repeat, connections_[m.connection].stride) + m.place;
  wr.header_data = header_data(m.peer_step, m.repeat);
  const auto posted = engine_of(m.connection).post(now, context_of(m.connection), wr);
  RAILYARD_ASSERT(posted.has_value(), "a rank posts what its NIC takes");
}

bool UetRank::post_credit(Instant now, std::uint32_t connection) {
  SendWr wr = write_to(connection);
  wr.wr_id = wr_id(connection, kNoStep);
  wr.header_data = header_data(kCredit, repeat());
  const auto posted = engine_of(connection).post(now, context_of(connection), wr);
  RAILYARD_ASSERT(posted.has_value(), "a rank posts what its NIC takes");
  return true;
}

// ---- Messages that come --------------------------------------------------------------------------------------------

bool UetRank::take_completions(Instant now) {
  bool any = false;
  for (const Nic& nic : nics_) {
    if (nic.engine->completions(nic.cq) == 0) continue;
    any = true;
    std::array<Completion, 16> some;
    while (const std::size_t n = nic.engine->poll(nic.cq, some))
      for (const Completion& completion : std::span(some).first(n)) on_completion(now, nic, completion);
  }
  return any;
}

void UetRank::on_completion(Instant now, const Nic& nic, const Completion& completion) {
  if (completion.work != Work::kReceiveWrite) {
    const auto connection = static_cast<std::uint32_t>(completion.wr_id >> 32);
    if (!completion.ok())
      return on_failed(now, connection, "PDC",
                       completion.status == Status::kRefused ? name(completion.return_code) : name(completion.status));
    return on_sent(now, connection, static_cast<std::uint32_t>(completion.wr_id));
  }
  const auto connection = connection_of(completion.initiator, nic, completion.context);
  if (!connection || !completion.ok()) return on_stray();
  const auto step = static_cast<std::uint32_t>(completion.header_data);
  if (step == kCredit) return on_credit(now, *connection);
  on_message(now, *connection,
             {.step = step,
              .repeat = static_cast<std::uint32_t>(completion.header_data >> 32),
              .octets = completion.octets,
              .intact = completion.intact,
              .stream = completion.stream,
              .offset = completion.offset});
}

std::optional<std::uint32_t> UetRank::connection_of(std::uint32_t rank, const Nic& nic,
                                                    ContextId context) const noexcept {
  const auto at = std::ranges::find(nic.contexts, context);
  if (at == nic.contexts.end()) return std::nullopt;
  const auto channel = static_cast<std::uint32_t>(at - nic.contexts.begin());
  const auto found = std::ranges::lower_bound(named_, Named{rank, channel, 0});
  if (found == named_.end() || found->rank != rank || found->channel != channel) return std::nullopt;
  return found->connection;
}

}  // namespace railyard::uet
