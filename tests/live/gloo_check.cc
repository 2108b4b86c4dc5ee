// Gloo, the collective library of PyTorch, over its ibverbs transport: all-reduce by each of its algorithms that use
// RDMA buffers, broadcast and barrier; every element is checked.
//
// usage: gloo_check RANK RANKS FOLDER MOST-BYTES
// The ranks find each other by files in FOLDER, which is empty at first. Rank 0 prints a line per size. Ends with a status
// other than 0 when anything is wrong.
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier_all_to_all.h>
#include <gloo/broadcast_one_to_all.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/ibverbs/device.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Context = std::shared_ptr<gloo::Context>;

int rank, ranks;

// Gloo aborts when a buffer is destroyed whose send has not completed, and its algorithms do not wait for that. What is
// made here lives until the process ends.
template <class T, class... Arguments>
T& kept(Arguments&&... arguments) {
  return *new T(std::forward<Arguments>(arguments)...);
}

void expect(bool right, const char* what, std::size_t at) {
  if (!right) throw std::runtime_error(std::string(what) + ": wrong from element " + std::to_string(at) + " on");
}

// Microseconds of the second round; both are checked.
template <class Algorithm>
double all_reduce(const Context& context, std::size_t elements, const char* name) {
  auto& data = kept<std::vector<std::int64_t>>(elements);
  auto& algorithm = kept<Algorithm>(context, std::vector<std::int64_t*>{data.data()}, static_cast<int>(elements));
  double us = 0;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < elements; ++i) data[i] = static_cast<std::int64_t>(i) * (rank + 1) + round;
    const auto began = Clock::now();
    algorithm.run();
    us = std::chrono::duration<double, std::micro>(Clock::now() - began).count();
    for (std::size_t i = 0; i < elements; ++i)
      expect(data[i] == static_cast<std::int64_t>(i) * ranks * (ranks + 1) / 2 + round * ranks, name, i);
    kept<gloo::BarrierAllToAll>(context).run();
  }
  return us;
}

void broadcast(const Context& context, std::size_t elements) {
  const int root = ranks - 1;
  auto& data = kept<std::vector<std::int64_t>>(elements, rank);
  if (rank == root)
    for (std::size_t i = 0; i < elements; ++i) data[i] = static_cast<std::int64_t>(i) * 3 + 1;
  kept<gloo::BroadcastOneToAll<std::int64_t>>(context, std::vector<std::int64_t*>{data.data()}, static_cast<int>(elements), root)
      .run();
  for (std::size_t i = 0; i < elements; ++i) expect(data[i] == static_cast<std::int64_t>(i) * 3 + 1, "broadcast", i);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 5) throw std::runtime_error("expected RANK RANKS FOLDER MOST-BYTES");
  rank = std::atoi(argv[1]);
  ranks = std::atoi(argv[2]);
  const std::size_t most = std::strtoull(argv[4], nullptr, 10);
  auto device = gloo::transport::ibverbs::CreateDevice({"railyard0", 1, 0});
  gloo::rendezvous::FileStore store(argv[3]);
  auto& context = kept<std::shared_ptr<gloo::rendezvous::Context>>(new gloo::rendezvous::Context(rank, ranks));
  context->connectFullMesh(store, device);
  for (std::size_t bytes = 1024; bytes <= most; bytes *= 16) {
    const std::size_t n = bytes / sizeof(std::int64_t);
    const double ring = all_reduce<gloo::AllreduceRing<std::int64_t>>(context, n, "all-reduce, ring");
    const double chunked = all_reduce<gloo::AllreduceRingChunked<std::int64_t>>(context, n, "all-reduce, chunked ring");
    const double halving =
        all_reduce<gloo::AllreduceHalvingDoubling<std::int64_t>>(context, n, "all-reduce, halving and doubling");
    broadcast(context, n);
    if (rank == 0)
      std::printf("%zu bytes, %d ranks: all-reduce by ring %.0f us, chunked ring %.0f us, halving and doubling %.0f us\n",
                  bytes, ranks, ring, chunked, halving);
  }
  // Nobody ends before the last messages of all have arrived.
  store.set("done" + std::to_string(rank), {'1'});
  std::vector<std::string> all;
  for (int i = 0; i < ranks; ++i) all.push_back("done" + std::to_string(i));
  store.wait(all);
  std::fflush(stdout);
  std::_Exit(0);
} catch (const std::exception& error) {
  std::fprintf(stderr, "gloo_check: rank %d: %s\n", rank, error.what());
  return 1;
}
