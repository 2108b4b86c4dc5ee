// How libibverbs meets this provider: it is loaded by name (RDMAV_DRIVERS, IBV_DRIVERS), says which devices are its
// own, and opens them.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include "transports/verbs/objects.h"

namespace railyard::verbs {
namespace {

constexpr char kPrefix[] = "railyard";

// For people, on standard error: libibverbs has no way to pass on more than errno. Once: libraries such as libfabric try
// again and again.
void complain(const std::string& device, const std::string& why) noexcept {
  static std::mutex mutex;
  static char said[512];
  char line[sizeof said];
  std::snprintf(line, sizeof line, "railyard: cannot open %s: %s\n", device.c_str(), why.c_str());
  const std::lock_guard lock(mutex);
  if (std::strcmp(line, said) == 0) return;
  std::strcpy(said, line);
  std::fputs(line, stderr);
}

bool is_ours(abi::SysfsDevice* device) { return std::strncmp(device->ibdev_name, kPrefix, sizeof kPrefix - 1) == 0; }

abi::Device* alloc_device(abi::SysfsDevice*) { return new abi::Device{}; }
void uninit_device(abi::Device* device) { delete device; }

// The first line of a file of the device's folder; empty: there is none.
std::string line_of(const ibv_device& device, const std::string& file) {
  std::ifstream in(std::string(device.ibdev_path) + "/" + file);
  std::string line;
  std::getline(in, line);
  return line;
}

// ---- Contexts ------------------------------------------------------------------------------------------------------

void free_context(ibv_context* ibv) {
  auto* const verbs =
      reinterpret_cast<verbs_context*>(reinterpret_cast<std::byte*>(ibv) - offsetof(verbs_context, context));
  auto* const context = reinterpret_cast<Context*>(reinterpret_cast<std::byte*>(verbs) - offsetof(Context, verbs));
  delete context->state;
  abi::verbs_uninit_context(verbs);
  std::free(context);
}

constexpr abi::ContextOps operations() {
  abi::ContextOps o{};
  o.alloc_mw = alloc_mw;
  o.alloc_pd = alloc_pd;
  o.async_event = async_event;
  o.bind_mw = bind_mw;
  o.cq_event = cq_event;
  o.create_ah = create_ah;
  o.create_cq = create_cq;
  o.create_cq_ex = create_cq_ex;
  o.create_qp = create_qp;
  o.create_qp_ex = create_qp_ex;
  o.create_srq = create_srq;
  o.dealloc_mw = dealloc_mw;
  o.dealloc_pd = dealloc_pd;
  o.dereg_mr = dereg_mr;
  o.destroy_ah = destroy_ah;
  o.destroy_cq = destroy_cq;
  o.destroy_qp = destroy_qp;
  o.destroy_srq = destroy_srq;
  o.free_context = free_context;
  o.modify_qp = modify_qp;
  o.modify_srq = modify_srq;
  o.poll_cq = poll_cq;
  o.post_recv = post_recv;
  o.post_send = post_send;
  o.post_srq_recv = post_srq_recv;
  o.query_device_ex = query_device_ex;
  o.query_port = query_port;
  o.query_qp = query_qp;
  o.query_srq = query_srq;
  o.reg_mr = reg_mr;
  o.req_notify_cq = req_notify_cq;
  o.rereg_mr = rereg_mr;
  o.resize_cq = resize_cq;
  return o;
}
constexpr abi::ContextOps kOperations = operations();

std::unique_ptr<State> open_state(const ibv_device& device) {
  const std::string socket = line_of(device, "railyard/socket");
  const std::string host = line_of(device, "railyard/host");
  const std::string nic = line_of(device, "railyard/nic");
  if (socket.empty() || host.empty() || nic.empty()) {
    complain(device.name, std::string("its folder ") + device.ibdev_path +
                              " is not that of a lab; expected one that "
                              "`railyard up` has made (SYSFS_PATH)");
    errno = ENODEV;
    return nullptr;
  }
  auto connection = application::Connection::open(socket, host, static_cast<std::uint32_t>(std::stoul(nic)));
  if (connection && (*connection)->settings().size() != sizeof(NicSettings))
    connection = std::unexpected(application::OpenError{EPROTO, "the lab is of another version of Railyard"});
  if (!connection) {
    complain(device.name, connection.error().why);
    errno = connection.error().error;
    return nullptr;
  }
  auto state = std::make_unique<State>();
  const application::NicGrant grant = (*connection)->nic();
  for (const wire::IpAddress& a : {grant.address_v4, grant.address_v6})
    if (a != wire::IpAddress{}) state->gids.push_back(a);
  state->nic = std::make_unique<Nic>(std::move(*connection), *state);
  return state;
}

verbs_context* alloc_context(ibv_device* device, int cmd_fd, void*) try {
  // libibverbs' commands to a kernel must fail: of a descriptor that cannot be written they do, and it then looks for
  // GIDs in sysfs.
  if (cmd_fd >= 0) ::close(cmd_fd);
  auto state = open_state(*device);
  if (state == nullptr) return nullptr;
  const int refusing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  auto* const context = static_cast<Context*>(abi::_verbs_init_and_alloc_context(
      device, refusing, sizeof(Context), reinterpret_cast<verbs_context*>(offsetof(Context, verbs)), 0));
  if (context == nullptr) {
    if (refusing >= 0) ::close(refusing);
    return nullptr;
  }
  context->verbs.context.async_fd = make_event_pipe();
  context->verbs.context.num_comp_vectors = 1;
  state->ibv = &context->verbs.context;
  abi::verbs_set_ops(&context->verbs, &kOperations);
  context->state = state.release();
  return &context->verbs;
} catch (const std::exception& error) {  // no memory; a number that is none
  complain(device->name, error.what());
  errno = ENOMEM;
  return nullptr;
}

constexpr abi::DeviceOps kDeviceOps{.name = "railyard",
                                    .match_min_abi_version = 0,
                                    .match_max_abi_version = 0xFFFF,
                                    .match_table = nullptr,
                                    .static_providers = nullptr,
                                    .match_device = is_ours,
                                    .alloc_context = alloc_context,
                                    .import_context = nullptr,
                                    .alloc_device = alloc_device,
                                    .uninit_device = uninit_device};

// Each libibverbs of the process has its own list of providers, and this one is in one of them: the one that the linker has
// bound it to. A program that asks another one finds no device, and would not learn why.
void look_for_second_library() {
  std::vector<std::string> paths;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* all) {
        const std::string path = object->dlpi_name != nullptr ? object->dlpi_name : "";
        if (path.substr(path.rfind('/') + 1).starts_with("libibverbs.so"))
          static_cast<std::vector<std::string>*>(all)->push_back(path);
        return 0;
      },
      &paths);
  Dl_info ours{};
  if (paths.size() < 2 || ::dladdr(reinterpret_cast<void*>(&abi::verbs_register_driver_34), &ours) == 0) return;
  std::fprintf(stderr, "railyard: this program has loaded %zu libibverbs; only %s has the railyard devices\n", paths.size(),
               ours.dli_fname);
}

[[gnu::constructor]] void on_load() try {
  look_for_second_library();
  if (!take_over_channels())
    std::fprintf(stderr, "railyard: this system does not let code be changed; ibv_create_comp_channel() will fail\n");
  abi::verbs_register_driver_34(&kDeviceOps);
} catch (const std::bad_alloc&) {  // no memory: no devices
}

}  // namespace
}  // namespace railyard::verbs

// verbs::ManagementOf, for librailyard-rdmacm.so.
extern "C" [[gnu::visibility("default")]] railyard::verbs::Management* railyard_management_of(
    ibv_context* context, std::uint32_t version) try {
  using namespace railyard::verbs;
  if (version != kManagementVersion || std::strncmp(context->device->name, kPrefix, sizeof kPrefix - 1) != 0)
    return nullptr;
  return &management_of(state_of(context));
} catch (const std::exception&) {  // no memory
  return nullptr;
}
