// `railyard capture`: what a port of a lab that is up sees, as pcapng.
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/spec/value.h"
#include "dataplane/base/file_descriptor.h"
#include "tools/railyard/at_site.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/live.h"

namespace railyard::tools {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

struct CaptureOptions {
  std::string lab;
  std::string port;
  std::string file;
  bool in = false;
  bool out = false;
  std::uint64_t count = 0;
  std::uint64_t snaplen = 0;
  std::string duration;
  std::string buffer;
  bool ends_with_input = false;  // standard input: at a site, the end of whoever asked
};

std::string error_text() { return std::strerror(errno); }

// Where the capture goes: a file, or standard output. A file that is there stays as it is until accept().
class Output {
 public:
  explicit Output(const std::string& file) : file_(file) {
    if (file == "-") {
      if (::isatty(STDOUT_FILENO) != 0)
        throw std::invalid_argument("-w -: standard output is a terminal; expected a file or a pipe");
      fd_ = FileDescriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    } else {
      fd_ = FileDescriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      created_ = static_cast<bool>(fd_);
      if (!fd_ && errno == EEXIST) fd_ = FileDescriptor(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    }
    if (!fd_) throw std::runtime_error(fmt::format("cannot write {}: {}", name(), error_text()));
    struct stat st {};
    regular_ = ::fstat(fd_.get(), &st) == 0 && S_ISREG(st.st_mode);
  }
  ~Output() {
    if (created_) ::unlink(file_.c_str());
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // It will be written: what was in the file goes, and the file stays.
  void accept() {
    created_ = false;
    if (regular_ && file_ != "-" && ::ftruncate(fd_.get(), 0) != 0)
      throw std::runtime_error(fmt::format("cannot write {}: {}", name(), error_text()));
  }
  int fd() const noexcept { return fd_.get(); }
  std::string name() const { return file_ == "-" ? "standard output" : file_; }

  // Writes the first octets, without waiting where poll(2) says that there is room; returns how many. 0: whoever reads
  // the pipe has gone.
  std::size_t write(std::span<const std::byte> octets) {
    const std::size_t n = regular_ ? octets.size() : std::min<std::size_t>(octets.size(), PIPE_BUF);
    const ssize_t written = ::write(fd_.get(), octets.data(), n);
    if (written >= 0) return static_cast<std::size_t>(written);
    if (errno == EPIPE) return 0;
    throw std::runtime_error(fmt::format("cannot write {}: {}", name(), error_text()));
  }

 private:
  std::string file_;
  FileDescriptor fd_;
  bool created_ = false;
  bool regular_ = false;
};

// The blocks of a pcapng stream (draft-ietf-opsawg-pcapng §3.1), so that whole ones only are written and the statistics
// that the daemon puts last are seen.
class Blocks {
 public:
  // What has come. Throws std::runtime_error if it is no pcapng.
  void add(std::span<const std::byte> octets) {
    octets_.insert(octets_.end(), octets.begin(), octets.end());
    while (octets_.size() - whole_ >= 12) {
      const auto type = number<std::uint32_t>(whole_);
      const auto total = number<std::uint32_t>(whole_ + 4);
      if (total < 12 || total % 4 != 0 || total > kMostOctets)
        throw std::runtime_error("the daemon does not send pcapng");
      if (octets_.size() - whole_ < total) break;
      if (type == kEnhancedPacket) ++frames_;
      if (type == kInterfaceStatistics) read_statistics(whole_ + 20, whole_ + total - 4);
      whole_ += total;
    }
  }
  // Whole blocks that have not been taken yet.
  std::span<const std::byte> whole() const noexcept { return std::span(octets_).subspan(taken_, whole_ - taken_); }
  void take(std::size_t octets) {
    taken_ += octets;
    if (taken_ < whole_) return;
    octets_.erase(octets_.begin(), octets_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = whole_ = 0;
  }

  std::uint64_t frames() const noexcept { return frames_; }
  struct Statistics {
    std::uint64_t received = 0;
    std::uint64_t lost = 0;
  };
  // Whether the statistics have come, which are the last block; and what they say was lost by the capture.
  bool complete() const noexcept { return complete_; }
  std::uint64_t lost() const noexcept { return statistics_.lost; }

 private:
  static constexpr std::uint32_t kInterfaceStatistics = 5;
  static constexpr std::uint32_t kEnhancedPacket = 6;
  static constexpr std::uint32_t kMostOctets = 1 << 20;

  template <class T>
  T number(std::size_t at) const noexcept {
    T value{};
    std::memcpy(&value, octets_.data() + at, sizeof value);
    return value;
  }
  // CaptureOptions of §4.6.
  void read_statistics(std::size_t at, std::size_t end) {
    Statistics s;
    while (at + 4 <= end) {
      const auto code = number<std::uint16_t>(at);
      const std::size_t length = number<std::uint16_t>(at + 2);
      if (at + 4 + length > end) break;
      if (code == 4 && length == 8) s.received = number<std::uint64_t>(at + 4);
      if (code == 5 && length == 8) s.lost = number<std::uint64_t>(at + 4);
      at += 4 + (length + 3) / 4 * 4;
    }
    statistics_ = s;
    complete_ = true;
  }

  std::vector<std::byte> octets_;
  std::size_t taken_ = 0;
  std::size_t whole_ = 0;
  std::uint64_t frames_ = 0;
  Statistics statistics_{};
  bool complete_ = false;
};

// SIGINT and SIGTERM, to be read like a file.
FileDescriptor interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return FileDescriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

FileDescriptor connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd || path.size() >= sizeof address.sun_path)
    throw std::runtime_error(fmt::format("cannot connect to {}", path));
  std::memcpy(address.sun_path, path.data(), path.size());
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error(fmt::format("cannot connect to {}: {}", path, error_text()));
  return fd;
}

// The same capture at the site that has the port: what it writes, and its end as soon as that is shut down. Nothing: the lab
// runs here.
std::optional<FileDescriptor> capture_at_site(const daemon::LabDir& lab, const CaptureOptions& o) {
  std::vector<std::string> more{o.port, "--write", "-", "--end-with-input"};
  if (o.in) more.emplace_back("--in");
  if (o.out) more.emplace_back("--out");
  if (o.count != 0) more.insert(more.end(), {"--count", std::to_string(o.count)});
  if (o.snaplen != 0) more.insert(more.end(), {"--snaplen", std::to_string(o.snaplen)});
  if (!o.buffer.empty()) more.insert(more.end(), {"--buffer", o.buffer});
  std::vector<std::string> words = command_at_site(lab, o.port, "capture", more, false);
  if (words.empty()) return std::nullopt;
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::runtime_error(fmt::format("no socket: {}", error_text()));
  FileDescriptor here(ends[0]);
  const FileDescriptor there(ends[1]);
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error(fmt::format("cannot run {}: {}", words[0], error_text()));
  if (pid == 0) {
    // Ctrl-C is for us, who end it.
    ::setpgid(0, 0);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(there.get(), STDIN_FILENO);
    ::dup2(there.get(), STDOUT_FILENO);
    ::execvp(raw[0], raw.data());
    ::_exit(127);
  }
  return here;
}

enum class End { kComplete, kReaderGone, kBrokenOff };

// From the daemon to the output, until one of them or the user ends it.
class Copy {
 public:
  // `input`: what ends it when it ends; -1: nothing.
  Copy(FileDescriptor& interrupts, FileDescriptor& daemon, Output& output,
       std::optional<steady_clock::time_point> until, int input)
      : interrupts_(interrupts), daemon_(daemon), output_(output), until_(until), input_(input) {}

  End run() {
    for (;;) {
      const bool full = !blocks_.whole().empty();
      if (!full && ended_) return blocks_.complete() ? End::kComplete : End::kBrokenOff;
      std::array<pollfd, 4> fds{pollfd{interrupts_.get(), POLLIN, 0}, pollfd{full ? -1 : daemon_.get(), POLLIN, 0},
                                pollfd{output_.fd(), static_cast<short>(full ? POLLOUT : 0), 0},
                                pollfd{asked_ ? -1 : input_, POLLIN, 0}};
      if (::poll(fds.data(), fds.size(), time_left()) < 0 && errno != EINTR)
        throw std::runtime_error(fmt::format("poll: {}", error_text()));
      if (fds[0].revents != 0 && !interrupted()) return End::kBrokenOff;
      if (fds[3].revents != 0) ask_for_the_end();
      if (until_ && !asked_ && steady_clock::now() >= *until_) ask_for_the_end();
      if ((fds[2].revents & POLLERR) != 0) return End::kReaderGone;
      if ((fds[2].revents & POLLOUT) != 0) {
        const std::size_t n = output_.write(blocks_.whole());
        if (n == 0) return End::kReaderGone;
        blocks_.take(n);
      }
      if (fds[1].revents != 0) receive();
    }
  }
  const Blocks& blocks() const noexcept { return blocks_; }

 private:
  int time_left() const {
    if (!until_ || asked_) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until_ - steady_clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
  }
  // Once: what was seen until now is still wanted. Twice: nothing any more.
  bool interrupted() {
    signalfd_siginfo signal{};
    if (::read(interrupts_.get(), &signal, sizeof signal) <= 0) return true;
    if (asked_) return false;
    ask_for_the_end();
    return true;
  }
  void ask_for_the_end() {
    asked_ = true;
    ::shutdown(daemon_.get(), SHUT_WR);
  }
  void receive() {
    const ssize_t n = ::recv(daemon_.get(), received_.data(), received_.size(), 0);
    if (n > 0)
      blocks_.add(std::span(received_).first(static_cast<std::size_t>(n)));
    else if (n == 0 || errno != EINTR)
      ended_ = true;
  }

  FileDescriptor& interrupts_;
  FileDescriptor& daemon_;
  Output& output_;
  std::optional<steady_clock::time_point> until_;
  int input_;
  Blocks blocks_;
  std::vector<std::byte> received_ = std::vector<std::byte>(256 * 1024);
  bool asked_ = false;
  bool ended_ = false;  // the daemon has sent all
};

std::chrono::nanoseconds duration_of(const std::string& text) {
  const auto d = spec::parse_duration(text);
  if (!d) throw CLI::ValidationError("--duration", fmt::format("'{}': {}", text, d.error()));
  if (*d <= Duration{}) throw CLI::ValidationError("--duration", fmt::format("'{}': expected a time above 0", text));
  return std::chrono::nanoseconds(d->ps / 1000);
}

std::int64_t buffer_of(const std::string& text) {
  const auto size = spec::parse_size(text);
  if (!size) throw CLI::ValidationError("--buffer", fmt::format("'{}': {}", text, size.error()));
  return size->n;
}

int capture(const CaptureOptions& o) {
  std::optional<std::chrono::nanoseconds> duration;
  if (!o.duration.empty()) duration = duration_of(o.duration);
  json request{{"port", o.port}, {"direction", o.in ? "in" : o.out ? "out" : "both"}};
  if (o.count != 0) request["count"] = o.count;
  if (o.snaplen != 0) request["snaplen"] = o.snaplen;
  if (!o.buffer.empty()) request["buffer"] = buffer_of(o.buffer);

  const daemon::LabDir lab = chosen_lab(o.lab);
  std::signal(SIGPIPE, SIG_IGN);
  Output output(o.file);
  FileDescriptor signals = interrupts();
  FileDescriptor daemon;
  if (auto there = capture_at_site(lab, o)) {
    daemon = std::move(*there);
  } else {
    const json started = ask(lab, "POST", "/captures", request);
    daemon = connect_to(started["socket"].get<std::string>());
  }
  output.accept();
  fmt::print(stderr, "railyard: capturing {}{}\n", o.port, o.count == 0 && !duration ? "; Ctrl-C ends it" : "");

  std::optional<steady_clock::time_point> until;
  if (duration) until = steady_clock::now() + *duration;
  Copy copy(signals, daemon, output, until, o.ends_with_input ? STDIN_FILENO : -1);
  const End end = copy.run();
  const Blocks& blocks = copy.blocks();
  if (end == End::kBrokenOff)
    throw std::runtime_error(fmt::format("{}: the capture broke off after {} frames; {} is valid up to there", o.port,
                                         blocks.frames(), output.name()));
  std::string ending = ", until the reader closed";
  if (blocks.complete()) ending = fmt::format(", {} not captured (buffer full)", blocks.lost());
  fmt::print(stderr, "railyard: {}: {} frames captured{}\n", o.port, blocks.frames(), ending);
  return kOk;
}

}  // namespace

void add_capture(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<CaptureOptions>();
  add_lab_option(*command, o->lab);
  command->add_option("PORT", o->port, "Name of the port, e.g. leaf1:3")->required();
  command->add_option("-w,--write", o->file, "Output file (pcapng); -: standard output")->type_name("FILE")->required();
  auto* in = command->add_flag("--in", o->in, "Capture received frames only");
  command->add_flag("--out", o->out, "Capture sent frames only")->excludes(in);
  command->add_option("-c,--count", o->count, "Stop after N frames")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62));
  command->add_option("--duration", o->duration, "Stop after TIME of wall time, e.g. 10s")->type_name("TIME");
  command->add_option("-s,--snaplen", o->snaplen, "Capture at most N bytes of each frame")
      ->type_name("N")
      ->check(CLI::Range(1, 262'144));
  command->add_option("--buffer", o->buffer, "Buffer for frames not yet written (default 16MiB, at most 1GiB)")
      ->type_name("SIZE");
  command->add_flag("--end-with-input", o->ends_with_input, "Stop when standard input ends")->group("");
  command->footer(
      "Each frame has a comment: class, queue depth, CE mark, drop reason; for packets sampled by in-band telemetry\n"
      "(railyard int, run.int) the path as well. A capture never delays the lab: frames that do not fit its buffer "
      "are\n"
      "counted and reported at the end.\n"
      "Examples:\n"
      "  railyard capture leaf1:1 -w leaf1-1.pcapng\n"
      "  railyard capture leaf1:1 -w - | wireshark -k -i -\n"
      "  railyard capture leaf1:1 --out --count 1000 --snaplen 128 -w - | tshark -r -");
  command->callback([o, &exit_code] { exit_code = capture(*o); });
}

}  // namespace railyard::tools
