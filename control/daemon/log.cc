#include "control/daemon/log.h"

#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "control/base/short_quote.h"

namespace railyard::daemon {
namespace {

constexpr std::size_t kLongestLine = 4'000;

spdlog::level::level_enum level_named(const std::string& name) {
  const spdlog::level::level_enum level = spdlog::level::from_str(name);
  if (level == spdlog::level::off && name != "off")
    throw std::invalid_argument(
        fmt::format("--log-level: '{}'; expected trace, debug, info, warning, error, critical or off", name));
  return level;
}

}  // namespace

Log::Log(const std::string& file, const std::string& level, std::size_t most_octets) {
  const spdlog::level::level_enum least = level_named(level);
  try {
    const auto to_file = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file, most_octets, kOldFiles);
    const auto to_terminal = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    to_terminal->set_level(spdlog::level::off);
    logger_ = std::make_shared<spdlog::logger>("railyard", spdlog::sinks_init_list{to_file, to_terminal});
  } catch (const spdlog::spdlog_ex& error) {
    throw std::runtime_error(fmt::format("cannot write {}: {}", file, error.what()));
  }
  logger_->set_formatter(
      std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%fZ %l %v", spdlog::pattern_time_type::utc));
  logger_->set_level(least);
  logger_->flush_on(spdlog::level::trace);
  // The library would complain on standard error.
  logger_->set_error_handler([](const std::string&) {});
}

Log::~Log() = default;

namespace {

// Of huge ones the beginning.
std::string one_line(const std::string& text) { return printable(std::string_view(text).substr(0, kLongestLine)); }

}  // namespace

void Log::debug(const std::string& text) { logger_->debug("{}", one_line(text)); }
void Log::line(const std::string& text) {
  logger_->info("{}", one_line(text));
  tell_of("info", text);
}
void Log::warning(const std::string& text) {
  logger_->warn("{}", one_line(text));
  tell_of("warning", text);
}

void Log::tell(See see) {
  const std::scoped_lock lock(mutex_);
  see_ = std::move(see);
}
void Log::tell_of(const char* level, const std::string& text) {
  const std::scoped_lock lock(mutex_);
  if (see_) see_(level, one_line(text));
}

void Log::to_stderr(bool on) { logger_->sinks()[1]->set_level(on ? spdlog::level::trace : spdlog::level::off); }

}  // namespace railyard::daemon
