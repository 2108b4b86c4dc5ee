#include "control/base/output_file.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

namespace railyard {
namespace {

constexpr std::size_t kHandedOver = 4096;  // octets that are handed over together

std::string reason(int error, bool waits) {
  if (waits && error == ENXIO) return "nobody reads this FIFO; start its reader first";
  if (waits && error == EAGAIN) return "its reader is too slow, and a live lab does not wait";
  if (waits && error == EPIPE) return "its reader has gone";
  return std::strerror(error);
}

}  // namespace

OutputFile::OutputFile(std::string path, Waits waits) : path_(std::move(path)), waits_(waits) {
  open();
  if (failed()) throw std::runtime_error(error());
  unwritten_.reserve(2 * kHandedOver);
}

OutputFile::~OutputFile() {
  if (out_) flush();
}

void OutputFile::open() {
  int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  std::string file = path_;
  int fd = -1;
  if (path_ == "-") {
    path_ = "standard output";
    // Opened anew where it must not wait: O_NONBLOCK would be that of everybody who has it.
    file = "/proc/self/fd/1";
    flags = O_WRONLY | O_APPEND | O_CLOEXEC;
    if (waits_ == Waits::kMayWait) fd = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  }
  if (waits_ == Waits::kNever) flags |= O_NONBLOCK | O_NOCTTY;
  while (fd < 0) {
    fd = ::open(file.c_str(), flags, 0666);
    if (fd < 0 && errno != EINTR) break;
  }
  out_ = FileDescriptor(fd);
  if (!out_) return note_error(errno);
  struct stat st {};
  if (::fstat(fd, &st) != 0) return note_error(errno);
  yields_ = waits_ == Waits::kNever && !S_ISREG(st.st_mode);
  if (yields_ && !S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode)) note_error(EINVAL);
}

void OutputFile::note_error(int error) noexcept {
  if (errno_ == 0) errno_ = error != 0 ? error : EIO;
}

void OutputFile::write(std::string_view text) noexcept {
  if (failed() || !out_) return;
  if (yields_ && unwritten_.size() + text.size() > kMostUnread) flush();
  if (yields_ && unwritten_.size() + text.size() > kMostUnread) return note_error(EAGAIN);
  try {
    unwritten_.append(text);
  } catch (const std::bad_alloc&) {
    return note_error(ENOMEM);
  }
  if (unwritten_.size() >= kHandedOver) flush();
}

void OutputFile::flush() noexcept {
  std::size_t written = 0;
  while (!failed() && out_ && written < unwritten_.size()) {
    const ssize_t n = ::write(out_.get(), unwritten_.data() + written, unwritten_.size() - written);
    if (n >= 0)
      written += static_cast<std::size_t>(n);
    else if (errno == EAGAIN && yields_)
      break;
    else if (errno != EINTR)
      note_error(errno);
  }
  unwritten_.erase(0, written);
}

std::string OutputFile::error() const {
  return failed() ? "cannot write " + path_ + ": " + reason(errno_, waits_ == Waits::kNever) : std::string();
}

void OutputFile::close() {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::seconds(1);
  flush();
  while (out_ && !failed() && !unwritten_.empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) {
      note_error(EAGAIN);
      break;
    }
    pollfd fd{out_.get(), POLLOUT, 0};
    static_cast<void>(::poll(&fd, 1, static_cast<int>(left)));
    flush();
  }
  unwritten_.clear();
  if (out_ && ::close(out_.release()) != 0) note_error(errno);
  if (failed()) throw std::runtime_error(error());
}

}  // namespace railyard
