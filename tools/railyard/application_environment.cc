#include "tools/railyard/application_environment.h"

#include <cstdlib>
#include <stdexcept>

#include <fmt/format.h>

#include "control/daemon/verbs_tree.h"

namespace railyard::tools {
namespace {

namespace fs = std::filesystem;

// Beside this program's folder, in the build tree as where it is installed.
fs::path provider() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path folder = self.parent_path().parent_path() / "lib/railyard";
  if (error || !fs::exists(folder / "librailyard-rdmav34.so"))
    throw std::runtime_error(
        fmt::format("{}/librailyard-rdmav34.so is missing: it is built only with libibverbs (Debian: libibverbs-dev)",
                    folder.string()));
  return folder / "librailyard";  // libibverbs appends the rest
}

// What stands before librdmacm, and the libraries that the user wants loaded behind it. Empty: it was not built (Debian:
// librdmacm-dev); programs then have no rdma_cm.
std::string preloaded() {
  const std::string library = provider().parent_path() / "librailyard-rdmacm.so";
  if (!fs::exists(library)) return {};
  const char* const before = std::getenv("LD_PRELOAD");
  if (before == nullptr || *before == '\0') return library;
  const std::string users = before;
  return users.find(library) != std::string::npos ? users : library + ":" + users;
}

// Where libfabric looks for providers: ours first, then where it would look without this variable.
std::string fabric_providers(const fs::path& ours) {
  constexpr const char* kVariable = "FI_PROVIDER_PATH";
  constexpr const char* kDefault = "/usr/lib/x86_64-linux-gnu/libfabric";
  const char* const said = std::getenv(kVariable);
  const std::string others = said != nullptr && *said != '\0' ? said : kDefault;
  return others.starts_with(ours.string()) ? others : ours.string() + ":" + others;
}

// With the RDMA core in the kernel, libibverbs lists the kernel's devices and nothing else.
void check_kernel() {
  if (fs::exists("/sys/class/infiniband_verbs"))
    throw std::runtime_error(
        "this machine's kernel has RDMA devices (/sys/class/infiniband_verbs), and libibverbs then looks for no "
        "others; "
        "unload the kernel's RDMA modules (rmmod ib_uverbs), or run in a container or machine without them");
}

std::vector<std::string> devices_in(const fs::path& tree) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(tree / "class/infiniband", error))
    names.push_back(entry.path().filename());
  if (names.empty())
    throw std::runtime_error(fmt::format("{} has no devices; expected what `railyard up` has written", tree.string()));
  return names;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> application_environment(const fs::path& tree) {
  check_kernel();
  daemon::make_device_nodes(devices_in(tree));
  const fs::path verbs = provider();
  std::vector<std::pair<std::string, std::string>> variables{
      {"SYSFS_PATH", tree.string()},
      {"IBV_DRIVERS", verbs.string()},
      {"RDMAV_DRIVERS", verbs.string()},
      {"FI_PROVIDER_PATH", fabric_providers(verbs.parent_path())}};
  if (const std::string libraries = preloaded(); !libraries.empty()) variables.push_back({"LD_PRELOAD", libraries});
  return variables;
}

}  // namespace railyard::tools
