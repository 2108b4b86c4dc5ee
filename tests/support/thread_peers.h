// Processes of one run (dataplane/run/peers.h) as threads of a test.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "dataplane/run/peers.h"

namespace railyard {

class ThreadPeers final : public Peers {
 public:
  // What they share.
  struct Room {
    explicit Room(std::size_t count) : mail(count, std::vector<std::vector<std::byte>>(count)), said(count) {}
    void meet() {
      std::unique_lock lock(mutex);
      const std::uint64_t meeting = meetings;
      if (++here == said.size()) {
        here = 0;
        ++meetings;
        all_here.notify_all();
      } else {
        all_here.wait(lock, [&] { return meetings != meeting; });
      }
    }
    std::mutex mutex;
    std::condition_variable all_here;
    std::size_t here = 0;
    std::uint64_t meetings = 0;
    std::vector<std::vector<std::vector<std::byte>>> mail;  // by sender and receiver
    std::vector<std::int64_t> said;
  };

  ThreadPeers(std::size_t self, std::size_t count, Room& room) : Peers(self, count), room_(room) {}

  std::vector<std::vector<std::byte>> exchange(std::vector<std::vector<std::byte>> out) override {
    room_.mail[self()] = std::move(out);
    room_.meet();
    std::vector<std::vector<std::byte>> in(count());
    for (std::size_t p = 0; p < count(); ++p)
      if (p != self()) in[p] = std::move(room_.mail[p][self()]);
    room_.meet();
    return in;
  }
  std::int64_t least(std::int64_t mine) override {
    room_.said[self()] = mine;
    room_.meet();
    std::int64_t all = mine;
    for (const std::int64_t said : room_.said) all = said < all ? said : all;
    room_.meet();
    return all;
  }
  void abort(int) override { throw std::runtime_error("aborted"); }

 private:
  Room& room_;
};

// Has each of `count` of them do `work`, which must not throw; returns when all are done.
inline void as_threads(std::size_t count, const std::function<void(Peers&)>& work) {
  ThreadPeers::Room room(count);
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < count; ++p)
    threads.emplace_back([&, p] {
      ThreadPeers peers(p, count, room);
      work(peers);
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace railyard
