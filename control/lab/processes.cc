#include "control/lab/processes.h"

#include <cstdlib>
#include <filesystem>
#include <initializer_list>

#include <dlfcn.h>
#include <fmt/format.h>

#include "dataplane/base/state_archive.h"

namespace railyard::lab {
namespace {

namespace fs = std::filesystem;

// How many processes a launcher says there are: Open MPI's mpirun; Hydra and Slurm with PMI.
long started_together() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* const size = std::getenv(name)) return std::atol(size);
  return 1;
}

// Beside this program's folder, in the build tree as where it is installed.
fs::path plugin() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() / "lib/railyard/librailyard-mpi.so";
}

}  // namespace

std::unique_ptr<Peers> join_processes() {
  if (started_together() <= 1) return nullptr;
  const fs::path file = plugin();
  const auto refuse = [](const std::string& why) {
    throw std::runtime_error(fmt::format("mpirun has started several processes, but {}", why));
  };
  if (!fs::exists(file))
    refuse(fmt::format("{} is missing: it is built only with MPI (Debian: libopenmpi-dev)", file.string()));
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) refuse(fmt::format("the plug-in for MPI cannot be loaded: {}", dlerror()));
  using Join = Peers* (*)(const char**);
  const auto join = reinterpret_cast<Join>(dlsym(library, "railyard_mpi_join"));
  if (join == nullptr) refuse(fmt::format("{} is not of this version", file.string()));
  const char* error = "";
  std::unique_ptr<Peers> peers(join(&error));
  if (peers == nullptr) refuse(error);
  return peers;
}

void meet(Peers& peers, std::exception_ptr error, const std::string& same, const std::string& what) {
  bool failed = error != nullptr;
  std::string mine = same;
  StateArchive archive;
  archive(failed, mine);
  const auto given = peers.give_all(archive.take());
  std::size_t first_failed = failed ? peers.self() : peers.count();
  std::size_t first_other = peers.count();
  std::string others;
  for (std::size_t p = 0; p < given.size(); ++p) {
    if (p == peers.self()) continue;
    StateArchive in{std::span(given[p])};
    std::string its;
    in(failed, its);
    if (failed) first_failed = std::min(first_failed, p);
    if (its == same || first_other < peers.count()) continue;
    first_other = p;
    others = its;
  }
  if (first_failed == peers.self()) std::rethrow_exception(error);
  if (first_failed < peers.count()) throw SaidElsewhere();
  if (!peers.any(first_other < peers.count())) return;
  if (peers.self() != 0) throw SaidElsewhere();
  throw std::invalid_argument(fmt::format("process {} has another {} than process 0: {}, {}; expected the same", first_other, what, others, same));
}

}  // namespace railyard::lab
