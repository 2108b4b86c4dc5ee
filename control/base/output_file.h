// A file that a recording writes while a lab runs.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace railyard {

// The engine's thread writes here, so a full disk must not throw: the first error ends the recording, and is kept until
// somebody asks.
class OutputFile {
 public:
  // Throws std::runtime_error: "cannot write FILE: why".
  explicit OutputFile(std::string path);

  // Writes nothing more after the first error.
  void write(std::string_view text) noexcept;
  // Hands buffered text to the system.
  void flush() noexcept;
  // "cannot write FILE: No space left on device"; empty as long as all could be written.
  std::string error() const;
  bool failed() const noexcept { return errno_ != 0; }
  // Writes what is left. Throws std::runtime_error with error(). A second call does nothing.
  void close();

 private:
  struct Close {
    void operator()(std::FILE* f) const noexcept { std::fclose(f); }
  };
  void note_error() noexcept;

  std::string path_;
  std::unique_ptr<std::FILE, Close> out_;
  int errno_ = 0;
};

}  // namespace railyard
