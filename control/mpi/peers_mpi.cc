// Processes that mpirun has started, over MPI.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "dataplane/run/peers.h"

namespace railyard {
namespace {

using Octets = std::vector<std::byte>;

void check(int result, const char* what) {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(result, text, &length);
  throw std::runtime_error(std::string(what) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

// Each exchange is one message to each other process, which says how long all of it is and has its beginning; what does
// not fit into that follows in pieces. Most windows need the first message only.
class MpiPeers final : public Peers {
 public:
  MpiPeers(int rank, int size)
      : Peers(static_cast<std::size_t>(rank), static_cast<std::size_t>(size)),
        sends_(static_cast<std::size_t>(size), Octets(kFirst)),
        receives_(static_cast<std::size_t>(size), Octets(kFirst)) {}
  ~MpiPeers() override { MPI_Finalize(); }

  std::vector<Octets> exchange(std::vector<Octets> out) override {
    std::vector<Octets> in(count());
    std::vector<MPI_Request> requests;
    const auto add = [&](auto start) { check(start(&requests.emplace_back()), "MPI"); };
    for (std::size_t p = 0; p < count(); ++p) {
      if (p == self()) continue;
      add([&](MPI_Request* r) {
        return MPI_Irecv(receives_[p].data(), kFirst, MPI_BYTE, static_cast<int>(p), kTag, MPI_COMM_WORLD, r);
      });
    }
    for (std::size_t p = 0; p < count(); ++p) {
      if (p == self()) continue;
      const std::uint64_t length = out[p].size();
      const std::size_t first = std::min(out[p].size(), kFirst - sizeof length);
      std::memcpy(sends_[p].data(), &length, sizeof length);
      if (first > 0) std::memcpy(sends_[p].data() + sizeof length, out[p].data(), first);
      add([&](MPI_Request* r) {
        return MPI_Isend(sends_[p].data(), static_cast<int>(first + sizeof length), MPI_BYTE, static_cast<int>(p), kTag,
                         MPI_COMM_WORLD, r);
      });
    }
    wait(requests);
    for (std::size_t p = 0; p < count(); ++p) {
      if (p == self()) continue;
      std::uint64_t length;
      std::memcpy(&length, receives_[p].data(), sizeof length);
      in[p].resize(length);
      const std::size_t first = std::min<std::size_t>(length, kFirst - sizeof length);
      if (first > 0) std::memcpy(in[p].data(), receives_[p].data() + sizeof length, first);
      for (std::size_t at = first; at < length; at += kPiece)
        add([&](MPI_Request* r) {
          return MPI_Irecv(in[p].data() + at, static_cast<int>(std::min<std::size_t>(kPiece, length - at)), MPI_BYTE,
                           static_cast<int>(p), kTag, MPI_COMM_WORLD, r);
        });
      for (std::size_t at = std::min(out[p].size(), kFirst - sizeof length); at < out[p].size(); at += kPiece)
        add([&](MPI_Request* r) {
          return MPI_Isend(out[p].data() + at, static_cast<int>(std::min(kPiece, out[p].size() - at)), MPI_BYTE,
                           static_cast<int>(p), kTag, MPI_COMM_WORLD, r);
        });
    }
    wait(requests);
    return in;
  }

  std::int64_t least(std::int64_t mine) override {
    std::int64_t all = mine;
    const Waiting waiting(*this);
    check(MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD), "MPI");
    return all;
  }

  void abort(int exit_code) override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::abort();
  }
  double waited_seconds() const noexcept override { return std::chrono::duration<double>(waited_).count(); }

 private:
  static constexpr std::size_t kFirst = 16 << 10;
  static constexpr std::size_t kPiece = std::size_t{256} << 20;  // lengths are int
  static constexpr int kTag = 1;

  class Waiting {
   public:
    explicit Waiting(MpiPeers& peers) : peers_(peers) {}
    ~Waiting() { peers_.waited_ += std::chrono::steady_clock::now() - began_; }

   private:
    MpiPeers& peers_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  };

  void wait(std::vector<MPI_Request>& requests) {
    const Waiting waiting(*this);
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI");
    requests.clear();
  }

  std::vector<Octets> sends_;
  std::vector<Octets> receives_;
  std::chrono::steady_clock::duration waited_{};
};

}  // namespace

// Called by the program that has loaded this, once. nullptr: `error` says why not; it stays.
extern "C" [[gnu::visibility("default")]] Peers* railyard_mpi_join(const char** error) {
  static std::string why;
  try {
    check(MPI_Init(nullptr, nullptr), "MPI_Init");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > std::numeric_limits<std::uint16_t>::max()) throw std::runtime_error("more than 65535 processes");
    return new MpiPeers(rank, size);
  } catch (const std::exception& e) {
    why = e.what();
    *error = why.c_str();
    return nullptr;
  }
}

}  // namespace railyard
