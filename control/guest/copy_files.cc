#include "control/guest/copy_files.h"

#include <charconv>
#include <cstdlib>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/guest/guest_error.h"

namespace railyard::guest {
namespace {

// The agent's words, without the newline.
std::string first_line(const FileDescriptor& file) {
  const std::string text = contents(file);
  return text.substr(0, text.find('\n'));
}

[[noreturn]] void refuse(const GuestAddress& guest, const AgentExit& exit, const FileDescriptor& error) {
  const std::string words = first_line(error);
  throw GuestError(fmt::format("{}: {}", guest.name,
                               !words.empty()     ? words
                               : exit.signal != 0 ? fmt::format("killed by signal {}", exit.signal)
                                                  : "the copy failed"));
}

}  // namespace

void copy_to_guest(const GuestAddress& guest, const std::filesystem::path& local, const std::string& remote) {
  const FileDescriptor in(open(local.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat st {};
  if (!in || fstat(in.get(), &st) < 0)
    throw GuestError(fmt::format("cannot read {}: {}", local.string(), last_error()));
  if (S_ISDIR(st.st_mode))
    throw GuestError(fmt::format("{} is a directory; expected a file or a tar archive", local.string()));
  const FileDescriptor error = memory_file({});
  AgentSession session = AgentSession::open(guest.directory, guest.name);
  const AgentExit exit =
      session.run({.arguments = {"@put", remote, fmt::format("{:o}", st.st_mode & 07777u), local.filename().string()}},
                  {.input = in.get(), .error = error.get()});
  if (exit.status() != 0) refuse(guest, exit, error);
}

void copy_from_guest(const GuestAddress& guest, const std::string& remote, const std::filesystem::path& local) {
  const std::filesystem::path to =
      std::filesystem::is_directory(local) ? local / std::filesystem::path(remote).filename() : local;
  const bool special = std::filesystem::exists(to) && !std::filesystem::is_regular_file(to);  // /dev/stdout
  std::string temporary = to.string() + ".railyard-XXXXXX";
  const FileDescriptor out(special ? open(to.c_str(), O_WRONLY | O_CLOEXEC) : mkostemp(temporary.data(), O_CLOEXEC));
  if (!out) throw GuestError(fmt::format("cannot write {}: {}", to.string(), last_error()));
  try {
    const FileDescriptor error = memory_file({});
    AgentSession session = AgentSession::open(guest.directory, guest.name);
    const AgentExit exit = session.run({.arguments = {"@get", remote}}, {.output = out.get(), .error = error.get()});
    if (exit.status() != 0) refuse(guest, exit, error);
    const std::string mode_text = first_line(error);
    unsigned mode = 0600;
    std::from_chars(mode_text.data(), mode_text.data() + mode_text.size(), mode, 8);
    if (special) return;
    if (fchmod(out.get(), mode) < 0 || rename(temporary.c_str(), to.c_str()) < 0)
      throw GuestError(fmt::format("cannot write {}: {}", to.string(), last_error()));
  } catch (...) {
    if (!special) unlink(temporary.c_str());
    throw;
  }
}

}  // namespace railyard::guest
