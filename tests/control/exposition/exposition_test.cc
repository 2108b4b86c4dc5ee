#include "control/exposition/exposition.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace railyard::exposition {
namespace {

using Type = Exposition::Type;

std::string small(Format format) {
  Exposition out(format);
  out.family("railyard_build", Type::kInfo, "Version.");
  out.sample(std::array{Label{"version", "0.1"}}, std::uint64_t{1});
  out.family("railyard_drops", Type::kCounter, "Frames dropped.");
  out.sample(std::array{Label{"switch", "leaf1"}, Label{"class", ""}, Label{"reason", "no_route"}}, std::uint64_t{3});
  out.family("railyard_slip_seconds", Type::kGauge, "Slip.");
  out.sample({}, 0.25);
  return std::move(out).text();
}

TEST(Exposition, IsPrometheusTextFormat) {
  EXPECT_EQ(small(Format::kPrometheus),
            "# HELP railyard_build_info Version.\n# TYPE railyard_build_info gauge\n"
            "railyard_build_info{version=\"0.1\"} 1\n"
            "# HELP railyard_drops_total Frames dropped.\n# TYPE railyard_drops_total counter\n"
            "railyard_drops_total{switch=\"leaf1\",reason=\"no_route\"} 3\n"
            "# HELP railyard_slip_seconds Slip.\n# TYPE railyard_slip_seconds gauge\n"
            "railyard_slip_seconds 0.25\n");
}

TEST(Exposition, OrOpenMetrics) {
  EXPECT_EQ(small(Format::kOpenMetrics),
            "# HELP railyard_build Version.\n# TYPE railyard_build info\n"
            "railyard_build_info{version=\"0.1\"} 1\n"
            "# HELP railyard_drops Frames dropped.\n# TYPE railyard_drops counter\n"
            "railyard_drops_total{switch=\"leaf1\",reason=\"no_route\"} 3\n"
            "# HELP railyard_slip_seconds Slip.\n# TYPE railyard_slip_seconds gauge\n"
            "railyard_slip_seconds 0.25\n# EOF\n");
}

TEST(Exposition, ValuesOfLabelsAreEscaped) {
  Exposition out(Format::kPrometheus);
  out.family("a", Type::kGauge, "A.");
  out.sample(std::array{Label{"x", "a\\b\"c\nd"}}, std::uint64_t{0});
  EXPECT_TRUE(std::move(out).text().ends_with("a{x=\"a\\\\b\\\"c\\nd\"} 0\n"));
}

TEST(Exposition, SamplesOfOneMetricComeTogetherInOrderOfTime) {
  Exposition out(Format::kOpenMetrics);
  for (const double at : {0.5, 1.0}) {
    out.at(at);
    out.family("railyard_drops", Type::kCounter, "Frames dropped.");
    out.sample(std::array{Label{"switch", "leaf1"}}, std::uint64_t{at > 0.7 ? 3u : 1u});
    if (at > 0.7) out.sample(std::array{Label{"switch", "leaf2"}}, std::uint64_t{9});
    out.family("railyard_depth", Type::kGauge, "Depth.");
    out.sample({}, at);
  }
  EXPECT_EQ(std::move(out).text(),
            "# HELP railyard_drops Frames dropped.\n# TYPE railyard_drops counter\n"
            "railyard_drops_total{switch=\"leaf1\"} 1 0.5\nrailyard_drops_total{switch=\"leaf1\"} 3 1\n"
            "railyard_drops_total{switch=\"leaf2\"} 9 1\n"
            "# HELP railyard_depth Depth.\n# TYPE railyard_depth gauge\n"
            "railyard_depth 0.5 0.5\nrailyard_depth 1 1\n# EOF\n");
}

TEST(Exposition, TheClientChoosesTheFormat) {
  EXPECT_EQ(accepted(""), Format::kPrometheus);
  EXPECT_EQ(accepted("text/plain;version=0.0.4;q=0.5,*/*;q=0.1"), Format::kPrometheus);
  EXPECT_EQ(accepted("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"), Format::kOpenMetrics);
}

}  // namespace
}  // namespace railyard::exposition
