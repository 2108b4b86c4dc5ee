// The shared memory and the doorbells of a process behind a NIC.
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dataplane/base/assert.h"
#include "dataplane/port/application_port.h"

namespace railyard {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(fmt::format("cannot make {} for an application: {}", what, std::strerror(errno)));
}

// Sealed, because a file that shrinks while it is mapped kills whoever reads it (SIGBUS).
FileDescriptor make_memory(std::size_t octets) {
  FileDescriptor memory(::memfd_create("railyard-rings", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory || ::ftruncate(memory.get(), static_cast<off_t>(octets)) != 0 ||
      ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    fail("shared memory");
  return memory;
}

FileDescriptor make_doorbell() {
  FileDescriptor doorbell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!doorbell) fail("a doorbell");
  return doorbell;
}

}  // namespace

ApplicationProcess::ApplicationProcess(const FrameRingPairGeometry& rings, std::uint32_t first_qpn)
    : rings_(rings),
      first_qpn_(first_qpn),
      memory_(make_memory(rings.octets())),
      fabric_doorbell_(make_doorbell()),
      host_doorbell_(make_doorbell()) {
  RAILYARD_ASSERT(rings.valid() && first_qpn % kQpnsPerProcess == 0, "rings and QP numbers are the daemon's choice");
  void* const mapped = ::mmap(nullptr, rings.octets(), PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0);
  if (mapped == MAP_FAILED) fail("shared memory");
  mapped_ = static_cast<std::byte*>(mapped);
  from_host_.emplace(rings_.rings_to_fabric(mapped_), rings_.to_fabric);
  to_host_.emplace(rings_.ring_to_host(mapped_), rings_.to_host);
}

ApplicationProcess::ApplicationProcess(const FrameRingPairGeometry& rings, const UetNumbers& uet)
    : ApplicationProcess(rings, 0) {
  uet_ = uet;
}

ApplicationProcess::~ApplicationProcess() { ::munmap(mapped_, rings_.octets()); }

void ApplicationProcess::ring_host() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(::write(host_doorbell_.get(), &one, sizeof one));
}

void ApplicationProcess::set_link(bool up) noexcept {
  FrameRingPairGeometry::state(mapped_).link_up.store(up ? 1 : 0, std::memory_order_release);
  ring_host();
}

}  // namespace railyard
