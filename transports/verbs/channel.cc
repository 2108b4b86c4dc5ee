// Completion channels, and the pipes that events go through.
//
// libibverbs makes a channel by a command to the kernel's device, which is not there, and does not ask the provider. So
// the entry of ibv_create_comp_channel() in the loaded library is overwritten by a jump to ours. All else that concerns
// channels is libibverbs' own.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dataplane/base/file_descriptor.h"
#include "transports/verbs/objects.h"

namespace railyard::verbs {

// libibverbs closes one descriptor: it has to be both ends.
int make_event_pipe() noexcept {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
  const FileDescriptor reader(ends[0]), writer(ends[1]);
  char path[32];
  *fmt::format_to_n(path, sizeof path - 1, "/proc/self/fd/{}", reader.get()).out = '\0';
  return ::open(path, O_RDWR | O_CLOEXEC);
}

// Whether it blocks is the application's choice. A pipe that is full of events which nobody reads loses more of them:
// the application must not be held up here.
void write_record(int fd, const void* record, std::size_t octets) noexcept {
  pollfd to{.fd = fd, .events = POLLOUT, .revents = 0};
  if (::poll(&to, 1, 0) == 1 && (to.revents & POLLOUT) != 0) static_cast<void>(::write(fd, record, octets));
}

ibv_comp_channel* create_comp_channel(ibv_context* context) {
  const int fd = make_event_pipe();
  if (fd < 0) return nullptr;
  auto* const channel = static_cast<ibv_comp_channel*>(std::calloc(1, sizeof(ibv_comp_channel)));
  if (channel == nullptr) {
    ::close(fd);
    errno = ENOMEM;
    return nullptr;
  }
  channel->context = context;
  channel->fd = fd;
  return channel;
}

bool take_over_channels() noexcept {
  void* const library = ::dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  auto* const entry = static_cast<std::byte*>(::dlsym(library, "ibv_create_comp_channel"));
  ::dlclose(library);
  if (entry == nullptr) return false;
  // movabs r11, address; jmp r11
  std::byte jump[13] = {std::byte{0x49}, std::byte{0xBB}};
  const auto address = reinterpret_cast<std::uintptr_t>(&create_comp_channel);
  std::memcpy(jump + 2, &address, sizeof address);
  const std::byte to_r11[3] = {std::byte{0x41}, std::byte{0xFF}, std::byte{0xE3}};
  std::memcpy(jump + 10, to_r11, sizeof to_r11);
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(entry) & ~(page - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(entry) + sizeof jump + page - 1) & ~(page - 1);
  auto* const pages = reinterpret_cast<void*>(first);
  if (::mprotect(pages, end - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  std::memcpy(entry, jump, sizeof jump);
  return ::mprotect(pages, end - first, PROT_READ | PROT_EXEC) == 0;
}

}  // namespace railyard::verbs
