// Whether other workers had better have some devices: by what devices have cost in some windows of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/device/fabric.h"
#include "dataplane/run/placement.h"

namespace railyard {

// Before a run nobody knows which devices will have how much to do, so they are placed by their ports. After some windows of
// measuring they are placed by their load, and later in the run again, more and more seldom: what is measured costs a little,
// and what is moved has to go from cache to cache. Where a device is has no effect on results.
class LoadBalance {
 public:
  // Windows until the first measurement, windows of a measurement, and how many times later than that the next one is.
  struct Pace {
    std::uint64_t first = 64;
    std::uint64_t measured = 32;
    std::uint64_t later = 8;
  };

  LoadBalance(const Fabric& fabric, std::size_t workers, Pace pace) : fabric_(fabric), workers_(workers), pace_(pace) {}

  // Whether costs are to be added in this window.
  bool measures() const noexcept { return measures_; }
  // `device` has cost so many processor cycles. Devices of different workers at the same time.
  void add(std::size_t device, std::uint64_t cycles) noexcept { loads_.devices[device] += cycles; }

  // After each window, while the engine rests. A value: devices had better be placed so.
  std::optional<std::vector<std::uint8_t>> after_window(const std::vector<std::uint8_t>& worker_of);

 private:
  std::vector<std::uint64_t> frames() const;
  std::uint64_t time(const std::vector<std::uint8_t>& worker_of) const;

  const Fabric& fabric_;
  std::size_t workers_;
  Pace pace_;
  std::uint64_t windows_ = 0;
  bool measures_ = false;
  MeasuredLoads loads_;
};

}  // namespace railyard
