// Prometheus' text format for metrics, version 0.0.4, and OpenMetrics 1.0: families of samples with labels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

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

// The text grows in the order of the calls. All samples of a family come one after the other.
class Exposition {
 public:
  enum class Type { kCounter, kGauge, kInfo, kSummary };

  explicit Exposition(Format format) : format_(format) {}

  // Begins a family. `name`: without the suffix of its type ("_total" of a counter, "_info" of an info). `help`: one
  // sentence.
  void family(std::string_view name, Type type, std::string_view help);
  // A sample of it. Labels with an empty value are left out: for Prometheus that is the same.
  void sample(std::span<const Label> labels, std::uint64_t value);
  void sample(std::span<const Label> labels, double value);

  // All of it; nothing may be added any more.
  std::string text() &&;

 private:
  void begin_sample(std::span<const Label> labels);

  Format format_;
  std::string name_;  // of the samples of the family that has begun
  std::string text_;
};

}  // namespace railyard::exposition
