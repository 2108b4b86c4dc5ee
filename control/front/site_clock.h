// How the clock of a site's machine stands to this one's.
#pragma once

#include <cstddef>
#include <deque>

namespace railyard::front {

// From requests that it answered with its time: of the last kKept the one with the shortest round trip counts, in whose middle
// it is taken to have answered. The error is at most half of that round trip.
class SiteClock {
 public:
  static constexpr std::size_t kKept = 60;

  // All in seconds since 1970. Times that make no sense are left out.
  void add(double asked, double said, double answered);
  // Its time minus ours; 0 before the first answer.
  double offset() const noexcept;
  // At most; 0 before the first answer.
  double error() const noexcept;

 private:
  struct Exchange {
    double offset = 0;
    double error = 0;
  };
  Exchange best() const noexcept;

  std::deque<Exchange> seen_;
};

}  // namespace railyard::front
