// The congestion control of one QP's data: a plug. Each kind is told what happens in the words of its paper, and says
// at which rate to send.
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>

#include "dataplane/base/time.h"
#include "transports/roce/congestion/dcqcn.h"

namespace railyard::roce {

// Sends as fast as the link takes it.
struct NoCongestionControl {};

// What the QPs of an engine are controlled by.
using CongestionConfig = std::variant<NoCongestionControl, DcqcnConfig>;

class CongestionControl {
 public:
  CongestionControl() = default;
  explicit CongestionControl(const CongestionConfig& config) noexcept {
    if (const auto* dcqcn = std::get_if<DcqcnConfig>(&config)) kind_.emplace<Dcqcn>(*dcqcn);
  }

  // A CNP came for the QP. Whether it does something.
  bool on_cnp(Instant now) noexcept {
    Dcqcn* const dcqcn = std::get_if<Dcqcn>(&kind_);
    if (dcqcn != nullptr) dcqcn->on_cnp(now);
    return dcqcn != nullptr;
  }

  // A packet of `octets` octets on the wire, preamble and gap included, is sent at `now`, not before `allowed`: when
  // the next one may go (roce-and-lossless §8.6).
  Instant on_sent(Instant now, Instant allowed, std::uint32_t octets) noexcept {
    Dcqcn* const dcqcn = std::get_if<Dcqcn>(&kind_);
    if (dcqcn == nullptr) return now;
    dcqcn->on_sent(now, octets);
    if (!dcqcn->limits()) return now;
    const double ps = static_cast<double>(octets) * 8e12 / dcqcn->rate(now);
    return std::max(now, allowed) + Duration{static_cast<std::int64_t>(ps + 0.5)};
  }

  // nullptr: it is another kind.
  const Dcqcn* dcqcn() const noexcept { return std::get_if<Dcqcn>(&kind_); }

 private:
  std::variant<NoCongestionControl, Dcqcn> kind_;
};

}  // namespace railyard::roce
