#include "control/bench/phase.h"

#include <cmath>

#include <fmt/format.h>

#include "control/spec/value.h"

namespace railyard::bench {
namespace {

// Instants, ns.
struct Span {
  double from = 0, to = 0;
};

std::optional<Span> span_of(Phase::Part part, std::size_t iteration, const ReportJson& report) {
  const ReportJson* const c = collective_of(report, "");
  if (c == nullptr || iteration == 0 || (*c)["iterations"].size() <= iteration) return std::nullopt;
  const ReportJson& it = (*c)["iterations"][iteration - 1];
  const auto start = number(it["start_ns"]);
  const auto time = number(it["time_ns"]);
  const auto next = number((*c)["iterations"][iteration]["start_ns"]);
  if (!start || !time || !next) return std::nullopt;
  const double computing = (*c)["job"].is_object() ? number((*c)["job"]["compute_ns"]).value_or(0) : 0;
  switch (part) {
    case Phase::Part::kComputing:
      return Span{*start, *start + computing};
    case Phase::Part::kCommunication:
      return Span{*start + computing, *start + *time};
    case Phase::Part::kGap:
      return Span{*start + *time, *next};
  }
  return std::nullopt;
}

}  // namespace

std::expected<Phase, std::string> parse_phase(const std::string& text) {
  const std::size_t blank = text.find(' ');
  const std::string part = text.substr(0, blank);
  Phase p;
  if (part == "computing")
    p.part = Phase::Part::kComputing;
  else if (part == "communication")
    p.part = Phase::Part::kCommunication;
  else if (part == "gap")
    p.part = Phase::Part::kGap;
  else
    return std::unexpected(
        fmt::format("found '{}'; expected computing, communication or gap and a share of it, such as gap 1/2", text));
  const auto share = spec::parse_probability(blank == std::string::npos ? "" : text.substr(blank + 1));
  if (!share) return std::unexpected(fmt::format("'{}': {}", text, share.error()));
  p.share = *share;
  return p;
}

std::string Moment::without() const { return key.substr(0, key.rfind('.')) + "="; }

std::optional<std::string> Moment::set(const ReportJson& report) const {
  const auto span = span_of(phase.part, iteration, report);
  if (!span || span->to <= span->from) return std::nullopt;
  const double share = static_cast<double>(phase.share.numerator) / static_cast<double>(phase.share.denominator);
  return fmt::format("{}={:.0f}ns", key, std::floor(span->from + share * (span->to - span->from)));
}

}  // namespace railyard::bench
