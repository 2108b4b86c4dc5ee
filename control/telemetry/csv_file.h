// A CSV file that is written line by line, and says at its end whether all of it could be.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace railyard::telemetry {

class CsvFile {
 public:
  // Throws std::runtime_error: `file` cannot be written. `columns`: the first line.
  CsvFile(const std::string& file, const std::string& columns) : file_(file), out_(std::fopen(file.c_str(), "we")) {
    if (out_ == nullptr) throw std::runtime_error(fmt::format("cannot write {}: {}", file, std::strerror(errno)));
    line("{}", columns);
  }

  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    fmt::print(out_.get(), format, std::forward<Values>(values)...);
    std::fputc('\n', out_.get());
  }

  // Writes what is left; once. Throws std::runtime_error if not everything could be written.
  void close() {
    std::FILE* f = out_.release();
    if (f == nullptr) return;
    const bool written = std::ferror(f) == 0;
    if (std::fclose(f) != 0 || !written)
      throw std::runtime_error(fmt::format("not everything could be written to {}", file_));
  }

 private:
  struct Close {
    void operator()(std::FILE* f) const noexcept { std::fclose(f); }
  };

  std::string file_;
  std::unique_ptr<std::FILE, Close> out_;
};

}  // namespace railyard::telemetry
