#include "control/base/output_file.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace railyard {

OutputFile::OutputFile(std::string path) : path_(std::move(path)), out_(std::fopen(path_.c_str(), "we")) {
  if (out_ != nullptr) return;
  note_error();
  throw std::runtime_error(error());
}

void OutputFile::note_error() noexcept {
  if (errno_ == 0) errno_ = errno != 0 ? errno : EIO;
}

void OutputFile::write(std::string_view text) noexcept {
  if (failed() || out_ == nullptr) return;
  if (std::fwrite(text.data(), 1, text.size(), out_.get()) != text.size()) note_error();
}

void OutputFile::flush() noexcept {
  if (!failed() && out_ != nullptr && std::fflush(out_.get()) != 0) note_error();
}

std::string OutputFile::error() const {
  return failed() ? "cannot write " + path_ + ": " + std::strerror(errno_) : std::string();
}

void OutputFile::close() {
  if (std::FILE* f = out_.release(); f != nullptr && std::fclose(f) != 0) note_error();
  if (failed()) throw std::runtime_error(error());
}

}  // namespace railyard
