#include "control/base/read_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace railyard {
namespace {

constexpr std::size_t kMebi = std::size_t{1} << 20;

// Somebody writes into it, or has: a shell's pipe or here-document.
bool is_descriptor(const std::string& path) {
  return path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
}

std::string too_large(std::size_t most) {
  return most >= kMebi ? "it is larger than " + std::to_string(most / kMebi) + " MiB"
                       : "it is larger than " + std::to_string(most) + " bytes";
}

// Why it is none that can be read to its end; nothing if it can.
std::string unfit(const struct stat& st, const std::string& path, std::size_t most) {
  if (S_ISREG(st.st_mode)) return static_cast<std::size_t>(st.st_size) > most ? too_large(most) : std::string();
  if (S_ISDIR(st.st_mode)) return std::strerror(EISDIR);
  if (is_descriptor(path)) return {};
  return std::string("it is a ") +
         (S_ISFIFO(st.st_mode)   ? "FIFO"
          : S_ISSOCK(st.st_mode) ? "socket"
                                 : "device") +
         "; expected a file";
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

std::string why_not_a_file(const std::filesystem::path& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 ? unfit(st, path.string(), std::string::npos) : std::string();
}

std::expected<std::string, std::string> read_whole_file(const std::filesystem::path& path, std::size_t most) {
  // Without waiting: opening a FIFO that nobody writes to would.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat st {};
  if (file.fd < 0 || ::fstat(file.fd, &st) != 0) return std::unexpected(std::strerror(errno));
  if (std::string why = unfit(st, path.string(), most); !why.empty()) return std::unexpected(std::move(why));
  // Files of the kernel that wait for more to come, such as /proc/kmsg, look like others.
  if (!S_ISREG(st.st_mode)) ::fcntl(file.fd, F_SETFL, ::fcntl(file.fd, F_GETFL) & ~O_NONBLOCK);
  std::string text;
  constexpr std::size_t kBlock = 65536;
  for (std::size_t length = 0;; length = text.size()) {
    text.resize(length + kBlock);
    const ssize_t n = ::read(file.fd, text.data() + length, kBlock);
    if (n < 0 && errno == EAGAIN) return std::unexpected("it has no end; expected a file");
    if (n < 0 && errno != EINTR) return std::unexpected(std::strerror(errno));
    text.resize(length + static_cast<std::size_t>(n < 0 ? 0 : n));
    if (n == 0) return text;
    if (text.size() > most) return std::unexpected(too_large(most));
  }
}

}  // namespace railyard
