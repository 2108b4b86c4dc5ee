#include "control/guest/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include "control/guest/guest_error.h"

namespace railyard::guest {

FileDescriptor memory_file(std::string_view text) {
  FileDescriptor file(memfd_create("railyard", MFD_CLOEXEC));
  if (!file) throw GuestError("cannot create a file in memory: " + last_error());
  while (!text.empty()) {
    const ssize_t n = write(file.get(), text.data(), text.size());
    if (n < 0) throw GuestError("cannot write to a file in memory: " + last_error());
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::string contents(const FileDescriptor& file) {
  std::string all;
  char piece[65536];
  ssize_t n;
  while ((n = pread(file.get(), piece, sizeof piece, static_cast<off_t>(all.size()))) > 0)
    all.append(piece, static_cast<std::size_t>(n));
  return all;
}

}  // namespace railyard::guest
