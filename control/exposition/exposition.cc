#include "control/exposition/exposition.h"

#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace railyard::exposition {
namespace {

constexpr double kOneSecond = 1e12;

std::string_view word(Exposition::Type type, Format format) noexcept {
  switch (type) {
    case Exposition::Type::kCounter:
      return "counter";
    case Exposition::Type::kGauge:
      return "gauge";
    case Exposition::Type::kSummary:
      return "summary";
    case Exposition::Type::kHistogram:
      return "histogram";
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

void Exposition::at(double seconds) {
  moment_ = fmt::format(" {:.12g}", seconds);  // rounded: 0.1 is no 0.09999
  has_moments_ = true;
}

void Exposition::family(std::string_view name, Type type, std::string_view help) {
  name_ = fmt::format("{}{}", name, suffix(type));
  // In OpenMetrics the family has the name without the suffix, in the older format that of its samples.
  const std::string_view said = format_ == Format::kOpenMetrics ? name : name_;
  std::string head = fmt::format("# HELP {} {}\n# TYPE {} {}\n", said, help, said, word(type, format_));
  if (!has_moments_) {
    text_ += head;
    size_ = text_.size();
    return;
  }
  const auto [place, is_new] = by_name_.try_emplace(name_, families_.size());
  if (is_new) {
    size_ += head.size();
    families_.push_back({std::move(head), {}, {}});
  }
  family_ = &families_[place->second];
}

void Exposition::append_labels(std::span<const Label> labels) {
  for (const Label& l : labels) {
    if (l.value.empty()) continue;
    if (text_.back() != '{') text_ += ',';
    text_ += l.name;
    text_ += "=\"";
    append_escaped(text_, l.value);
    text_ += '"';
  }
}

void Exposition::line(std::string_view suffix, std::span<const Label> labels, std::string_view le, std::string_view value) {
  text_ += name_;
  text_ += suffix;
  text_ += '{';
  append_labels(labels);
  if (!le.empty()) append_labels(std::array{Label{"le", le}});
  if (text_.back() == '{')
    text_.pop_back();
  else
    text_ += '}';
  text_ += ' ';
  text_ += value;
  text_ += moment_;
  text_ += '\n';
}

void Exposition::keep(std::size_t from, std::span<const Label> labels) {
  if (!has_moments_) {
    size_ = text_.size();
    return;
  }
  std::string key;
  for (const Label& l : labels) {
    key += l.value;
    key += '\0';
  }
  const auto [place, is_new] = family_->places.try_emplace(std::move(key), family_->metrics.size());
  if (is_new) family_->metrics.emplace_back();
  family_->metrics[place->second].append(text_, from);
  size_ += text_.size() - from;
  text_.resize(from);
}

void Exposition::sample(std::span<const Label> labels, std::uint64_t value) {
  const std::size_t from = text_.size();
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  line("", labels, "", {digits.data(), static_cast<std::size_t>(end - digits.data())});
  keep(from, labels);
}

void Exposition::sample(std::span<const Label> labels, double value) {
  const std::size_t from = text_.size();
  line("", labels, "", fmt::format("{}", value));
  keep(from, labels);
}

void Exposition::histogram(std::span<const Label> labels, const Histogram& of, std::span<const std::uint64_t> bounds_ps) {
  const std::size_t from = text_.size();
  for (const std::uint64_t bound : bounds_ps)
    line("_bucket", labels, fmt::format("{}", static_cast<double>(bound) / kOneSecond),
         fmt::format("{}", of.count_up_to(bound)));
  line("_bucket", labels, "+Inf", fmt::format("{}", of.count()));
  line("_sum", labels, "", fmt::format("{}", of.sum() / kOneSecond));
  line("_count", labels, "", fmt::format("{}", of.count()));
  keep(from, labels);
}

std::string Exposition::text() && {
  for (Family& family : families_) {
    text_ += family.head;
    for (std::string& metric : family.metrics) {
      text_ += metric;
      metric = {};
    }
  }
  if (format_ == Format::kOpenMetrics) text_ += "# EOF\n";
  return std::move(text_);
}

}  // namespace railyard::exposition
