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
      engine_(engine),
      job_(job),
      cq_(engine.create_cq(completions_of(program()))),
      connections_(program().connections.size()) {
  std::uint32_t channels = 0;
  for (std::uint32_t c = 0; c < connections_.size(); ++c) {
    const RankConnection& plan = program().connections[c];
    named_.push_back({plan.peer, plan.channel, c});
    channels = std::max(channels, plan.channel + 1);
  }
  std::ranges::sort(named_);
  for (std::uint32_t channel = 0; channel < channels; ++channel)
    contexts_.push_back(engine.create_context({.job_id = job.job_id,
                                               .resource_index = static_cast<std::uint16_t>(channel),
                                               .initiator = program().rank,
                                               .domain = kCollectiveDomain,
                                               .cq = cq_,
                                               .most_receives = 0,
                                               .most_unexpected = 0}));
}

void UetRank::connect(std::uint32_t connection, PeerId peer, MemoryRegions::Key key, std::uint64_t stride) {
  connections_[connection] = {peer, key, stride};
}

// ---- Messages that go ----------------------------------------------------------------------------------------------

SendWr UetRank::write_to(std::uint32_t connection) const noexcept {
  const std::uint32_t channel = program().connections[connection].channel;
  return {.operation = Operation::kWrite,
          .mode = job_.mode,
          .peer = connections_[connection].peer,
          .lane = lane_of(channel),
          .resource_index = static_cast<std::uint16_t>(channel),
          .memory_key = connections_[connection].key,
          .data_class = job_.data_class};
}

void UetRank::post(Instant now, const Outgoing& m) {
  const Source from = source(m);
  SendWr wr = write_to(m.connection);
  wr.wr_id = wr_id(m.connection, m.step);
  wr.local = {from.address, m.octets, from.key};
  wr.buffer_offset = base(m.repeat, connections_[m.connection].stride) + m.place;
  wr.header_data = header_data(m.peer_step, m.repeat);
  const auto posted = engine_.post(now, contexts_[program().connections[m.connection].channel], wr);
  RAILYARD_ASSERT(posted.has_value(), "a rank posts what its NIC takes");
}

bool UetRank::post_credit(Instant now, std::uint32_t connection) {
  SendWr wr = write_to(connection);
  wr.wr_id = wr_id(connection, kNoStep);
  wr.header_data = header_data(kCredit, repeat());
  const auto posted = engine_.post(now, contexts_[program().connections[connection].channel], wr);
  RAILYARD_ASSERT(posted.has_value(), "a rank posts what its NIC takes");
  return true;
}

// ---- Messages that come --------------------------------------------------------------------------------------------

bool UetRank::take_completions(Instant now) {
  if (engine_.completions(cq_) == 0) return false;
  std::array<Completion, 16> some;
  while (const std::size_t n = engine_.poll(cq_, some))
    for (const Completion& completion : std::span(some).first(n)) on_completion(now, completion);
  return true;
}

void UetRank::on_completion(Instant now, const Completion& completion) {
  if (completion.work != Work::kReceiveWrite) {
    const auto connection = static_cast<std::uint32_t>(completion.wr_id >> 32);
    if (!completion.ok())
      return on_failed(now, connection, "PDC",
                       completion.status == Status::kRefused ? name(completion.return_code) : name(completion.status));
    return on_sent(now, connection, static_cast<std::uint32_t>(completion.wr_id));
  }
  const auto connection = connection_of(completion.initiator, completion.context);
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

std::optional<std::uint32_t> UetRank::channel_of(ContextId context) const noexcept {
  const auto found = std::ranges::find(contexts_, context);
  if (found == contexts_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - contexts_.begin());
}

std::optional<std::uint32_t> UetRank::connection_of(std::uint32_t rank, ContextId context) const noexcept {
  const auto channel = channel_of(context);
  if (!channel) return std::nullopt;
  const auto found = std::ranges::lower_bound(named_, Named{rank, *channel, 0});
  if (found == named_.end() || found->rank != rank || found->channel != *channel) return std::nullopt;
  return found->connection;
}

}  // namespace railyard::uet
