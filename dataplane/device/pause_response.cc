#include "dataplane/device/pause_response.h"

#include <algorithm>
#include <array>

namespace railyard {

using namespace literals;

Duration standard_pause_response(BitRate rate) noexcept {
  struct Row {
    BitRate rate;
    std::int64_t quanta;
  };
  static constexpr std::array<Row, 10> kRows{{{100_Mbps, 1},
                                              {1_Gbps, 2},
                                              {10_Gbps, 67},
                                              {25_Gbps, 80},
                                              {40_Gbps, 118},
                                              {50_Gbps, 147},
                                              {100_Gbps, 394},
                                              {200_Gbps, 453},
                                              {400_Gbps, 905},
                                              {800_Gbps, 905}}};
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.rate >= rate; });
  const std::int64_t quanta = row == kRows.end() ? kRows.back().quanta : row->quanta;
  return Bytes{64 * quanta} / rate;
}

}  // namespace railyard
