#include "tools/agent/agent_flow.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "control/agent_protocol/frames.h"
#include "dataplane/base/payload_pattern.h"

namespace railyard::agent {
namespace {

agents::MessageTimes times_of(const Histogram& h) {
  if (h.count() == 0) return {};
  const auto at = [&](double fraction) { return h.percentile(fraction) / 1000; };
  return {at(0.5), at(0.9), at(0.99), at(0.999), at(0.9999), h.max() / 1000};
}

}  // namespace

AgentFlow::AgentFlow(Verbs& verbs, const agents::PrepareFlow& what) : what_(what), memory_(what.memory()) {
  const FlowConfig& c = config();
  const std::size_t sends = asks() ? c.outstanding : 0;
  const std::size_t receives = is_told() ? c.receive_requests() : 0;
  verbs_ = verbs.open(what_.address, std::max<std::size_t>(1, (sends + receives) * c.qps));
  const bool is_read = is_source() && c.operation == FlowOperation::kRead;
  if (is_read) fill_payload(c.id, 0, memory_);
  const RcVerbs::Memory known =
      verbs_->register_memory(memory_, is_read ? RemoteAccess::kReadToo : RemoteAccess::kWrite);
  prepared_ = {.id = what_.id,
               .device = verbs_->device(),
               .key = known.key,
               .address = known.address,
               .stride = is_source() ? 0 : std::uint64_t{c.slots()} * c.message,
               .reads = std::min(what_.terms.reads, verbs_->most_reads())};
  lanes_.resize(c.qps);
  for (std::uint32_t q = 0; q < c.qps; ++q) {
    prepared_.qpns.push_back(verbs_->create_qp(std::max<std::size_t>(1, sends), std::max<std::size_t>(1, receives)));
    lanes_[q].messages = c.messages_of(q);
  }
  counters_before_ = verbs.counters(verbs_->device());
}

void AgentFlow::connect(const agents::Connect& connect) {
  if (connect.peers.size() != lanes_.size())
    throw agents::ProtocolError(fmt::format("connect: {} peers; expected {}", connect.peers.size(), lanes_.size()));
  agents::QpTerms terms = what_.terms;
  terms.reads = std::min(prepared_.reads, connect.reads);
  for (std::uint32_t q = 0; q < lanes_.size(); ++q) {
    lanes_[q].peer = connect.peers[q];
    verbs_->initialise(q);
    for (std::uint32_t i = 0; is_told() && i < config().receive_requests(); ++i) post_receive(q);
    verbs_->connect(q, connect.peers[q], terms);
  }
}

void AgentFlow::go(Instant now) {
  if (std::exchange(going_, true)) throw agents::ProtocolError("go: it runs already");
  zero_ = now;
  for (std::uint32_t q = 0; asks() && q < lanes_.size(); ++q) post(now, q);
}

// ---- Messages ------------------------------------------------------------------------------------------------------

// In this end's memory.
std::uint64_t AgentFlow::place_of(std::uint32_t q, std::uint64_t message) const noexcept {
  const FlowConfig& c = config();
  const std::uint64_t places = is_source() ? c.outstanding : c.slots();
  return (q * places + message % places) * c.message;
}

void AgentFlow::post(Instant now, std::uint32_t q) {
  using enum SendRequest::Opcode;
  const FlowConfig& c = config();
  Lane& lane = lanes_[q];
  while (!stopped_ && lane.posted < lane.messages && lane.posted - lane.completed < c.outstanding) {
    const std::uint64_t k = lane.posted;
    const std::uint64_t stream = c.offset_of(q, k);
    SendRequest request{.wr_id = q, .offset = place_of(q, k), .octets = c.octets_of(q, k), .remote_key = lane.peer.key};
    switch (c.operation) {
      case FlowOperation::kWrite:
        request.opcode = c.announced ? kWriteImm : kWrite;
        request.remote_address = lane.peer.memory + k % c.slots() * c.message;
        request.immediate = static_cast<std::uint32_t>(k);
        break;
      case FlowOperation::kSend:
        request.opcode = kSend;
        break;
      case FlowOperation::kRead:
        request.opcode = kRead;
        request.remote_address = lane.peer.memory + stream;
        break;
    }
    if (is_source()) fill_payload(c.id, stream, std::span(memory_).subspan(request.offset, request.octets));
    verbs_->post_send(q, request);
    lane.posted_at.push_back(now);
    ++lane.posted;
    first_ = std::min(first_, now);
  }
}

void AgentFlow::post_receive(std::uint32_t q) {
  const FlowConfig& c = config();
  const std::uint64_t n = lanes_[q].receives++;
  // An announced WRITE says itself where it goes.
  if (c.announced) return verbs_->post_receive(q, q);
  verbs_->post_receive(q, q, place_of(q, n), c.message);
}

bool AgentFlow::work(Instant now) {
  if (!going_ || failed()) return false;
  std::array<WorkCompletion, 16> some;
  const std::size_t n = verbs_->poll(some);
  for (const WorkCompletion& completion : std::span(some).first(n)) on_completion(now, completion);
  return n > 0;
}

void AgentFlow::on_completion(Instant now, const WorkCompletion& completion) {
  if (!completion.ok) {
    ++errors_;
    if (status_.empty()) status_ = completion.error.empty() ? "error" : completion.error;
    return;
  }
  const auto q = static_cast<std::uint32_t>(completion.wr_id);
  Lane& lane = lanes_[q];
  last_ = now;
  if (completion.received) {
    first_ = std::min(first_, now);
    return on_received(q, completion);
  }
  const std::uint64_t k = lane.completed++;
  ++messages_;
  octets_ += config().octets_of(q, k);
  latency_.record(static_cast<std::uint64_t>(std::max<std::int64_t>(0, (now - lane.posted_at.front()).ps)));
  lane.posted_at.pop_front();
  if (!is_source()) verify(q, k, true);
  post(now, q);
}

void AgentFlow::on_received(std::uint32_t q, const WorkCompletion& completion) {
  const FlowConfig& c = config();
  Lane& lane = lanes_[q];
  const std::uint64_t k = lane.received++;
  ++messages_;
  octets_ += completion.octets;
  const bool its_turn = !c.announced || completion.immediate == static_cast<std::uint32_t>(k);
  verify(q, k, its_turn && k < lane.messages && completion.octets == c.octets_of(q, k));
  post_receive(q);
}

void AgentFlow::verify(std::uint32_t q, std::uint64_t message, bool as_expected) {
  const FlowConfig& c = config();
  const bool right =
      as_expected && payload_matches(c.id, c.offset_of(q, message),
                                     std::span(memory_).subspan(place_of(q, message), c.octets_of(q, message)));
  ++(right ? verified_ : wrong_);
}

// ---- What became of it ---------------------------------------------------------------------------------------------

bool AgentFlow::complete() const noexcept {
  if (!going_ || failed()) return false;
  if (asks())
    return std::ranges::all_of(lanes_, [&](const Lane& lane) {
      return lane.posted == lane.completed && (stopped_ || lane.completed == lane.messages);
    });
  return is_told() && std::ranges::all_of(lanes_, [](const Lane& lane) { return lane.received == lane.messages; });
}

nlohmann::json AgentFlow::result(Verbs& verbs, std::string_view type, const std::string& failure) const {
  agents::FlowResult r{
      .id = what_.id,
      .complete = complete(),
      .failure = failure,
      .status = status_,
      .errors = errors_,
      .messages = messages_,
      .octets = octets_,
      .verified = verified_,
      .wrong = wrong_,
      .first_ns = first_ == Instant::never() ? 0 : std::max<std::uint64_t>(1, whole_ns(first_ - zero_)),
      .last_ns = messages_ == 0 ? 0 : whole_ns(last_ - zero_),
      .message_ns = times_of(latency_),
      .counters = counted_since(counters_before_, verbs, prepared_.device)};
  if (r.failure.empty() && failed()) r.failure = fmt::format("a QP failed: {}", status_);
  return agents::to_json(r, type);
}

std::string AgentFlow::summary() const {
  return fmt::format("{} messages, {} of them verified, {} wrong", messages_, verified_, wrong_);
}

}  // namespace railyard::agent
