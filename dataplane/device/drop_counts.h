// Frames dropped, by reason, as plain numbers. Most ports drop nothing: then these take no memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "dataplane/base/drop_reason.h"

namespace railyard {

class StateArchive;

// Reads like an array of kDropReasons numbers.
class DropCounts {
 public:
  using All = std::array<std::uint64_t, kDropReasons>;

  DropCounts() = default;
  DropCounts(const DropCounts& other) : kept_(other.kept_ ? std::make_unique<All>(*other.kept_) : nullptr) {}
  DropCounts(DropCounts&&) noexcept = default;
  DropCounts& operator=(const DropCounts& other) { return *this = DropCounts(other); }
  DropCounts& operator=(DropCounts&&) noexcept = default;

  std::uint64_t operator[](std::size_t reason) const noexcept { return kept_ ? (*kept_)[reason] : 0; }
  // To be written: takes memory from now on.
  std::uint64_t& of(std::size_t reason) {
    if (!kept_) kept_ = std::make_unique<All>();
    return (*kept_)[reason];
  }
  void add(const DropCounts& other) {
    if (!other.kept_) return;
    for (std::size_t r = 0; r < kDropReasons; ++r) of(r) += (*other.kept_)[r];
  }

  static constexpr std::size_t size() noexcept { return kDropReasons; }
  const All& all() const noexcept { return kept_ ? *kept_ : nothing(); }
  auto begin() const noexcept { return all().begin(); }
  auto end() const noexcept { return all().end(); }
  std::uint64_t total() const noexcept;
  bool operator==(const DropCounts& other) const noexcept { return kept_ == other.kept_ || all() == other.all(); }

  // To or from another process.
  void exchange(StateArchive& archive);

 private:
  static const All& nothing() noexcept;

  std::unique_ptr<All> kept_;
};

}  // namespace railyard
