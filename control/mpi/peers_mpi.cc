// Processes that mpirun has started, over MPI.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
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

// An exchange is one message to each other process that takes part. A message that fills the room that there is for it at
// the other end is followed by one that says how long all of it is, and by the rest in pieces; next time there is more
// room. Most windows need the first message only.
class MpiPeers final : public Peers {
 public:
  MpiPeers(int rank, int size)
      : Peers(static_cast<std::size_t>(rank), static_cast<std::size_t>(size)),
        ways_(count()),
        given_(count()),
        blocks_(count() * kBlock),
        shared_(count()) {}
  ~MpiPeers() override { MPI_Finalize(); }

  void start_exchange(const PeerOctets& out, const std::vector<std::uint16_t>& with) override {
    with_ = with;
    for (const std::uint16_t p : with) {
      Way& way = ways_[p];
      if (way.in.size() > kMostRoom) way.in = {};
      way.in.resize(std::max(way.in.size(), way.room_in));
      receive(way.in.data(), way.room_in, p);
    }
    for (const std::uint16_t p : with) {
      Way& way = ways_[p];
      const std::size_t first = std::min(out[p].size(), way.room_out);
      send(out[p].data(), first, p);
      if (first < way.room_out) continue;
      way.length_out = out[p].size();
      send(&way.length_out, sizeof way.length_out, p);
      in_pieces(first, way.length_out, [&](std::size_t at, std::size_t n) { send(out[p].data() + at, n, p); });
      way.room_out = room_for(way.length_out);
    }
  }

  const PeerOctets& finish_exchange() override {
    std::ranges::fill(given_, std::span<const std::byte>{});
    statuses_.resize(with_.size());
    wait(receives_, statuses_.data());
    for (std::size_t i = 0; i < with_.size(); ++i) {
      int octets = 0;
      check(MPI_Get_count(&statuses_[i], MPI_BYTE, &octets), "MPI");
      Way& way = ways_[with_[i]];
      way.length_in = static_cast<std::uint64_t>(octets);
      way.fills_room = way.length_in == way.room_in;
      if (way.fills_room) receive(&way.length_in, sizeof way.length_in, with_[i]);
    }
    wait(receives_);
    for (const std::uint16_t p : with_) {
      Way& way = ways_[p];
      if (way.fills_room) {
        way.in.resize(std::max<std::size_t>(way.in.size(), way.length_in));
        in_pieces(way.room_in, way.length_in, [&](std::size_t at, std::size_t n) { receive(way.in.data() + at, n, p); });
        way.room_in = room_for(way.length_in);
      }
      given_[p] = std::span(way.in).first(way.length_in);
    }
    wait(receives_);
    wait(sends_);
    return given_;
  }

  const PeerOctets& share(std::span<const std::byte> mine) override {
    std::array<std::byte, kBlock> block{};
    const std::uint64_t length = mine.size();
    const bool fits = sizeof length + length <= kBlock;
    std::memcpy(block.data(), &length, sizeof length);
    if (fits && length > 0) std::memcpy(block.data() + sizeof length, mine.data(), length);
    {
      const Waiting waiting(*this);
      check(MPI_Allgather(block.data(), kBlock, MPI_BYTE, blocks_.data(), kBlock, MPI_BYTE, MPI_COMM_WORLD), "MPI");
    }
    bool all_fit = true;
    for (std::size_t p = 0; p < count(); ++p) {
      const std::span<const std::byte> its = std::span(blocks_).subspan(p * kBlock, kBlock);
      std::uint64_t octets;
      std::memcpy(&octets, its.data(), sizeof octets);
      all_fit = all_fit && sizeof octets + octets <= kBlock;
      if (all_fit) shared_[p] = its.subspan(sizeof octets, octets);
    }
    if (all_fit) return shared_;
    shared_ = give_all(mine);
    shared_[self()] = mine;
    return shared_;
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
  static constexpr std::size_t kLeastRoom = 16 << 10;
  static constexpr std::size_t kMostRoom = 1 << 20;
  static constexpr std::size_t kPiece = std::size_t{256} << 20;  // lengths are int
  static constexpr std::size_t kBlock = 256;                     // of share(), with its length
  static constexpr int kTag = 1;

  // From and to one other process. Both ends know how much room there is at each.
  struct Way {
    std::size_t room_in = kLeastRoom;
    std::size_t room_out = kLeastRoom;
    Octets in;
    std::uint64_t length_in = 0;
    std::uint64_t length_out = 0;
    bool fills_room = false;  // what has come first
  };

  class Waiting {
   public:
    explicit Waiting(MpiPeers& peers) : peers_(peers) {}
    ~Waiting() { peers_.waited_ += std::chrono::steady_clock::now() - began_; }

   private:
    MpiPeers& peers_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  };

  static std::size_t room_for(std::uint64_t length) noexcept {
    return std::clamp<std::size_t>(std::bit_ceil(length + 1), kLeastRoom, kMostRoom);
  }
  template <class Move>
  static void in_pieces(std::size_t from, std::size_t to, Move move) {
    for (std::size_t at = from; at < to; at += kPiece) move(at, std::min(kPiece, to - at));
  }
  void receive(void* to, std::size_t n, std::size_t process) {
    check(MPI_Irecv(to, static_cast<int>(n), MPI_BYTE, static_cast<int>(process), kTag, MPI_COMM_WORLD,
                    &receives_.emplace_back()),
          "MPI");
  }
  void send(const void* from, std::size_t n, std::size_t process) {
    check(MPI_Isend(from, static_cast<int>(n), MPI_BYTE, static_cast<int>(process), kTag, MPI_COMM_WORLD,
                    &sends_.emplace_back()),
          "MPI");
  }
  void wait(std::vector<MPI_Request>& requests, MPI_Status* statuses = MPI_STATUSES_IGNORE) {
    if (requests.empty()) return;
    const Waiting waiting(*this);
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), statuses), "MPI");
    requests.clear();
  }

  std::vector<Way> ways_;  // by process
  std::vector<std::uint16_t> with_;
  std::vector<MPI_Request> receives_;
  std::vector<MPI_Request> sends_;
  std::vector<MPI_Status> statuses_;
  PeerOctets given_;
  Octets blocks_;
  PeerOctets shared_;
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
