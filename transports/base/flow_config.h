// A flow of messages between two NICs of a transport, as both of them know it.
#pragma once

#include <cstdint>

#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard {

// How its data get from the source to the sink. Whoever asks posts the work requests: the source, of READs the sink.
enum class FlowOperation : std::uint8_t { kWrite, kSend, kRead };

// Message i of the flow is octets [i x message, (i + 1) x message) of payload stream `id`. It goes over QP i mod `qps`
// (of UET: over the PDC of lane i mod `qps`); the messages of one QP are posted in order, with at most `outstanding` of
// them posted and not complete.
struct FlowConfig {
  std::uint64_t id = 0;  // of the whole run
  FlowOperation operation = FlowOperation::kWrite;
  Bytes total{};                      // of payload; 0: no end
  std::uint32_t message = 1'000'000;  // octets, 1..2^31; the last one is what is left of `total`
  std::uint32_t outstanding = 4;      // per QP, at least 1
  std::uint32_t qps = 1;              // at least 1
  std::uint32_t receives = 4;         // SEND: receive requests that the sink has for each QP, at least 1
  // WRITE: each message says by immediate data (its number in the QP, modulo 2^32) that it has come. A sink that does
  // not see packets needs that.
  bool announced = false;
  Duration repost_after{};            // SEND: how long after a message was received its request is posted again
  BitRate rate{};                     // of all QPs together, on the wire with preamble and gap; 0: no limit
  Instant start{};                    // never(): when it is told to (start() of its endpoint)
  Instant stop = Instant::never();  // nothing is posted at or after this

  constexpr bool asks(bool is_source) const noexcept { return is_source != (operation == FlowOperation::kRead); }
  // How many messages QP `q` has; greater than can ever be: without end.
  constexpr std::uint64_t messages_of(std::uint32_t q) const noexcept {
    if (total.n == 0) return ~std::uint64_t{0};
    const std::uint64_t all = (static_cast<std::uint64_t>(total.n) + message - 1) / message;
    return all <= q ? 0 : (all - q - 1) / qps + 1;
  }
  // Of message `k` of QP `q`: where in the stream it begins, and its octets.
  constexpr std::uint64_t offset_of(std::uint32_t q, std::uint64_t k) const noexcept {
    return (q + k * qps) * std::uint64_t{message};
  }
  constexpr std::uint32_t octets_of(std::uint32_t q, std::uint64_t k) const noexcept {
    if (total.n == 0) return message;
    const std::uint64_t left = static_cast<std::uint64_t>(total.n) - offset_of(q, k);
    return left < message ? static_cast<std::uint32_t>(left) : message;
  }
  // Receive requests that the sink has for each QP.
  constexpr std::uint32_t receive_requests() const noexcept {
    if (operation == FlowOperation::kSend) return receives;
    return announced ? 2 * outstanding : 0;
  }
  // Places for messages at the sink, of each QP. Announced WRITEs: the last packet of a message waits for a receive
  // request, which the sink posts when it has looked at an earlier one; those before the last do not, and need a place
  // that nobody looks at any more.
  constexpr std::uint32_t slots() const noexcept {
    if (operation == FlowOperation::kSend) return receives;
    return announced ? receive_requests() + 1 : outstanding;
  }
};

}  // namespace railyard
