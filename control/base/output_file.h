// A file that a recording writes while a lab runs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "dataplane/base/file_descriptor.h"

namespace railyard {

// The engine's thread writes here, so a full disk must not throw: the first error ends the recording, and is kept until
// somebody asks.
class OutputFile {
 public:
  // Who reads a FIFO or terminal. kMayWait: the writer waits until somebody opens it, and until he has read; for runs
  // that wait for nothing else. kNever: a live lab must not stand still. Such a file without a reader is refused, and
  // a reader that leaves kMostUnread octets unread ends the recording.
  enum class Waits { kMayWait, kNever };
  static constexpr std::size_t kMostUnread = 4 << 20;

  // `path`: "-" is standard output. Throws std::runtime_error: "cannot write FILE: why".
  explicit OutputFile(std::string path, Waits waits = Waits::kMayWait);
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept = default;
  OutputFile& operator=(OutputFile&&) noexcept = default;

  // Writes nothing more after the first error.
  void write(std::string_view text) noexcept;
  // Hands buffered text to the system; under kNever what fits there.
  void flush() noexcept;
  // "cannot write FILE: No space left on device"; empty as long as all could be written.
  std::string error() const;
  bool failed() const noexcept { return errno_ != 0; }
  // Writes what is left; under kNever it waits a second for the reader at most. Throws std::runtime_error with error().
  // A second call does nothing.
  void close();

 private:
  void note_error(int error) noexcept;
  void open();

  std::string path_;
  Waits waits_ = Waits::kMayWait;
  FileDescriptor out_;
  bool yields_ = false;  // what the system does not take at once stays in unread_
  std::string unwritten_;
  int errno_ = 0;
};

}  // namespace railyard
