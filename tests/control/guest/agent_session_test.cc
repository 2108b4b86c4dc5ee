// Sessions with the agent's own program over UNIX sockets, as QEMU offers them.
#include "control/guest/agent_session.h"

#include <csignal>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/guest/guest_error.h"
#include "control/guest/guest_files.h"
#include "control/guest/run_command.h"
#include "tests/control/guest/agent_process.h"

namespace railyard::guest {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A bare connection to a port: a client that may misbehave.
class BareClient {
 public:
  explicit BareClient(const std::filesystem::path& socket_path) : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  void send(const std::string& text) {
    EXPECT_EQ(::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  // Reads until `text` has come by; what is behind it remains for the next call.
  void await(const std::string& text) {
    char piece[4096];
    ssize_t n = 0;
    while (!seen_.contains(text) && (n = read(fd_.get(), piece, sizeof piece)) > 0)
      seen_.append(piece, static_cast<std::size_t>(n));
    ASSERT_THAT(seen_, HasSubstr(text));
    seen_.erase(0, seen_.find(text) + text.size());
  }
  // Nothing more is sent; the agent closes when it has understood that.
  void await_end() {
    shutdown(fd_.get(), SHUT_WR);
    char piece[4096];
    while (read(fd_.get(), piece, sizeof piece) > 0) continue;
  }

 private:
  FileDescriptor fd_;
  std::string seen_;
};

class Session : public testing::Test {
 protected:
  CapturedRun run(std::vector<std::string> arguments, std::string_view input = {}) {
    return run_captured(agent_.address(), {.arguments = std::move(arguments)}, input);
  }
  CapturedRun shell(const std::string& script, std::string_view input = {}) { return run({"sh", "-c", script}, input); }

  AgentProcess agent_;
};

TEST_F(Session, ReturnsWhatTheCommandWritesAndItsStatus) {
  const CapturedRun r = shell("echo out; echo err >&2; exit 42");
  EXPECT_EQ(r.output, "out\n");
  EXPECT_EQ(r.error, "err\n");
  EXPECT_EQ(r.exit.status(), 42);
  EXPECT_EQ(run({"true"}).exit.status(), 0);
  EXPECT_EQ(run({"false"}).exit.status(), 1);
}

TEST_F(Session, CarriesAMegabyteBothWaysUnchanged) {
  std::string input;
  for (std::uint32_t n = 1; input.size() < 1 << 20; n = n * 1664525 + 1013904223) input += static_cast<char>(n >> 24);
  const CapturedRun r = run({"cat"}, input);
  EXPECT_EQ(r.exit.status(), 0);
  EXPECT_EQ(r.output.size(), input.size());
  EXPECT_TRUE(r.output == input);
}

TEST_F(Session, ACommandThatDoesNotReadItsInputIsNotHeldUpByIt) {
  EXPECT_EQ(run({"true"}, std::string(1 << 20, 'x')).exit.status(), 0);
  EXPECT_EQ(shell("exec <&-; sleep 0.1; exit 3", std::string(1 << 20, 'x')).exit.status(), 3);
}

TEST_F(Session, EnvironmentAndFolderAreThoseAskedFor) {
  const CapturedRun r = run_captured(
      agent_.address(),
      {.arguments = {"sh", "-c", "echo $COLOUR; pwd"}, .environment = {"COLOUR=blue"}, .directory = "/usr"});
  EXPECT_EQ(r.output, "blue\n/usr\n");
}

TEST_F(Session, ALongCommandLineArrivesWhole) {
  const std::string word(100'000, 'x');
  EXPECT_EQ(run({"echo", word}).output, word + "\n");
}

TEST_F(Session, WhatCannotBeRunIsSaidAsAShellWould) {
  const AgentExit absent = run({"no-such-program"}).exit;
  EXPECT_EQ(absent.status(), 127);
  EXPECT_EQ(absent.failure, "cannot run no-such-program: No such file or directory");
  EXPECT_EQ(run({"/usr"}).exit.status(), 126);
  const AgentExit nowhere = run_captured(agent_.address(), {.arguments = {"true"}, .directory = "/no/such"}).exit;
  EXPECT_EQ(nowhere.failure, "cannot go to /no/such: No such file or directory");
}

TEST_F(Session, ASignalThatKillsIsReported) {
  const AgentExit exit = shell("kill -TERM $$").exit;
  EXPECT_EQ(exit.signal, SIGTERM);
  EXPECT_EQ(exit.status(), 128 + SIGTERM);
}

TEST_F(Session, SignalsOfOursAreSentOnToTheWholeGroup) {
  sigset_t mask;
  sigset_t before;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &mask, &before);
  const FileDescriptor signals(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  // The command itself says when it is ready for the signal: it sends it to us.
  const std::string script =
      "trap 'echo caught; exit 9' USR1; kill -USR1 " + std::to_string(getpid()) + "; while :; do sleep 0.01; done";
  const FileDescriptor out = memory_file({});
  const AgentExit exit = AgentSession::open(agent_.directory(), "g1")
                             .run({.arguments = {"sh", "-c", script}}, {.output = out.get(), .signals = signals.get()});
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(exit.status(), 9);
  EXPECT_EQ(contents(out), "caught\n");
}

TEST_F(Session, WithATerminalTheCommandHasOneOfTheSizeAskedFor) {
  const CapturedRun r =
      run_captured(agent_.address(),
                   {.arguments = {"sh", "-c", "test -t 0 && test -t 2 && stty size"}, .terminal = WindowSize{33, 77}});
  EXPECT_EQ(r.output, "33 77\r\n");
  EXPECT_EQ(r.exit.status(), 0);
}

TEST_F(Session, CtrlCOnATerminalInterrupts) {
  // The terminal's line discipline makes the signal; nothing but the octet goes over the port.
  const CapturedRun r = run_captured(
      agent_.address(),
      {.arguments = {"sh", "-c", "trap 'exit 5' INT; while :; do sleep 0.01; done"}, .terminal = WindowSize{}}, "\x03");
  EXPECT_TRUE(r.exit.status() == 5 || r.exit.signal == SIGINT);  // before or after the trap is set
}

TEST_F(Session, OneAfterTheOtherSharesAPort) {
  for (int i = 0; i < 30; ++i) EXPECT_EQ(run({"echo", std::to_string(i)}).output, std::to_string(i) + "\n");
}

TEST_F(Session, AsManyAtATimeAsThereArePortsAndNotOneMore) {
  std::vector<AgentSession> sessions;
  for (int i = 0; i < 3; ++i) sessions.push_back(AgentSession::open(agent_.directory(), "g1"));
  EXPECT_EQ(error_of([&] { run({"true"}); }), "g1: all 3 sessions are in use; wait for one to end");
  const FileDescriptor out = memory_file({});
  for (AgentSession& s : sessions)
    EXPECT_EQ(s.run({.arguments = {"echo", "hello"}}, {.output = out.get()}).status(), 0);
  EXPECT_EQ(contents(out), "hello\nhello\nhello\n");
  sessions.clear();
  EXPECT_EQ(run({"true"}).exit.status(), 0);
}

TEST_F(Session, WhatTheProgramLeavesInTheBackgroundDoesNotHoldItUp) {
  const CapturedRun r = shell("sleep 1000 & echo $!");
  EXPECT_EQ(r.exit.status(), 0);
  const pid_t background = static_cast<pid_t>(std::stol(r.output));
  EXPECT_EQ(kill(background, 0), 0) << "it lives on";
  kill(background, SIGKILL);
}

TEST_F(Session, AClientThatGoesTakesItsProcessesWithIt) {
  // The shell, a job in the background, one that ignores signals and one with a process group of its own (timeout)
  // hold the writing end of a FIFO open.
  const std::filesystem::path fifo = agent_.directory() / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  {
    BareClient client(GuestFiles{agent_.directory()}.agent_socket(0));
    client.send(greeting_octets(Nonce{7}));
    const std::string script =
        "exec 8>" + fifo.string() +
        "; (trap '' HUP TERM; sleep 1000) & timeout 1000 sleep 1000 & sleep 1000 & echo on; wait";
    client.send(request_octets({.arguments = {"sh", "-c", script}}));
    std::thread opener([&] { close(open(fifo.c_str(), O_RDONLY)); });
    client.await("on");
    opener.join();
  }
  // Opening for reading without a writer would give an end of file at once; with the writers alive, read() would wait.
  const FileDescriptor reader(open(fifo.c_str(), O_RDONLY | O_NONBLOCK));
  fcntl(reader.get(), F_SETFL, 0);
  char octet = 0;
  EXPECT_EQ(read(reader.get(), &octet, 1), 0) << "until the last writer is dead";
  EXPECT_EQ(run({"true"}).exit.status(), 0);
}

TEST_F(Session, WhatADeadClientLeftHalfWrittenDoesNotReachTheNext) {
  const std::filesystem::path port = GuestFiles{agent_.directory()}.agent_socket(0);
  const std::string request = request_octets({.arguments = {"cat"}});
  const std::string input = frame_octets(RY_STDIN, std::string(1000, 'x'));
  const std::string begun = greeting_octets(Nonce{7}) + request;
  for (const std::string& torn :
       {std::string("noise"), greeting_octets(Nonce{7}).substr(0, RY_FLUSH_OCTETS + 10),
        begun.substr(0, begun.size() - 3), begun + input.substr(0, 2), begun + input.substr(0, 500),
        std::string(RY_GREETING), std::string(100'000, '\x03')}) {
    // QEMU's sockets do not tell a guest at once that a client has been replaced: both arrive in one stream.
    BareClient client(port);
    client.send(torn);
    client.send(greeting_octets(Nonce{8}));
    client.await(std::string(RY_WELCOME) + '\x08');
    client.send(request_octets({.arguments = {"echo", "well"}}));
    client.await(frame_octets(RY_STDOUT, "well\n"));
    client.await(frame_octets(RY_EXITED, std::string(1, '\0')));
    client.await_end();
  }
}

TEST_F(Session, FramesThatHaveNoBusinessEndASessionOnly) {
  BareClient client(GuestFiles{agent_.directory()}.agent_socket(0));
  client.send(greeting_octets(Nonce{7}));
  client.await(RY_WELCOME);
  client.send(request_octets({.arguments = {"cat"}}) + request_octets({.arguments = {"cat"}}));  // a second request
  client.send(greeting_octets(Nonce{9}));
  client.await(std::string(RY_WELCOME) + '\x09');
  client.send(frame_octets(RY_SIGNAL, "12") + greeting_octets(Nonce{10}));  // two octets
  client.await(std::string(RY_WELCOME) + '\x0a');
}

TEST_F(Session, AReaderOfTheOutputThatGoesEndsTheSession) {
  int out[2];
  ASSERT_EQ(pipe2(out, O_CLOEXEC), 0);
  close(out[0]);
  const auto before = signal(SIGPIPE, SIG_IGN);
  const AgentExit exit = AgentSession::open(agent_.directory(), "g1").run({.arguments = {"yes"}}, {.output = out[1]});
  signal(SIGPIPE, before);
  close(out[1]);
  EXPECT_EQ(exit.signal, SIGPIPE);
}

TEST_F(Session, AGuestThatGoesIsNoticedAtOnce) {
  int out[2];
  ASSERT_EQ(pipe2(out, O_CLOEXEC), 0);
  std::thread killer([&] {
    char octet = 0;
    EXPECT_EQ(read(out[0], &octet, 1), 1);  // the command runs
    agent_.kill();
  });
  AgentSession session = AgentSession::open(agent_.directory(), "g1");
  EXPECT_EQ(error_of([&] {
              session.run({.arguments = {"sh", "-c", "echo on; sleep 1000"}}, {.output = out[1]});
            }),
            "g1: the guest ended meanwhile; see " + agent_.directory().string() + "/console.log");
  killer.join();
  close(out[0]);
  close(out[1]);
}

TEST(SessionErrors, AGuestThatIsNotThere) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { AgentSession::open(folder.path(), "g1"); }),
            "g1: the guest is not running (no " + folder.path().string() + "/agent.0.sock)");
  AgentProcess agent;
  agent.stop();  // sockets without anybody behind them
  EXPECT_EQ(error_of([&] { AgentSession::open(agent.directory(), "g1"); }),
            "g1: the guest no longer runs; see " + agent.directory().string() + "/console.log");
}

TEST(SessionErrors, AGuestThatDoesNotAnswer) {
  const TemporaryFolder folder;
  const FileDescriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  GuestFiles{folder.path()}.agent_socket(0).string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  EXPECT_EQ(error_of([&] { AgentSession::open(folder.path(), "g1", std::chrono::milliseconds(10)); }),
            "g1: the guest does not answer; see " + folder.path().string() + "/console.log");
}

}  // namespace
}  // namespace railyard::guest
