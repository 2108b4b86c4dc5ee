// Max-min fair rates of flows that share links: nobody can have more without somebody who has less having even less
// (Bertsekas and Gallager, "Data Networks", 2nd edition, section 6.5.2, by progressive filling).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace railyard::estimate {

// A link that a flow uses, and which share of its octets.
struct LinkUse {
  std::uint32_t link = 0;
  double share = 1;

  bool operator==(const LinkUse&) const = default;
};

class MaxMin {
 public:
  // By link, what it carries in a second; in any unit, and the rates are in the same.
  explicit MaxMin(std::vector<double> capacities);

  // One rate per flow, in their order; each uses a link at least.
  void rates(std::span<const std::span<const LinkUse>> flows, std::vector<double>& rates);

 private:
  std::vector<double> capacities_;
  // Of the links in use: what is left, and the sum of the shares of flows that are not fixed yet.
  std::vector<double> left_, shares_;
  std::vector<std::vector<std::uint32_t>> flows_;  // by link
  std::vector<std::uint32_t> used_;
};

}  // namespace railyard::estimate
