// A CSV file that is written line by line.
#pragma once

#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "control/base/output_file.h"

namespace railyard::telemetry {

class CsvFile {
 public:
  // `columns`: the first line.
  CsvFile(OutputFile file, const std::string& columns) : out_(std::move(file)) { line("{}", columns); }

  // Nothing happens after the first error.
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    text_.clear();
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_.push_back('\n');
    out_.write({text_.data(), text_.size()});
  }

  bool failed() const noexcept { return out_.failed(); }
  std::string error() const { return out_.error(); }
  // Writes what is left. Throws std::runtime_error if not everything could be written.
  void close() { out_.close(); }

 private:
  OutputFile out_;
  fmt::memory_buffer text_;
};

}  // namespace railyard::telemetry
