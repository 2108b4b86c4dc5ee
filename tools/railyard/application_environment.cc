#include "tools/railyard/application_environment.h"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "control/daemon/device_nodes.h"

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

// What stands before librdmacm and, if wanted, before calls of the C library, and the libraries that the user wants loaded
// behind it. Without librailyard-rdmacm.so (Debian: librdmacm-dev) programs have no rdma_cm.
std::string preloaded(DeviceNodes nodes) {
  const char* const before = std::getenv("LD_PRELOAD");
  std::string all = before != nullptr ? before : "";
  std::vector<const char*> ours{"librailyard-rdmacm.so"};
  if (nodes == DeviceNodes::kPreload) ours.push_back("librailyard-nodes.so");
  for (const char* const name : ours) {
    const std::string library = provider().parent_path() / name;
    if (fs::exists(library) && all.find(library) == std::string::npos)
      all = all.empty() ? library : library + ":" + all;
  }
  return all;
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
        "others; hide them from the program (--preload), or unload the kernel's RDMA modules (rmmod ib_uverbs)");
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

std::vector<std::pair<std::string, std::string>> application_environment(const fs::path& tree, DeviceNodes nodes) {
  const std::vector<std::string> devices = devices_in(tree);
  if (nodes == DeviceNodes::kMade) {
    check_kernel();
    try {
      daemon::make_device_nodes(devices);
    } catch (const std::runtime_error&) {  // no rights
      nodes = DeviceNodes::kPreload;
    }
  }
  const fs::path verbs = provider();
  std::vector<std::pair<std::string, std::string>> variables{
      {"SYSFS_PATH", tree.string()},
      {"IBV_DRIVERS", verbs.string()},
      {"RDMAV_DRIVERS", verbs.string()},
      {"FI_PROVIDER_PATH", fabric_providers(verbs.parent_path())}};
  if (const std::string libraries = preloaded(nodes); !libraries.empty()) variables.push_back({"LD_PRELOAD", libraries});
  return variables;
}

std::optional<std::string> why_not_for(const std::string& command) {
  std::string file = command;
  if (command.find('/') == std::string::npos) {
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
      file = (folder.empty() ? "." : folder) + "/" + command;
      if (::access(file.c_str(), X_OK) == 0) break;
    }
  }
  struct stat s {};
  if (::stat(file.c_str(), &s) != 0) return std::nullopt;
  const bool other_user = (s.st_mode & S_ISUID) != 0 && s.st_uid != ::geteuid();
  const bool other_group = (s.st_mode & S_ISGID) != 0 && s.st_gid != ::getegid();
  const bool more_rights = ::geteuid() != 0 && ::getxattr(file.c_str(), "security.capability", nullptr, 0) > 0;
  if (!other_user && !other_group && !more_rights) return std::nullopt;
  return fmt::format("{} has rights of its own ({}), so libibverbs and the linker ignore the environment and it will find "
                     "no device; run a copy without them",
                     file, other_user ? "setuid" : other_group ? "setgid" : "capabilities");
}

}  // namespace railyard::tools
