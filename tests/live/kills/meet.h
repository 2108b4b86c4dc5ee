/* For programs of application_kills.sh, one of which is killed at any moment: how the two ends find each other, over a
 * UNIX socket.
 *
 * Exit codes: 3, the peer was missed by an error of the transport; 4, the peer has gone before both were connected; all else
 * is a failure of the test. */
#ifndef RAILYARD_TESTS_LIVE_KILLS_MEET_H
#define RAILYARD_TESTS_LIVE_KILLS_MEET_H

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PEER_MISSED = 3, PEER_NEVER_MET = 4 };

/* The program's name is said first. */
#define CHECK(condition)                                                                                         \
  do {                                                                                                           \
    if (!(condition)) {                                                                                          \
      fprintf(stderr, "%s: line %d: %s does not hold (%s)\n", program_invocation_short_name, __LINE__, #condition, \
              strerror(errno));                                                                                  \
      exit(1);                                                                                                   \
    }                                                                                                            \
  } while (0)

__attribute__((noreturn)) static void never_met(const char* why) {
  printf("the peer has gone before it was connected (%s)\n", why);
  exit(PEER_NEVER_MET);
}

/* A socket to the peer. The one that listens waits for it, the other one tries until it is there; 5 s at most. */
static int peer_at(const char* path, int listens) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  CHECK(strlen(path) < sizeof address.sun_path);
  strcpy(address.sun_path, path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listens) {
    CHECK(bind(fd, (struct sockaddr*)&address, sizeof address) == 0 && listen(fd, 1) == 0);
    struct pollfd on = {.fd = fd, .events = POLLIN};
    if (poll(&on, 1, 5000) == 0) never_met("it does not come");
    const int peer = accept(fd, NULL, NULL);
    CHECK(peer >= 0);
    return peer;
  }
  for (int i = 0; i < 500; ++i, usleep(10000))
    if (connect(fd, (struct sockaddr*)&address, sizeof address) == 0) return fd;
  never_met("it does not listen");
}

/* What both say of themselves, or PEER_NEVER_MET. */
static void exchange(int peer, const void* own, void* its, size_t octets) {
  if (send(peer, own, octets, MSG_NOSIGNAL) != (ssize_t)octets) never_met(strerror(errno));
  if (recv(peer, its, octets, MSG_WAITALL) != (ssize_t)octets) never_met("it says nothing");
}

/* Once: something has gone from one end to the other. SOCKET.on says so to who kills. */
static void is_connected(const char* path) {
  static int said;
  char name[sizeof((struct sockaddr_un*)0)->sun_path + 4];
  if (said++ != 0) return;
  snprintf(name, sizeof name, "%s.on", path);
  FILE* file = fopen(name, "w");
  if (file != NULL) fclose(file);
}

#endif
