// What became of a work request.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "transports/uet/ids.h"
#include "transports/uet/wire/return_code.h"

namespace railyard::uet {

enum class Status : std::uint8_t {
  kSuccess,
  kRefused,        // the target answered with another return code than OK: Completion::return_code
  kRetryExceeded,  // no answer, however often it was asked; of a message that is received: its rest never came
  kPdcFailed,      // the target has closed the PDC, or knows nothing of it
  kLocalError,     // local memory that may not be used so
  kFlushed         // this end gave up on it
};
std::string_view name(Status status) noexcept;

enum class Work : std::uint8_t { kSend, kWrite, kRead, kAtomic, kReceive, kReceiveWrite };

struct Completion {
  std::uint64_t wr_id = 0;
  Status status = Status::kSuccess;
  Work work = Work::kSend;
  ReturnCode return_code = ReturnCode::kOk;
  bool has_header_data = false;
  bool truncated = false;  // received: the message was longer than the buffer
  // All packets of a received message that are promises (PayloadRef) named one stream, in its order without a gap.
  bool intact = true;
  ContextId context{};
  PeerId peer{};                // the other end
  std::uint32_t octets = 0;     // of the message
  std::uint32_t initiator = 0;  // received
  std::uint32_t job_id = 0;     // received: of who has sent it
  std::uint64_t match_bits = 0;
  std::uint64_t header_data = 0;
  std::uint64_t address = 0;    // received: of the message in its buffer
  bool last_of_buffer = false;  // RecvWr::least_left: the buffer takes no more messages
  std::uint64_t stream = 0;  // of a received message that is a promise: its first octet
  std::uint64_t offset = 0;

  bool ok() const noexcept { return status == Status::kSuccess; }
};

// Of fixed size; one that overruns loses completions and says so.
class CompletionQueue {
 public:
  explicit CompletionQueue(std::size_t capacity) : ring_(capacity == 0 ? 1 : capacity) {}

  // Whether there was room. Allocates nothing.
  bool push(const Completion& completion) noexcept {
    if (size_ == ring_.size()) {
      overrun_ = true;
      return false;
    }
    ring_[(head_ + size_++) % ring_.size()] = completion;
    return true;
  }
  // Takes up to `out.size()` completions, the oldest first; returns how many.
  std::size_t poll(std::span<Completion> out) noexcept {
    std::size_t n = 0;
    for (; n < out.size() && size_ > 0; --size_) {
      out[n++] = ring_[head_];
      head_ = (head_ + 1) % ring_.size();
    }
    return n;
  }
  std::size_t size() const noexcept { return size_; }
  bool overrun() const noexcept { return overrun_; }

 private:
  std::vector<Completion> ring_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
  bool overrun_ = false;
};

}  // namespace railyard::uet
