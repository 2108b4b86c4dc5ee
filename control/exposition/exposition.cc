#include "control/exposition/exposition.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace railyard::exposition {
namespace {

std::string_view word(Exposition::Type type, Format format) noexcept {
  switch (type) {
    case Exposition::Type::kCounter:
      return "counter";
    case Exposition::Type::kGauge:
      return "gauge";
    case Exposition::Type::kSummary:
      return "summary";
    case Exposition::Type::kInfo:
      // The older format has no such type.
      return format == Format::kOpenMetrics ? "info" : "gauge";
  }
  return "unknown";
}

std::string_view suffix(Exposition::Type type) noexcept {
  return type == Exposition::Type::kCounter ? "_total" : type == Exposition::Type::kInfo ? "_info" : "";
}

// Backslash, quote and line end: of values of labels.
void append_escaped(std::string& text, std::string_view value) {
  for (const char c : value) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
}

}  // namespace

std::string_view content_type(Format format) noexcept {
  return format == Format::kOpenMetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                        : "text/plain; version=0.0.4; charset=utf-8";
}

Format accepted(std::string_view accept) noexcept {
  return accept.find("application/openmetrics-text") != accept.npos ? Format::kOpenMetrics : Format::kPrometheus;
}

void Exposition::family(std::string_view name, Type type, std::string_view help) {
  name_ = fmt::format("{}{}", name, suffix(type));
  // In OpenMetrics the family has the name without the suffix, in the older format that of its samples.
  const std::string_view said = format_ == Format::kOpenMetrics ? name : name_;
  fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", said, help, said, word(type, format_));
}

void Exposition::begin_sample(std::span<const Label> labels) {
  text_ += name_;
  char before = '{';
  for (const Label& l : labels) {
    if (l.value.empty()) continue;
    text_ += std::exchange(before, ',');
    text_ += l.name;
    text_ += "=\"";
    append_escaped(text_, l.value);
    text_ += '"';
  }
  if (before == ',') text_ += '}';
  text_ += ' ';
}

void Exposition::sample(std::span<const Label> labels, std::uint64_t value) {
  begin_sample(labels);
  fmt::format_to(std::back_inserter(text_), "{}\n", value);
}

void Exposition::sample(std::span<const Label> labels, double value) {
  begin_sample(labels);
  fmt::format_to(std::back_inserter(text_), "{}\n", value);
}

std::string Exposition::text() && {
  if (format_ == Format::kOpenMetrics) text_ += "# EOF\n";
  return std::move(text_);
}

}  // namespace railyard::exposition
