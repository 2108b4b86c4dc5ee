// A lab without a fabric: it hands out rings as the daemon does, and a thread carries frames between those who have
// them, by destination QP; those for QP 1, and ports of rdma_cm, as the daemon does; those of UET by address.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "dataplane/base/class_rings.h"
#include "dataplane/base/file_descriptor.h"
#include "dataplane/base/frame_ring_pair.h"
#include "transports/application/handshake.h"
#include "transports/roce/cm/shared_gsi.h"

namespace railyard::verbs {

class FakeLab {
 public:
  FakeLab();
  ~FakeLab();
  FakeLab(const FakeLab&) = delete;
  FakeLab& operator=(const FakeLab&) = delete;

  const std::string& socket() const noexcept { return path_; }
  // From now on a frame is lost with a probability of 1/n, drawn from its number; 0: none. (Each n-th would be the same packet of
  // each retry, where a round of it has n frames.)
  void lose_one_in(unsigned n) noexcept { lose_ = n; }
  // Frames of this class stay in the rings of those who send them, until release().
  void hold(Priority priority) noexcept { held_ = bit(priority); }
  void release() noexcept { held_ = 0; }
  void set_link(bool up);
  // As if the daemon were killed.
  void end();
  // To be answered next: this error.
  void refuse_next(int error, std::string why);

 private:
  struct Member {
    FileDescriptor socket;
    std::byte* memory = nullptr;
    FileDescriptor doorbell;      // the member's
    FileDescriptor own_doorbell;  // never waited for: this lab spins
    std::unique_ptr<ClassRingsConsumer> from;
    std::unique_ptr<FrameRingProducer> to;
    std::uint32_t first_qpn = 0;
    roce::cm::SharedGsi::Owner number = 0;
    std::unique_ptr<roce::cm::SharedGsi> gsi;
    wire::IpAddress address{};
    application::Transport transport = application::Transport::kRoce;
  };
  void run();
  void admit();
  bool carry(Member& from);
  bool carry(Member& from, FrameRingConsumer& ring);
  void serve(Member& member);
  static bool put(Member& to, std::span<const std::byte> frame, std::uint32_t flags);

  std::string folder_;
  std::string path_;
  FileDescriptor listening_;
  std::mutex mutex_;
  std::deque<Member> members_;
  std::atomic<unsigned> lose_ = 0;
  std::atomic<PriorityMask> held_ = 0;
  unsigned carried_ = 0;
  int refuse_ = 0;
  std::string why_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace railyard::verbs
