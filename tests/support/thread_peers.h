// Processes of one run (dataplane/run/peers.h) as threads of a test.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "dataplane/run/peers.h"

namespace railyard {

class ThreadPeers final : public Peers {
 public:
  using Octets = std::vector<std::byte>;

  // What they share.
  struct Room {
    explicit Room(std::size_t count) : mail(count, std::vector<std::optional<Octets>>(count)), shared(count), said(count) {}
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
    std::vector<std::vector<std::optional<Octets>>> mail;  // by sender and receiver
    std::vector<Octets> shared;
    std::atomic<std::uint64_t> messages{0};  // from one process to another
    std::vector<std::int64_t> said;
  };

  ThreadPeers(std::size_t self, std::size_t count, Room& room) : Peers(self, count), room_(room) {}

  void start_exchange(const PeerOctets& out, const std::vector<std::uint16_t>& with) override {
    with_ = with;
    for (const std::uint16_t p : with) room_.mail[self()][p].emplace(out[p].begin(), out[p].end());
    if (at_start) at_start();
  }
  const PeerOctets& finish_exchange() override {
    room_.meet();
    in_.assign(count(), {});
    given_.assign(count(), {});
    for (const std::uint16_t p : with_) {
      in_[p] = std::exchange(room_.mail[p][self()], std::nullopt).value();  // who is not among those of p gets nothing
      given_[p] = in_[p];
      ++room_.messages;
    }
    room_.meet();
    return given_;
  }
  const PeerOctets& share(std::span<const std::byte> mine) override {
    room_.shared[self()].assign(mine.begin(), mine.end());
    room_.meet();
    shared_ = room_.shared;
    room_.meet();
    shared_octets_.assign(shared_.begin(), shared_.end());
    return shared_octets_;
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

  std::function<void()> at_start;  // called when an exchange has been started

 private:
  Room& room_;
  std::vector<std::uint16_t> with_;
  std::vector<Octets> in_;
  PeerOctets given_;
  std::vector<Octets> shared_;
  PeerOctets shared_octets_;
};

// Has each of `count` of them do `work`, which must not throw; returns how many messages they have sent each other when
// all are done.
inline std::uint64_t as_threads(std::size_t count, const std::function<void(ThreadPeers&)>& work) {
  ThreadPeers::Room room(count);
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < count; ++p)
    threads.emplace_back([&, p] {
      ThreadPeers peers(p, count, room);
      work(peers);
    });
  for (std::thread& t : threads) t.join();
  return room.messages;
}

}  // namespace railyard
