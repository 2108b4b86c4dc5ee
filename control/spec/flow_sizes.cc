#include "control/spec/flow_sizes.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace railyard::spec {
namespace {

struct Row {
  std::int64_t octets;
  double percent;
};

// Web search (Alizadeh et al., "Data Center TCP", SIGCOMM 2010): the points that the HPCC simulator (Li et al., SIGCOMM
// 2019) has of it, traffic_gen/WebSearch_distribution.txt.
constexpr Row kWebSearch[] = {{10'000, 15},    {20'000, 20},     {30'000, 30},     {50'000, 40},
                              {80'000, 53},    {200'000, 60},    {1'000'000, 70},  {2'000'000, 80},
                              {5'000'000, 90}, {10'000'000, 97}, {30'000'000, 100}};

// Data mining (Greenberg et al., "VL2", SIGCOMM 2009), in packets of 1460 octets: the points of the ns-2 scripts of
// pFabric (Alizadeh et al., SIGCOMM 2013) and PIAS (Bai et al., NSDI 2015), CDF_vl2.tcl. Their mean is 5117 packets.
constexpr Row kDataMining[] = {{1 * 1460, 50},   {2 * 1460, 60},    {3 * 1460, 70},      {7 * 1460, 80},
                               {267 * 1460, 90}, {2107 * 1460, 95}, {66'667 * 1460, 99}, {666'667 * 1460, 100}};

// A distributed storage of Alibaba, 2019: HPCC simulator, traffic_gen/AliStorage2019.txt.
constexpr Row kStorage[] = {{4'000, 22.93},  {8'000, 69.21},   {16'000, 80.61},  {32'000, 90.47},
                            {64'000, 93.53}, {128'000, 96.77}, {256'000, 97.53}, {2'000'000, 100}};

// Mice: RPCs of Google before 2008, HPCC simulator, traffic_gen/GoogleRPC2008.txt; of its points those near powers of
// two, which makes the mean 3.2 KB in the place of 2.9 KB.
constexpr Row kMice[] = {{3, 6.4883},          {32, 9.7324},         {64, 15.5271},        {128, 35.1573},
                         {256, 49.7901},       {512, 78.4921},       {1'024, 86.32},       {2'048, 90.8862},
                         {4'096, 93.4955},     {8'192, 96.4309},     {16'384, 98.4694},    {32'768, 99.0402},
                         {65'536, 99.3256},    {131'072, 99.7129},   {262'144, 99.8453},   {524'288, 99.9498},
                         {1'027'982, 99.9753}, {2'034'108, 99.9884}, {5'114'695, 99.9965}, {15'158'197, 100}};

FlowSizes made(const char* name, std::span<const Row> rows) {
  FlowSizes s{name, {}};
  for (const Row& r : rows)
    s.points.push_back({Bytes{r.octets}, static_cast<std::uint32_t>(std::lround(r.percent * 1e4))});
  return s;
}

}  // namespace

double FlowSizes::mean() const noexcept {
  double sum = 0;
  double from = 1;
  std::uint32_t below = 0;
  // One point is that size for all.
  if (points.size() == 1) return static_cast<double>(points.front().size.n);
  for (const Point& p : points) {
    sum += (from + static_cast<double>(p.size.n)) / 2 * (p.ppm - below) / 1e6;
    from = static_cast<double>(p.size.n);
    below = p.ppm;
  }
  return sum;
}

Bytes FlowSizes::at(std::uint64_t draw) const noexcept {
  if (points.size() == 1) return points.front().size;
  const double ppm = static_cast<double>(draw >> 11) * 0x1p-53 * 1e6;
  double from = 1;
  std::uint32_t below = 0;
  for (const Point& p : points) {
    const auto to = static_cast<double>(p.size.n);
    if (ppm < p.ppm) {
      const double size = from + (to - from) * (ppm - below) / (p.ppm - below);
      return Bytes{std::max<std::int64_t>(1, static_cast<std::int64_t>(size + 0.5))};
    }
    from = to;
    below = p.ppm;
  }
  return points.back().size;
}

const std::vector<FlowSizes>& published_flow_sizes() {
  static const std::vector<FlowSizes> all{made("web-search", kWebSearch), made("data-mining", kDataMining),
                                          made("storage", kStorage), made("mice", kMice)};
  return all;
}

}  // namespace railyard::spec
