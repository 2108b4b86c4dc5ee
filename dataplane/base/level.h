// A level with one writer and any number of readers: how much of something is in use, which anyone may look at live.
#pragma once

#include <atomic>
#include <cstdint>

namespace railyard {

// As Counter (counter.h), for what goes up and down: relaxed loads and stores only.
class Level {
 public:
  constexpr Level() noexcept = default;
  constexpr Level(std::uint32_t n) noexcept : value_(n) {}  // NOLINT: stands for its number
  Level(const Level& other) noexcept : value_(other.read()) {}
  Level& operator=(const Level& other) noexcept { return set(other.read()), *this; }

  operator std::uint32_t() const noexcept { return read(); }  // NOLINT: stands for its number
  Level& operator+=(std::uint32_t n) noexcept { return set(read() + n), *this; }
  Level& operator-=(std::uint32_t n) noexcept { return set(read() - n), *this; }
  std::uint32_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  void set(std::uint32_t n) noexcept { value_.store(n, std::memory_order_relaxed); }

  std::atomic<std::uint32_t> value_{0};
};

}  // namespace railyard
