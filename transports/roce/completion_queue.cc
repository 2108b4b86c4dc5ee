#include "transports/roce/completion_queue.h"

#include <algorithm>
#include <utility>

#include "transports/roce/work_request.h"

namespace railyard::roce {

std::string_view name(WcStatus status) noexcept {
  switch (status) {
    case WcStatus::kSuccess:
      return "SUCCESS";
    case WcStatus::kLocLenErr:
      return "LOC_LEN_ERR";
    case WcStatus::kLocQpOpErr:
      return "LOC_QP_OP_ERR";
    case WcStatus::kLocProtErr:
      return "LOC_PROT_ERR";
    case WcStatus::kWrFlushErr:
      return "WR_FLUSH_ERR";
    case WcStatus::kMwBindErr:
      return "MW_BIND_ERR";
    case WcStatus::kBadRespErr:
      return "BAD_RESP_ERR";
    case WcStatus::kRemInvReqErr:
      return "REM_INV_REQ_ERR";
    case WcStatus::kRemAccessErr:
      return "REM_ACCESS_ERR";
    case WcStatus::kRemOpErr:
      return "REM_OP_ERR";
    case WcStatus::kRetryExcErr:
      return "RETRY_EXC_ERR";
    case WcStatus::kRnrRetryExcErr:
      return "RNR_RETRY_EXC_ERR";
  }
  return "";
}

std::string_view name(PostError error) noexcept {
  switch (error) {
    case PostError::kUnknownQp:
      return "unknown_qp";
    case PostError::kWrongState:
      return "wrong_state";
    case PostError::kQueueFull:
      return "queue_full";
    case PostError::kNotSupported:
      return "not_supported";
    case PostError::kTooLong:
      return "too_long";
    case PostError::kWrongLength:
      return "wrong_length";
    case PostError::kNoReads:
      return "no_reads";
    case PostError::kUnknownAddress:
      return "unknown_address";
    case PostError::kHasSrq:
      return "has_srq";
  }
  return "";
}

bool CompletionQueue::push(const Completion& completion) noexcept {
  if (size_ == ring_.size()) {
    overrun_ = true;
    return false;
  }
  std::size_t at = head_ + size_++;
  if (at >= ring_.size()) at -= ring_.size();
  ring_[at] = completion;
  if (pushed_ != nullptr) *pushed_ = true;
  if (armed_ == Arm::kAny || (armed_ == Arm::kSolicited && (completion.solicited || !completion.ok()))) {
    armed_ = Arm::kNothing;
    event_ = true;
  }
  return true;
}

std::size_t CompletionQueue::forget(QpNumber qp) noexcept {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const Completion& c = ring_[(head_ + i) % ring_.size()];
    if (c.qp != qp) ring_[(head_ + kept++) % ring_.size()] = c;
  }
  const std::size_t taken = size_ - kept;
  size_ = kept;
  return taken;
}

bool CompletionQueue::resize(std::size_t capacity) {
  if (capacity < std::max<std::size_t>(size_, 1)) return false;
  std::vector<Completion> ring(capacity);
  for (std::size_t i = 0; i < size_; ++i) ring[i] = ring_[(head_ + i) % ring_.size()];
  ring_ = std::move(ring);
  head_ = 0;
  return true;
}

std::size_t CompletionQueue::poll(std::span<Completion> out) noexcept {
  const std::size_t n = std::min(out.size(), size_);
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = ring_[head_];
    if (++head_ == ring_.size()) head_ = 0;
  }
  size_ -= n;
  return n;
}

}  // namespace railyard::roce
