#include "transports/uet/services/echo_endpoint.h"

#include <array>

#include "dataplane/base/assert.h"

namespace railyard::uet {

EchoEndpoint::EchoEndpoint(const EngineConfig& config, const EncapsulationConfig& encapsulation, RngStream chance,
                           std::uint32_t job_id, std::uint32_t pids_per_process)
    : uet_(config, encapsulation, chance, true),
      pids_per_process_(pids_per_process),
      cq_(uet_.engine().create_cq(4 * kBuffers)),
      context_(uet_.engine().create_context({.job_id = job_id,
                                             .pid_on_fep = kPidOnFep,
                                             .resource_index = kResourceIndex,
                                             .initiator = kResourceIndex,
                                             .cq = cq_,
                                             .truncates = false})),
      memory_(std::size_t{2} * kBuffers * kMostOctets) {
  const auto key = uet_.engine().memory().add(
      {.address = address_of(0), .octets = memory_.size(), .access = Access::kLocalWrite, .memory = memory_.data()});
  RAILYARD_ASSERT(key.has_value(), "it is the first region");
  key_ = *key;
  for (std::uint32_t buffer = 0; buffer < 2 * kBuffers; ++buffer) post({}, buffer);
}

std::uint64_t EchoEndpoint::address_of(std::uint32_t buffer) const noexcept {
  constexpr std::uint64_t kFirst = 4096;  // a name in the engine's address space, whatever this process has there
  return kFirst + std::uint64_t{buffer} * kMostOctets;
}

void EchoEndpoint::post(Instant now, std::uint32_t buffer) {
  const bool tagged = buffer >= kBuffers;
  const auto posted = uet_.engine().post_receive(now, context_,
                                                 {.wr_id = buffer,
                                                  .local = {address_of(buffer), kMostOctets, key_},
                                                  .tagged = tagged,
                                                  .match_bits = 0,
                                                  .ignore = tagged ? ~std::uint64_t{0} : 0});
  RAILYARD_ASSERT(posted.has_value(), "the context takes as many as there are buffers");
}

// A buffer is posted again when its answer has completed.
void EchoEndpoint::on_message(Instant now, const Completion& c) {
  const auto buffer = static_cast<std::uint32_t>(c.wr_id);
  if (!c.ok() || c.truncated) return post(now, buffer);
  counters_.messages.increment();
  counters_.bytes.add(c.octets);
  const auto pid = static_cast<std::uint16_t>(c.initiator >> 12 & 0xFFF);
  SendWr answer{.wr_id = buffer,
                .operation = buffer >= kBuffers ? Operation::kTaggedSend : Operation::kSend,
                .peer = c.peer,
                .lane = static_cast<std::uint8_t>(pids_per_process_ != 0 ? pid / pids_per_process_ : 0),
                .local = {c.address, c.octets, key_},
                .pid_on_fep = pid,
                .resource_index = static_cast<std::uint16_t>(c.initiator & 0xFFF),
                .match_bits = c.match_bits};
  if (c.has_header_data) answer.header_data = c.header_data;
  if (c.initiator <= 0xFF'FFFF && uet_.engine().post(now, context_, answer)) return;
  counters_.unanswered.increment();
  post(now, buffer);
}

bool EchoEndpoint::serve(Instant now) {
  bool any = false;
  std::array<Completion, 16> some;
  while (const std::size_t n = uet_.engine().poll(cq_, some)) {
    any = true;
    for (const Completion& c : std::span(some).first(n)) {
      if (c.work == Work::kReceive) {
        on_message(now, c);
      } else {
        (c.ok() ? counters_.returned : counters_.failed).increment();
        post(now, static_cast<std::uint32_t>(c.wr_id));
      }
    }
  }
  return any;
}

Readiness EchoEndpoint::ready(Instant now) {
  Readiness r = uet_.ready(now);
  while (serve(now)) r = uet_.ready(now);  // a timer may have completed something
  return r;
}

std::size_t EchoEndpoint::send(Instant now, Priority priority, std::span<TxFrame> frames) {
  return uet_.send(now, priority, frames);
}

bool EchoEndpoint::receive(std::span<const RxFrame> frames) {
  for (const RxFrame& frame : frames) {
    uet_.receive({&frame, 1});
    serve(frame.at);
  }
  return true;
}

}  // namespace railyard::uet
