// Prometheus' text format for metrics, version 0.0.4, and OpenMetrics 1.0: families of samples with labels.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dataplane/base/histogram.h"

namespace railyard::exposition {

enum class Format { kPrometheus, kOpenMetrics };

// What HTTP says of a format.
std::string_view content_type(Format format) noexcept;
// The format that an HTTP Accept header asks for: OpenMetrics if it is named there.
Format accepted(std::string_view accept) noexcept;

struct Label {
  std::string_view name;
  std::string_view value;
};

// Labels as they are written, without braces: what many samples have in common is rendered once.
class Rendered {
 public:
  // Labels with an empty value are left out: for Prometheus that is the same.
  explicit Rendered(std::span<const Label> labels);
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

// Of one instant, the text grows in the order of the calls, and all samples of a family come one after the other. With
// instants (at()), families are begun anew for each, and text() puts together what is of one family, and in it what
// has the same labels, in order of time.
class Exposition {
 public:
  enum class Type { kCounter, kGauge, kInfo, kSummary, kHistogram };

  explicit Exposition(Format format) : format_(format) {}

  // From here on samples are of this instant, in seconds; at least that of the last call. OpenMetrics only.
  void at(double seconds);

  // Begins a family. `name`: without the suffix of its type ("_total" of a counter, "_info" of an info). `help`: one
  // sentence.
  void family(std::string_view name, Type type, std::string_view help);
  // A sample of it.
  void sample(std::span<const Label> labels, std::uint64_t value) { sample(Rendered(labels), value); }
  void sample(std::span<const Label> labels, double value) { sample(Rendered(labels), value); }
  // The same. `more`: labels behind those of `labels`, rendered.
  void sample(const Rendered& labels, std::uint64_t value, std::string_view more = {});
  void sample(const Rendered& labels, double value, std::string_view more = {});
  // Of a kHistogram family, of picoseconds, as seconds: `_bucket`s up to each of `bounds_ps` (ascending) and of all, `_sum`,
  // `_count`. Values are within 1.6 % (dataplane/base/histogram.h).
  void histogram(std::span<const Label> labels, const Histogram& of, std::span<const std::uint64_t> bounds_ps);

  // The text will have about so many octets.
  void reserve(std::size_t octets) { text_.reserve(octets); }
  // Octets so far.
  std::size_t size() const noexcept { return size_; }
  // All of it; nothing may be added any more.
  std::string text() &&;

 private:
  // Samples with the same labels, but for `le`.
  struct Family {
    std::string head;
    std::vector<std::string> metrics;
    std::unordered_map<std::string, std::size_t> places;  // in `metrics`, by labels
  };

  // A line up to its value.
  void begin_line(std::string_view suffix, std::string_view labels, std::string_view more);
  void end_line();
  // What was written since `from` goes to its metric, if there are instants.
  void keep(std::size_t from, std::string_view labels, std::string_view more);

  Format format_;
  std::string name_;    // of the samples of the family that has begun
  std::string text_;
  std::string moment_;  // " 1.5": the instant of samples
  bool has_moments_ = false;
  std::size_t size_ = 0;
  std::vector<Family> families_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  Family* family_ = nullptr;
};

}  // namespace railyard::exposition
