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
  // A sample of it. Labels with an empty value are left out: for Prometheus that is the same.
  void sample(std::span<const Label> labels, std::uint64_t value);
  void sample(std::span<const Label> labels, double value);
  // Of a kHistogram family, of picoseconds, as seconds: `_bucket`s up to each of `bounds_ps` (ascending) and of all, `_sum`,
  // `_count`. Values are within 1.6 % (dataplane/base/histogram.h).
  void histogram(std::span<const Label> labels, const Histogram& of, std::span<const std::uint64_t> bounds_ps);

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

  void append_labels(std::span<const Label> labels);
  void line(std::string_view suffix, std::span<const Label> labels, std::string_view le, std::string_view value);
  // What was written since `from` goes to its metric, if there are instants.
  void keep(std::size_t from, std::span<const Label> labels);

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
