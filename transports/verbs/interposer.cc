// librailyard-nodes.so, for LD_PRELOAD: programs find the emulated devices without anything in /dev/infiniband and without
// root. libibverbs opens a device's node, which must be a character device with the number that its tree says (1:3,
// control/daemon/verbs_tree.h); for names of ours these calls go to /dev/null, which is one. All else goes to the C library.
//
// libibverbs asks the kernel for its RDMA devices before it looks at the tree (netlink), and with an answer it does not look.
// So the kernel is not asked here: a program that has this sees the emulated devices alone.
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

constexpr char kNodes[] = "/dev/infiniband/railyard";

// What is behind `path` here.
const char* behind(const char* path) noexcept {
  return path != nullptr && std::strncmp(path, kNodes, sizeof kNodes - 1) == 0 ? "/dev/null" : path;
}

// The next library's function of that name.
template <class Function>
class Next {
 public:
  explicit constexpr Next(const char* name) noexcept : name_(name) {}
  Function* get() noexcept {
    void* found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) {
      found = ::dlsym(RTLD_NEXT, name_);
      found_.store(found, std::memory_order_relaxed);
    }
    return reinterpret_cast<Function*>(found);
  }

 private:
  const char* name_;
  std::atomic<void*> found_ = nullptr;
};

using Open = int(const char*, int, ...);
using OpenAt = int(int, const char*, int, ...);
using Stat = int(const char*, struct stat*);
constinit Next<Open> next_open{"open"}, next_open64{"open64"};
constinit Next<OpenAt> next_openat{"openat"}, next_openat64{"openat64"};
constinit Next<Stat> next_stat{"stat"}, next_stat64{"stat64"};
constinit Next<int(const char*, int)> next_access{"access"};
constinit Next<int(int, int, int)> next_socket{"socket"};

mode_t mode_of(int flags, va_list more) noexcept {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
}

}  // namespace

#define RAILYARD_EXPORT extern "C" [[gnu::visibility("default")]]

RAILYARD_EXPORT int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return next_open.get()(behind(path), flags, mode);
}
RAILYARD_EXPORT int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return next_open64.get()(behind(path), flags, mode);
}
RAILYARD_EXPORT int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return next_openat.get()(folder, behind(path), flags, mode);
}
RAILYARD_EXPORT int openat64(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return next_openat64.get()(folder, behind(path), flags, mode);
}
RAILYARD_EXPORT int stat(const char* path, struct stat* out) noexcept { return next_stat.get()(behind(path), out); }
RAILYARD_EXPORT int stat64(const char* path, struct stat64* out) noexcept {
  return next_stat64.get()(behind(path), reinterpret_cast<struct stat*>(out));
}
RAILYARD_EXPORT int access(const char* path, int how) noexcept { return next_access.get()(behind(path), how); }
RAILYARD_EXPORT int socket(int domain, int type, int protocol) noexcept {
  if (domain == AF_NETLINK && protocol == NETLINK_RDMA) {
    errno = EPROTONOSUPPORT;
    return -1;
  }
  return next_socket.get()(domain, type, protocol);
}
