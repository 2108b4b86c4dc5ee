#include "tools/railyard/until.h"

#include <algorithm>
#include <csignal>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "control/spec/value.h"

namespace railyard::tools {
namespace {

volatile std::sig_atomic_t told_to_end = 0;

}  // namespace

void add_for_option(CLI::App& command, std::string& said) {
  command.add_option("--for", said, "Duration in wall time (default: until Ctrl-C)")->type_name("TIME");
}

std::optional<Duration> parse_for(const std::string& said) {
  if (said.empty()) return std::nullopt;
  const auto parsed = spec::parse_duration(said);
  if (parsed && *parsed > Duration{}) return *parsed;
  throw CLI::ValidationError("--for", parsed ? fmt::format("'{}': expected a time above 0", said) : parsed.error());
}

void end_on_signal() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { told_to_end = 1; });
}

bool ended_by_signal() { return told_to_end != 0; }

void wait(const daemon::LabDir& lab, std::optional<Duration> how_long, const std::function<bool()>& goes_on) {
  constexpr Duration kStep{50'000'000'000};
  constexpr std::int64_t kPicosecondsPerMicrosecond = 1'000'000;
  constexpr int kStepsBetweenQuestions = 10;
  int steps = 0;
  while (told_to_end == 0 && (!how_long || *how_long > Duration{})) {
    const Duration step = how_long ? std::min(kStep, *how_long) : kStep;
    ::usleep(static_cast<useconds_t>(step.ps / kPicosecondsPerMicrosecond));
    if (how_long) *how_long -= step;
    if (!lab.running()) throw std::runtime_error(fmt::format("lab '{}' stopped meanwhile", lab.name()));
    if (++steps % kStepsBetweenQuestions == 0 && !goes_on()) return;
  }
}

}  // namespace railyard::tools
