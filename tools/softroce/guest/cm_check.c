/*
 * cm_check - a client of what a built-in RoCEv2 NIC serves that no stock tool asks for, connected by rdma_cm.
 *
 *   cm_check atomics ADDR N         FetchAdd and CmpSwap, N by each end on the other's word, with the NIC's
 *                                   atomics-server (transports/roce/services/atomics_exchange.h says how)
 *   cm_check datagrams ADDR N SIZE  N datagrams of SIZE octets to its udaddy-server; each that comes back is compared,
 *                                   octet by octet, and each that does not is counted as lost
 *
 * It waits for completions with events. Exit status 0: nothing was wrong (lost datagrams are not). Last line:
 * "cm_check: PASS ..." or "cm_check: FAIL ...".
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ATOMICS_PORT = 7176, UDADDY_PORT = 7174, GRH = 40, WINDOW = 16, PATIENCE_MS = 1000, SENT = 1000 /* above the places of receives */ };

static struct rdma_event_channel *events;
static struct rdma_cm_id *id;
static struct ibv_comp_channel *chan;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static uint8_t *buf;

static void die(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	printf("cm_check: FAIL ");
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
	exit(1);
}

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

/* The next event, which must be the one that is waited for. */
static struct rdma_cm_event *wait_event(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *e;
	if (rdma_get_cm_event(events, &e))
		die("rdma_get_cm_event: %s", strerror(errno));
	if (e->event != type)
		die("%s (status %d) instead of %s", rdma_event_str(e->event), e->status, rdma_event_str(type));
	return e;
}

/* A completion within `ms`; 0: there is none. */
static int wait_wc(struct ibv_wc *wc, double ms)
{
	double end = now_ms() + ms;
	for (;;) {
		int n = ibv_poll_cq(cq, 1, wc);
		if (n == 0) {
			if (ibv_req_notify_cq(cq, 0))
				die("req_notify_cq");
			n = ibv_poll_cq(cq, 1, wc); /* one may have come in before the request */
		}
		if (n < 0)
			die("poll_cq");
		if (n > 0) {
			if (wc->status)
				die("%s", ibv_wc_status_str(wc->status));
			return 1;
		}
		struct pollfd p = { .fd = chan->fd, .events = POLLIN };
		double left = end - now_ms();
		if (left <= 0 || poll(&p, 1, (int)left + 1) == 0)
			return 0;
		struct ibv_cq *c;
		void *x;
		if (ibv_get_cq_event(chan, &c, &x))
			die("get_cq_event");
		ibv_ack_cq_events(cq, 1);
	}
}

/* Resolves the address, and makes a QP with `octets` of memory. */
static void set_up(const char *addr, int port, enum rdma_port_space space, size_t octets)
{
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_port = htons(port) };
	if (inet_pton(AF_INET, addr, &sa.sin_addr) != 1)
		die("no address: %s", addr);
	events = rdma_create_event_channel();
	if (!events || rdma_create_id(events, &id, NULL, space))
		die("rdma_create_id: %s", strerror(errno));
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&sa, 5000))
		die("rdma_resolve_addr: %s", strerror(errno));
	rdma_ack_cm_event(wait_event(RDMA_CM_EVENT_ADDR_RESOLVED));
	if (rdma_resolve_route(id, 5000))
		die("rdma_resolve_route: %s", strerror(errno));
	rdma_ack_cm_event(wait_event(RDMA_CM_EVENT_ROUTE_RESOLVED));
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);
	chan = ibv_create_comp_channel(id->verbs);
	cq = chan ? ibv_create_cq(id->verbs, 4 * WINDOW, NULL, chan, 0) : NULL;
	buf = aligned_alloc(4096, (octets + 4095) / 4096 * 4096);
	mr = pd && buf ? ibv_reg_mr(pd, buf, octets, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC) : NULL;
	struct ibv_qp_init_attr ia = { .send_cq = cq, .recv_cq = cq,
		.qp_type = space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 2 * WINDOW, .max_recv_wr = 2 * WINDOW, .max_send_sge = 1, .max_recv_sge = 1 } };
	if (!mr || !cq || rdma_create_qp(id, pd, &ia))
		die("resources: %s", strerror(errno));
	memset(buf, 0, octets);
}

static void post_recv(uint64_t wr_id, uint8_t *at, uint32_t octets)
{
	struct ibv_sge s = { (uintptr_t)at, octets, mr->lkey };
	struct ibv_recv_wr w = { .wr_id = wr_id, .sg_list = &s, .num_sge = 1 }, *bad;
	if (ibv_post_recv(id->qp, &w, &bad))
		die("post_recv");
}

static void post_send(struct ibv_send_wr *w, uint8_t *at, uint32_t octets)
{
	struct ibv_sge s = { (uintptr_t)at, octets, mr->lkey };
	struct ibv_send_wr *bad;
	w->sg_list = &s;
	w->num_sge = 1;
	if (ibv_post_send(id->qp, w, &bad))
		die("post_send");
}

/* ---- Atomics ---- */

struct message {
	uint64_t address; /* big endian, all of it */
	uint32_t rkey, n;
};
/* What is where: own word, what an atomic brought back, messages that come (two), the one that goes. */
enum { WORD = 0, ANSWER = 8, CAME = 16, SAID = 48, ATOMICS_OCTETS = 64 };

struct step {
	enum ibv_wr_opcode op;
	uint64_t compare_add, swap, after;
};
static struct step step_of(uint32_t i, uint64_t value)
{
	uint64_t add = ((uint64_t)i + 1) * 0x100000001ull;
	if (i % 3 == 0)
		return (struct step){ IBV_WR_ATOMIC_FETCH_AND_ADD, add, 0, value + add };
	if (i % 3 == 1)
		return (struct step){ IBV_WR_ATOMIC_CMP_AND_SWP, value, ~value, ~value };
	return (struct step){ IBV_WR_ATOMIC_CMP_AND_SWP, value + 1, 0, value };
}

static uint64_t word_at(int offset)
{
	uint64_t v;
	memcpy(&v, buf + offset, 8);
	return v;
}

static void say(uint64_t address, uint32_t rkey, uint32_t n)
{
	struct message m = { htobe64(address), htonl(rkey), htonl(n) };
	struct ibv_send_wr w = { .opcode = IBV_WR_SEND };
	memcpy(buf + SAID, &m, sizeof m);
	post_send(&w, buf + SAID, sizeof m);
}

static void post_step(struct step s, const struct message *peer)
{
	struct ibv_send_wr w = { .opcode = s.op };
	w.wr.atomic.remote_addr = be64toh(peer->address);
	w.wr.atomic.rkey = ntohl(peer->rkey);
	w.wr.atomic.compare_add = s.compare_add;
	w.wr.atomic.swap = s.swap;
	post_send(&w, buf + ANSWER, 8);
}

static void atomics(const char *addr, uint32_t n)
{
	struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7 };
	struct message peer = { 0 }, done = { 0 };
	uint64_t value = 0, should_be = 0;
	uint32_t i = 0, messages = 0, wrong = 0;
	set_up(addr, ATOMICS_PORT, RDMA_PS_TCP, ATOMICS_OCTETS);
	post_recv(0, buf + CAME, 16);
	post_recv(1, buf + CAME + 16, 16);
	if (rdma_connect(id, &param))
		die("rdma_connect: %s", strerror(errno));
	rdma_ack_cm_event(wait_event(RDMA_CM_EVENT_ESTABLISHED));
	say((uintptr_t)buf + WORD, mr->rkey, n);
	while (messages < 2 || i < n) {
		struct ibv_wc wc;
		if (!wait_wc(&wc, 60000))
			die("no completion in 60 s, after %u atomics", i);
		if (wc.opcode == IBV_WC_RECV) {
			memcpy(messages++ == 0 ? &peer : &done, buf + CAME + wc.wr_id * 16, 16);
			if (messages == 1)
				post_step(step_of(0, 0), &peer);
		} else if (wc.opcode == IBV_WC_FETCH_ADD || wc.opcode == IBV_WC_COMP_SWAP) {
			wrong += word_at(ANSWER) != value;
			value = step_of(i, value).after;
			if (++i < n)
				post_step(step_of(i, value), &peer);
			else
				say(value, 0, 0);
		}
	}
	for (i = 0; i < n; i++)
		should_be = step_of(i, should_be).after;
	if (wrong || ntohl(peer.n) != n || be64toh(done.address) != should_be || word_at(WORD) != should_be)
		die("%u answers were wrong; own word %#llx, said to be %#llx, should be %#llx", wrong,
		    (unsigned long long)word_at(WORD), (unsigned long long)be64toh(done.address), (unsigned long long)should_be);
	/* What was said last has to be there before the connection ends. */
	struct ibv_wc wc;
	while (wait_wc(&wc, 200))
		;
	rdma_disconnect(id);
	printf("cm_check: PASS %u atomics of each end, every answer and both words right\n", n);
}

/* ---- Datagrams ---- */

static uint8_t pat(uint32_t seq, uint32_t i) { return (uint8_t)(seq * 37 + i * 7 + (i >> 8) * 13 + 1); }

static void datagrams(const char *addr, uint32_t n, uint32_t size)
{
	struct rdma_conn_param param = { .qp_num = 0 };
	uint32_t room = GRH + size, sent = 0, gone = 0, came = 0, twice = 0, open = 0;
	if (size < 4)
		die("a datagram has 4 octets or more");
	/* Own datagrams, then those that come. */
	set_up(addr, UDADDY_PORT, RDMA_PS_UDP, (size_t)WINDOW * size + (size_t)2 * WINDOW * room);
	uint8_t *in = buf + (size_t)WINDOW * size, *back = calloc(n, 1);
	for (uint64_t i = 0; i < 2 * WINDOW; i++)
		post_recv(i, in + i * room, room);
	if (rdma_connect(id, &param))
		die("rdma_connect: %s", strerror(errno));
	struct rdma_cm_event *e = wait_event(RDMA_CM_EVENT_ESTABLISHED);
	uint32_t qpn = e->param.ud.qp_num, qkey = e->param.ud.qkey;
	struct ibv_ah *ah = ibv_create_ah(id->qp->pd, &e->param.ud.ah_attr);
	rdma_ack_cm_event(e);
	if (!ah)
		die("create_ah: %s", strerror(errno));
	while (came < n) {
		/* A place to send from is written again only when what was there has gone. */
		for (; sent < n && open < WINDOW && sent - gone < WINDOW; sent++, open++) {
			uint8_t *at = buf + (size_t)(sent % WINDOW) * size;
			struct ibv_send_wr w = { .wr_id = SENT, .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = htonl(id->qp->qp_num) };
			uint32_t seq = htonl(sent);
			memcpy(at, &seq, 4);
			for (uint32_t i = 4; i < size; i++)
				at[i] = pat(sent, i);
			w.wr.ud.ah = ah;
			w.wr.ud.remote_qpn = qpn;
			w.wr.ud.remote_qkey = qkey;
			post_send(&w, at, size);
		}
		struct ibv_wc wc;
		if (!wait_wc(&wc, PATIENCE_MS)) {
			if (sent == n)
				break;
			open = 0; /* those that are waited for are lost */
			continue;
		}
		if (wc.wr_id == SENT) {
			gone++;
			continue;
		}
		uint8_t *at = in + wc.wr_id * room + GRH;
		uint32_t seq;
		memcpy(&seq, at, 4);
		seq = ntohl(seq);
		if (wc.byte_len != room || seq >= sent)
			die("a datagram of %u octets with number %u came", wc.byte_len - GRH, seq);
		for (uint32_t i = 4; i < size; i++)
			if (at[i] != pat(seq, i))
				die("datagram %u: octet %u is wrong", seq, i);
		post_recv(wc.wr_id, in + wc.wr_id * room, room);
		if (back[seq]) {
			twice++;
			continue;
		}
		back[seq] = 1;
		came++;
		open -= open > 0;
	}
	printf("cm_check: PASS %u datagrams of %u octets sent, %u back, %u lost, %u twice, none of them wrong\n", n, size, came,
	       n - came, twice);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 4 && !strcmp(argv[1], "atomics"))
		atomics(argv[2], atoi(argv[3]));
	else if (argc == 5 && !strcmp(argv[1], "datagrams"))
		datagrams(argv[2], atoi(argv[3]), atoi(argv[4]));
	else
		die("usage: cm_check atomics ADDR N | datagrams ADDR N SIZE");
	return 0;
}
