/* Two processes that send tagged messages to each other over Ultra Ethernet for ever. When one is killed, messages of the
 * other one end with FI_ETIMEDOUT.
 *
 * usage: kills_libfabric listens|connects SOCKET polls|sleeps       (sleeps: in fi_cq_sread)
 */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <stdint.h>

#include "meet.h"

enum { OCTETS = 1 << 15, UNDER_WAY = 4, TAG = 1 };

#define FI_CHECK(call)                                                                                           \
  do {                                                                                                           \
    const long result_ = (long)(call);                                                                           \
    if (result_ < 0) {                                                                                           \
      fprintf(stderr, "%s: line %d: %s: %s\n", program_invocation_short_name, __LINE__, #call, fi_strerror((int)-result_)); \
      exit(1);                                                                                                   \
    }                                                                                                            \
  } while (0)

struct name {
  uint8_t octets[64];
};

static uint8_t out[OCTETS], in[UNDER_WAY][OCTETS];

/* Contexts say what an operation was: a send is NULL, a receive its buffer. */
static struct fid_ep* ep;
static void post_receive(uint8_t* to) { FI_CHECK(fi_trecv(ep, to, OCTETS, NULL, FI_ADDR_UNSPEC, TAG, 0, to)); }

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int sleeps = strcmp(argv[3], "sleeps") == 0;
  struct fi_info *hints = fi_allocinfo(), *info;
  struct fid_fabric* fabric;
  struct fid_domain* domain;
  struct fid_av* av;
  struct fid_cq* cq;
  struct fi_av_attr addresses = {.type = FI_AV_MAP};
  struct fi_cq_attr queue = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC};
  hints->caps = FI_TAGGED;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->fabric_attr->prov_name = strdup("railyard");
  FI_CHECK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
  FI_CHECK(fi_fabric(info->fabric_attr, &fabric, NULL));
  FI_CHECK(fi_domain(fabric, info, &domain, NULL));
  FI_CHECK(fi_av_open(domain, &addresses, &av, NULL));
  FI_CHECK(fi_cq_open(domain, &queue, &cq, NULL));
  FI_CHECK(fi_endpoint(domain, info, &ep, NULL));
  FI_CHECK(fi_ep_bind(ep, &av->fid, 0));
  FI_CHECK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
  FI_CHECK(fi_enable(ep));
  struct name here = {{0}}, there;
  size_t length = sizeof here;
  fi_addr_t peer;
  FI_CHECK(fi_getname(&ep->fid, here.octets, &length));
  for (int i = 0; i < UNDER_WAY; ++i) post_receive(in[i]);
  exchange(peer_at(argv[2], strcmp(argv[1], "listens") == 0), &here, &there, sizeof here);
  CHECK(fi_av_insert(av, there.octets, 1, &peer, 0, NULL) == 1);
  int to_send = UNDER_WAY;
  for (unsigned long sent = 0;;) {
    while (to_send > 0) {
      const ssize_t posted = fi_tsend(ep, out, OCTETS, NULL, peer, TAG, NULL);
      if (posted == -FI_EAGAIN) break;
      FI_CHECK(posted);
      --to_send;
    }
    struct fi_cq_tagged_entry entry;
    const ssize_t n = sleeps ? fi_cq_sread(cq, &entry, 1, NULL, 1000) : fi_cq_read(cq, &entry, 1);
    if (n == -FI_EAGAIN) continue;
    if (n == -FI_EAVAIL) {
      struct fi_cq_err_entry error = {0};
      FI_CHECK(fi_cq_readerr(cq, &error, 0));
      printf("after %lu messages: %s\n", sent, fi_strerror(error.err));
      return error.err == FI_ETIMEDOUT ? PEER_MISSED : 1;
    }
    FI_CHECK(n);
    is_connected(argv[2]);
    if (entry.op_context != NULL) {
      post_receive(entry.op_context);
    } else {
      ++to_send;
      ++sent;
    }
  }
}
