#include "control/exposition/exposition.h"

#include <array>
#include <charconv>
#include <iterator>
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

Rendered::Rendered(std::span<const Label> labels) {
  for (const Label& l : labels) {
    if (l.value.empty()) continue;
    if (!text_.empty()) text_ += ',';
    text_ += l.name;
    text_ += "=\"";
    append_escaped(text_, l.value);
    text_ += '"';
  }
}

void Exposition::begin_line(std::string_view suffix, std::string_view labels, std::string_view more) {
  text_ += name_;
  text_ += suffix;
  if (!labels.empty() || !more.empty()) {
    text_ += '{';
    text_ += labels;
    if (!labels.empty() && !more.empty()) text_ += ',';
    text_ += more;
    text_ += '}';
  }
  text_ += ' ';
}

void Exposition::end_line() {
  text_ += moment_;
  text_ += '\n';
}

void Exposition::keep(std::size_t from, std::string_view labels, std::string_view more) {
  if (!has_moments_) {
    size_ = text_.size();
    return;
  }
  std::string key(labels);
  key += '\0';
  key += more;
  const auto [place, is_new] = family_->places.try_emplace(std::move(key), family_->metrics.size());
  if (is_new) family_->metrics.emplace_back();
  family_->metrics[place->second].append(text_, from);
  size_ += text_.size() - from;
  text_.resize(from);
}

void Exposition::sample(const Rendered& labels, std::uint64_t value, std::string_view more) {
  const std::size_t from = text_.size();
  begin_line("", labels.text(), more);
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text_.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
  end_line();
  keep(from, labels.text(), more);
}

void Exposition::sample(const Rendered& labels, double value, std::string_view more) {
  const std::size_t from = text_.size();
  begin_line("", labels.text(), more);
  fmt::format_to(std::back_inserter(text_), "{}", value);
  end_line();
  keep(from, labels.text(), more);
}

void Exposition::histogram(std::span<const Label> labels, const Histogram& of, std::span<const std::uint64_t> bounds_ps) {
  const std::size_t from = text_.size();
  const Rendered rendered(labels);
  const auto line = [&](std::string_view suffix, const std::string& more, auto value) {
    begin_line(suffix, rendered.text(), more);
    fmt::format_to(std::back_inserter(text_), "{}", value);
    end_line();
  };
  for (const std::uint64_t bound : bounds_ps)
    line("_bucket", fmt::format("le=\"{}\"", static_cast<double>(bound) / kOneSecond), of.count_up_to(bound));
  line("_bucket", "le=\"+Inf\"", of.count());
  line("_sum", "", of.sum() / kOneSecond);
  line("_count", "", of.count());
  keep(from, rendered.text(), {});
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
