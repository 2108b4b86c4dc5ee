/*
 * railyard-agent - runs commands in a guest for its host.
 *
 *   railyard-agent                        as PID 1: serves the virtio-serial ports railyard.0, railyard.1, ... and
 *                                         railyard.control, one session at a time on each
 *   railyard-agent --listen DIR [PORTS]   serves UNIX sockets DIR/agent.N.sock and DIR/control.sock in the same way:
 *                                         what QEMU's sockets are for the host, without a guest (for tests). Prints
 *                                         "listening" when they are there; never powers anything off
 *
 * What goes over a port is described in control/guest/agent_frame.h. One process per port, so that nothing that happens
 * to one session disturbs another; when idle, all of them sleep. Besides programs, a session can run
 *
 *   @put PATH MODE [NAME]   standard input becomes the file PATH (or PATH/NAME if PATH is a directory) with the octal
 *                           mode; it is there complete or not at all
 *   @get PATH               the file to standard output, then its mode, octal, to standard error
 *
 * A session ends when its program does: what it left in the background lives on. When the host closes the port before,
 * everything in the session is killed (SIGKILL), background jobs included; only what made itself a session of its own
 * (setsid) lives on.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "control/guest/agent_frame.h"

enum { MAX_PORTS = 32, MAX_WORDS = 4096, PTY_DRAIN_MS = 100 };

static const char *problems_file = "/run/railyard.problems";

static void say(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fprintf(stderr, "@@lab: agent: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n");
	va_end(ap);
}

static void close_fd(int *fd)
{
	if (*fd >= 0) close(*fd);
	*fd = -1;
}

/* ---- what runs in the session's own process ------------------------------------------------------------------- */

struct request {
	char *argv[MAX_WORDS + 1];
	char *env[MAX_WORDS];
	int argc, envc;
	const char *cwd;
	bool terminal;
	unsigned rows, columns;
};

static void fail(const char *what, const char *name)
{
	fprintf(stderr, "%s %s: %s\n", what, name, strerror(errno));
	exit(1);
}

static bool copy(int from, int to)
{
	static char buf[65536];
	ssize_t n;
	while ((n = read(from, buf, sizeof buf)) != 0) {
		if (n < 0 && errno == EINTR) continue;
		if (n < 0) return false;
		for (ssize_t done = 0; done < n;) {
			ssize_t w = write(to, buf + done, (size_t)(n - done));
			if (w < 0 && errno != EINTR) return false;
			if (w > 0) done += w;
		}
	}
	return true;
}

static int put(int argc, char **argv)
{
	static char path[8192], temporary[8300];
	struct stat st;
	if (argc < 3) return 2;
	mode_t mode = (mode_t)strtoul(argv[2], NULL, 8) & 07777;
	bool is_folder = stat(argv[1], &st) == 0 && S_ISDIR(st.st_mode);
	int n = is_folder && argc > 3 ? snprintf(path, sizeof path, "%s/%s", argv[1], argv[3])
	                              : snprintf(path, sizeof path, "%s", argv[1]);
	if (n >= (int)sizeof path) errno = ENAMETOOLONG, fail("cannot write", argv[1]);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) { /* a device, a FIFO */
		int fd = open(path, O_WRONLY);
		if (fd < 0 || !copy(0, fd)) fail("cannot write", path);
		return 0;
	}
	char real[4096]; /* behind a symbolic link */
	const char *target = realpath(path, real) != NULL ? real : path;
	snprintf(temporary, sizeof temporary, "%s.railyard-XXXXXX", target);
	int fd = mkstemp(temporary);
	if (fd < 0) fail("cannot write", path);
	if (!copy(0, fd) || fchmod(fd, mode) < 0 || close(fd) < 0 || rename(temporary, target) < 0) {
		int e = errno;
		unlink(temporary);
		errno = e;
		fail("cannot write", path);
	}
	return 0;
}

static int get(int argc, char **argv)
{
	struct stat st;
	if (argc < 2) return 2;
	int fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0) fail("cannot read", argv[1]);
	if (S_ISDIR(st.st_mode)) errno = EISDIR, fail("cannot read", argv[1]);
	if (!copy(fd, 1)) fail("cannot read", argv[1]);
	fprintf(stderr, "%o\n", st.st_mode & 07777u);
	return 0;
}

static void run_program(struct request *r)
{
	for (int i = 0; i < r->envc; i++) putenv(r->env[i]);
	if (strcmp(r->argv[0], "@put") == 0) exit(put(r->argc, r->argv));
	if (strcmp(r->argv[0], "@get") == 0) exit(get(r->argc, r->argv));
	execvp(r->argv[0], r->argv);
}

/* ---- one port and its session ---------------------------------------------------------------------------------- */

struct worker {
	const char *device; /* virtio-serial, or NULL */
	int listener;       /* or the listening socket */
	int epoll, port;    /* port: -1 while nobody is connected to the socket */
	bool readable, writable;

	uint8_t in[2 * RY_FLUSH_OCTETS], out[4 * RY_FLUSH_OCTETS];
	size_t in_length, out_begin, out_length;
	bool greeted;
	char request[RY_REQUEST_OCTETS];
	size_t request_length;

	pid_t pid; /* of the session's first process, which leads it; 0: none */
	int pidfd, input, output, error, terminal;
	bool exited, eof_wanted;
	siginfo_t end;  /* how, if exited */
	uint8_t input_buffer[RY_STDIN_CREDIT];
	size_t input_length, credit_due;
};

static struct worker w;
static volatile sig_atomic_t stopping;

static void on_term(int sig)
{
	(void)sig;
	stopping = 1;
}

static size_t out_room(void) { return sizeof w.out - w.out_length; }

/* There is room: whoever calls has looked. */
static void put_out(const void *data, size_t n)
{
	if (w.out_begin + w.out_length + n > sizeof w.out) {
		memmove(w.out, w.out + w.out_begin, w.out_length);
		w.out_begin = 0;
	}
	memcpy(w.out + w.out_begin + w.out_length, data, n);
	w.out_length += n;
}

static void put_frame(unsigned type, const void *payload, unsigned n)
{
	uint8_t header[RY_FRAME_HEADER];
	ry_put_header(header, type, n);
	put_out(header, sizeof header);
	if (n > 0) put_out(payload, n);
}

static void put_failure(unsigned status, const char *fmt, const char *name, int error)
{
	char text[512];
	text[0] = (char)status;
	int n = snprintf(text + 1, sizeof text - 1, fmt, name, strerror(error));
	if (n > (int)sizeof text - 2) n = (int)sizeof text - 2;
	put_frame(RY_FAILED, text, 1 + (unsigned)n);
}

static void forget_session(void)
{
	if (w.input != w.terminal) close_fd(&w.input);
	if (w.output != w.terminal) close_fd(&w.output);
	close_fd(&w.error);
	close_fd(&w.terminal);
	close_fd(&w.pidfd);
	w.input = w.output = -1;
	if (w.pid != 0) waitpid(w.pid, NULL, WNOHANG);
	w.pid = 0;
	w.exited = w.eof_wanted = false;
	w.input_length = w.credit_due = w.request_length = 0;
}

/* Kills every process of session `sid`; says whether there was one. */
static bool kill_processes(pid_t sid)
{
	bool found = false;
	DIR *dir = opendir("/proc");
	struct dirent *e;
	while (dir != NULL && (e = readdir(dir)) != NULL) {
		char name[300], line[512], state, *p;
		int session;
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
		if (pid <= 1) continue;
		snprintf(name, sizeof name, "/proc/%s/stat", e->d_name);
		FILE *f = fopen(name, "re");
		if (f == NULL) continue;
		/* pid (command, which may contain anything) state ppid pgrp session */
		if (fgets(line, sizeof line, f) != NULL && (p = strrchr(line, ')')) != NULL &&
		    sscanf(p + 1, " %c %*d %*d %d", &state, &session) == 2 && session == sid && state != 'Z') {
			kill(pid, SIGKILL);
			found = true;
		}
		fclose(f);
	}
	if (dir != NULL) closedir(dir);
	return found;
}

static void kill_session(void)
{
	if (w.pid == 0) return;
	kill(-w.pid, SIGKILL);
	for (int pass = 0; pass < 5 && kill_processes(w.pid); pass++) {
		struct pollfd p = {.fd = w.pidfd, .events = POLLIN};
		poll(&p, 1, 100);
	}
	struct pollfd p = {.fd = w.pidfd, .events = POLLIN};
	poll(&p, 1, 1000);
	forget_session();
}

/* To where only a greeting is understood. */
static void reset(void)
{
	kill_session();
	w.greeted = false;
	w.request_length = 0;
}

/* Says what is wrong with the request, or NULL. */
static const char *parse_request(struct request *r)
{
	char *p = w.request, *end = p + w.request_length;
	while (p < end) {
		char *stop = memchr(p, 0, (size_t)(end - p));
		if (stop == NULL) return "is cut";
		if (r->argc == MAX_WORDS || r->envc == MAX_WORDS) return "has too many words";
		switch (*p) {
		case 'a': r->argv[r->argc++] = p + 1; break;
		case 'e': r->env[r->envc++] = p + 1; break;
		case 'd': r->cwd = p + 1; break;
		case 't': r->terminal = sscanf(p + 1, "%u %u", &r->rows, &r->columns) == 2; break;
		default: return "has a record of unknown kind";
		}
		p = stop + 1;
	}
	return r->argc > 0 ? NULL : "names no program";
}

static bool make_pipe(int fds[2]) { return pipe2(fds, O_CLOEXEC) == 0; }

static void child(struct request *r, int in, int out, int err, int report)
{
	setsid();
	if (r->terminal) ioctl(in, TIOCSCTTY, 0);
	for (int s = 1; s < NSIG; s++) signal(s, SIG_DFL);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, 0);
	int oom = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (oom >= 0 && write(oom, "0", 1) < 0) { /* as it was */ }
	dup2(in, 0);
	dup2(out, 1);
	dup2(err, 2);
	const char *home = getenv("HOME");
	if (r->cwd == NULL) {
		if (home == NULL || chdir(home) < 0) { /* stay */ }
	} else if (chdir(r->cwd) < 0) {
		char e = (char)errno;
		if (write(report, (char[]){'d', e}, 2) < 0) { /* nobody to tell */ }
		_exit(127);
	}
	/* The agent's own descriptors; `report` closes itself when the program starts. */
	for (int fd = 3; fd < 256; fd++)
		if (fd != report) close(fd);
	if (r->argv[0][0] == '@') close(report);
	run_program(r);
	char e = (char)errno;
	if (write(report, (char[]){'x', e}, 2) < 0) { /* nobody to tell */ }
	_exit(127);
}

static void start_session(void)
{
	static struct request r;
	memset(&r, 0, sizeof r);
	const char *wrong = parse_request(&r);
	if (wrong != NULL) {
		put_failure(126, "the request %s", wrong, 0);
		w.request_length = 0;
		return;
	}
	int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1}, report[2] = {-1, -1};
	int master = -1, slave = -1;
	bool ok = make_pipe(report);
	if (r.terminal) {
		struct winsize size = {.ws_row = (unsigned short)r.rows, .ws_col = (unsigned short)r.columns};
		ok = ok && openpty(&master, &slave, NULL, NULL, &size) == 0;
		if (ok) fcntl(master, F_SETFD, FD_CLOEXEC), fcntl(slave, F_SETFD, FD_CLOEXEC);
	} else {
		ok = ok && make_pipe(in) && make_pipe(out) && make_pipe(err);
	}
	pid_t pid = ok ? fork() : -1;
	if (pid == 0) {
		if (r.terminal)
			child(&r, slave, slave, slave, report[1]);
		else
			child(&r, in[0], out[1], err[1], report[1]);
	}
	int start_error = errno;
	close_fd(&report[1]);
	close_fd(&slave);
	close_fd(&in[0]);
	close_fd(&out[1]);
	close_fd(&err[1]);
	char failure[2] = {0, (char)start_error};
	/* Closed without a word when the program has started. */
	ssize_t n = 0;
	if (pid > 0) {
		while ((n = read(report[0], failure, 2)) < 0 && errno == EINTR) continue;
	}
	close_fd(&report[0]);
	if (pid < 0 || n > 0) {
		if (pid > 0) waitpid(pid, NULL, 0);
		close_fd(&in[1]);
		close_fd(&out[0]);
		close_fd(&err[0]);
		close_fd(&master);
		int e = failure[1];
		if (failure[0] == 'd')
			put_failure(126, "cannot go to %s: %s", r.cwd, e);
		else if (failure[0] == 'x')
			put_failure(e == ENOENT ? 127 : 126, "cannot run %s: %s", r.argv[0], e);
		else
			put_failure(126, "cannot start %s: %s", r.argv[0], e);
		w.request_length = 0;
		return;
	}
	w.pid = pid;
	w.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	fcntl(w.pidfd, F_SETFD, FD_CLOEXEC);
	w.terminal = master;
	w.input = r.terminal ? master : in[1];
	w.output = r.terminal ? master : out[0];
	w.error = err[0];
	fcntl(w.input, F_SETFL, O_NONBLOCK);
	fcntl(w.output, F_SETFL, O_NONBLOCK);
	if (w.error >= 0) fcntl(w.error, F_SETFL, O_NONBLOCK);
}

/* The end of standard input: on a terminal, a typed Ctrl-D. */
static void end_input(void)
{
	w.eof_wanted = false;
	if (w.input < 0) return;
	if (w.terminal >= 0) {
		if (write(w.input, "\x04", 1) < 0) { /* the program is gone */ }
	} else {
		close_fd(&w.input);
	}
}

static void feed_input(void)
{
	while (w.input >= 0 && w.input_length > 0) {
		ssize_t n = write(w.input, w.input_buffer, w.input_length);
		if (n < 0 && (errno == EAGAIN || errno == EINTR)) break;
		if (n < 0) { /* nobody reads it any more */
			if (w.terminal < 0) close_fd(&w.input);
			n = (ssize_t)w.input_length;
		}
		memmove(w.input_buffer, w.input_buffer + n, w.input_length - (size_t)n);
		w.input_length -= (size_t)n;
		w.credit_due += (size_t)n;
	}
	if (w.input < 0) {
		w.credit_due += w.input_length;
		w.input_length = 0;
	}
	if (w.input_length == 0 && w.eof_wanted) end_input();
}

static void send_signal(int number)
{
	pid_t group = w.pid;
	if (number < 1 || number >= NSIG || w.exited) return;
	if (w.terminal >= 0) {
		pid_t foreground = tcgetpgrp(w.terminal);
		if (foreground > 1) group = foreground;
	}
	kill(-group, number);
}

static void answer_ping(void)
{
	char text[RY_FRAME_PAYLOAD];
	size_t n = 0;
	FILE *f = fopen(problems_file, "re");
	if (f != NULL) {
		n = fread(text, 1, sizeof text, f);
		fclose(f);
	}
	put_frame(RY_PONG, text, (unsigned)n);
}

static void power_off(void)
{
	if (w.device == NULL || getppid() != 1) { /* not a guest: only the agent ends */
		kill(getppid(), SIGTERM);
		return;
	}
	sync();
	reboot(RB_POWER_OFF);
}

/* False: the frame has no business here. */
static bool handle(const struct ry_frame *f)
{
	bool running = w.pid != 0;
	switch (f->type) {
	case RY_REQUEST:
		if (running || w.request_length + f->length > sizeof w.request) return false;
		memcpy(w.request + w.request_length, f->payload, f->length);
		w.request_length += f->length;
		return true;
	case RY_START:
		if (running) return false;
		start_session();
		return true;
	case RY_STDIN:
		if (!running) return true; /* sent before it was known that the program has ended */
		if (w.input_length + f->length > sizeof w.input_buffer || w.eof_wanted) return false;
		memcpy(w.input_buffer + w.input_length, f->payload, f->length);
		w.input_length += f->length;
		feed_input();
		return true;
	case RY_STDIN_EOF:
		if (running) {
			w.eof_wanted = true;
			feed_input();
		}
		return true;
	case RY_SIGNAL:
		if (f->length != 1) return false;
		if (running) send_signal(f->payload[0]);
		return true;
	case RY_WINDOW:
		if (f->length != 4) return false;
		if (w.terminal >= 0) {
			struct winsize size = {.ws_row = (unsigned short)ry_get16(f->payload),
			                       .ws_col = (unsigned short)ry_get16(f->payload + 2)};
			ioctl(w.terminal, TIOCSWINSZ, &size); /* the kernel sends SIGWINCH */
		}
		return true;
	case RY_PING:
		answer_ping();
		return true;
	case RY_POWER_OFF:
		power_off();
		return true;
	default:
		return false;
	}
}

static void drop_in(size_t n)
{
	memmove(w.in, w.in + n, w.in_length - n);
	w.in_length -= n;
}

/* Looks for a greeting; false if there is none yet. */
static bool find_greeting(void)
{
	uint8_t *at = memmem(w.in, w.in_length, RY_GREETING, RY_MAGIC_OCTETS);
	if (at == NULL) { /* the end may be the beginning of one */
		if (w.in_length >= RY_MAGIC_OCTETS) drop_in(w.in_length - (RY_MAGIC_OCTETS - 1));
		return false;
	}
	drop_in((size_t)(at - w.in));
	if (w.in_length < RY_GREETING_OCTETS) return false;
	uint8_t version[2];
	ry_put16(version, RY_AGENT_VERSION);
	w.out_length = 0; /* was for somebody who is gone */
	put_out(RY_WELCOME, RY_MAGIC_OCTETS);
	put_out(w.in + RY_MAGIC_OCTETS, RY_NONCE_OCTETS);
	put_out(version, sizeof version);
	drop_in(RY_GREETING_OCTETS);
	w.greeted = true;
	return true;
}

/* Deals with what has been read, as far as there is room for answers. */
static void understand(void)
{
	for (;;) {
		struct ry_frame f;
		if (!w.greeted) {
			if (!find_greeting()) return;
			continue;
		}
		if (out_room() < RY_FLUSH_OCTETS) return;
		int n = ry_parse_frame(w.in, w.in_length, RY_REQUEST, RY_LAST_TO_AGENT, &f);
		if (n == 0) return;
		if (n < 0 || !handle(&f)) { /* mostly the zeros of a new client */
			reset();
			continue;
		}
		drop_in((size_t)n);
	}
}

/* The host has closed its side. */
static void hang_up(void)
{
	if (w.device == NULL) {
		reset();
		close_fd(&w.port);
		w.in_length = w.out_length = 0;
		w.readable = w.writable = false;
	} else if (w.pid != 0) {
		/* Without a session it means nothing: the first octets of a client may be here before the news of it. */
		reset();
		w.out_length = 0;
	}
}

static void read_port(void)
{
	while (w.port >= 0 && w.readable && w.in_length < sizeof w.in) {
		ssize_t n = read(w.port, w.in + w.in_length, sizeof w.in - w.in_length);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) {
			w.readable = false;
			if (n == 0 || errno != EAGAIN) hang_up();
			return;
		}
		w.in_length += (size_t)n;
		understand();
	}
}

static void write_port(void)
{
	while (w.port >= 0 && w.writable && w.out_length > 0) {
		/* MSG_NOSIGNAL is not for character devices; SIGPIPE is ignored. */
		ssize_t n = write(w.port, w.out + w.out_begin, w.out_length);
		if (n < 0 && errno == EINTR) continue;
		if (n < 0) {
			w.writable = false;
			if (errno != EAGAIN) hang_up();
			return;
		}
		w.out_begin += (size_t)n;
		w.out_length -= (size_t)n;
	}
	if (w.out_length == 0) w.out_begin = 0;
}

/* Reads what the program has written while there is room for it. False: nothing more now. */
static bool read_output(int *fd, unsigned type)
{
	uint8_t buf[RY_FRAME_PAYLOAD];
	if (*fd < 0 || out_room() < RY_FLUSH_OCTETS) return false;
	ssize_t n = read(*fd, buf, sizeof buf);
	if (n > 0) {
		put_frame(type, buf, (unsigned)n);
		return true;
	}
	if (n < 0 && errno == EINTR) return true;
	if (n < 0 && errno == EAGAIN) return false;
	/* The end. A terminal's is when its last process is gone (EIO); the descriptor is its input, too. */
	if (fd == &w.output && w.terminal >= 0) {
		*fd = -1;
	} else {
		close_fd(fd);
	}
	return false;
}

/* Once the program has ended and everything it wrote is on its way. There is room. */
static void finish_session(void)
{
	bool signaled = w.end.si_code != CLD_EXITED;
	uint8_t value = (uint8_t)w.end.si_status;
	put_frame(signaled ? RY_SIGNALED : RY_EXITED, &value, 1);
	forget_session();
}

static void watch_port(void)
{
	/* Edge-triggered: a virtio-serial port that the host has not opened is "hung up" all the time. */
	struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET};
	epoll_ctl(w.epoll, EPOLL_CTL_ADD, w.port, &e);
	w.readable = w.writable = true;
}

static void harvest_port(void)
{
	struct epoll_event e;
	while (epoll_wait(w.epoll, &e, 1, 0) == 1) {
		w.readable = w.writable = true;
		/* Of a socket, what was sent before it was closed is read first. */
		if ((e.events & EPOLLHUP) != 0 && w.device != NULL) hang_up();
	}
}

static void serve(void)
{
	sigset_t unblocked;
	sigemptyset(&unblocked);
	w.pidfd = w.input = w.output = w.error = w.terminal = -1;
	w.epoll = epoll_create1(EPOLL_CLOEXEC);
	w.port = -1;
	if (w.device != NULL) {
		w.port = open(w.device, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		if (w.port < 0) {
			say("cannot open %s: %s", w.device, strerror(errno));
			exit(1);
		}
		watch_port();
	}
	for (;;) {
		write_port();
		understand(); /* what had no room for its answer before */
		read_port();
		if (w.pid != 0) {
			while (read_output(&w.output, RY_STDOUT) || read_output(&w.error, RY_STDERR)) continue;
			feed_input();
			if (w.credit_due >= RY_STDIN_CREDIT / 4 && out_room() >= 2 * RY_FRAME_HEADER) {
				uint8_t credit[4];
				ry_put32(credit, (uint32_t)w.credit_due);
				put_frame(RY_CREDIT, credit, sizeof credit);
				w.credit_due = 0;
			}
		}
		write_port();

		struct pollfd p[6] = {{0}};
		int n = 0;
		bool room = out_room() >= RY_FLUSH_OCTETS;
		p[n++] = (struct pollfd){.fd = w.epoll, .events = POLLIN};
		struct pollfd *client = NULL;
		if (w.port < 0) {
			client = &p[n];
			p[n++] = (struct pollfd){.fd = w.listener, .events = POLLIN};
		}
		struct pollfd *out = NULL, *err = NULL, *end = NULL;
		if (w.pid != 0) {
			short in_events = w.input >= 0 && w.input_length > 0 ? POLLOUT : 0;
			if (in_events != 0 && w.terminal < 0) p[n++] = (struct pollfd){.fd = w.input, .events = in_events};
			if (w.output >= 0 && (room || (w.terminal >= 0 && in_events != 0))) {
				short events = (short)((room ? POLLIN : 0) | (w.terminal >= 0 ? in_events : 0));
				out = &p[n];
				p[n++] = (struct pollfd){.fd = w.output, .events = events};
			}
			if (w.error >= 0 && room) {
				err = &p[n];
				p[n++] = (struct pollfd){.fd = w.error, .events = POLLIN};
			}
			if (!w.exited) {
				end = &p[n];
				p[n++] = (struct pollfd){.fd = w.pidfd, .events = POLLIN};
			}
		}
		/* After the end of the program: take what is in its pipes, and for a terminal also what the kernel is still
		 * moving to our side. */
		struct timespec now = {0, 0}, drain = {0, PTY_DRAIN_MS * 1000000L};
		bool draining = w.pid != 0 && w.exited && room;
		bool work = w.port >= 0 && ((w.readable && w.in_length < sizeof w.in) || (w.writable && w.out_length > 0));
		struct timespec *limit = work ? &now : !draining ? NULL : w.terminal >= 0 && w.output >= 0 ? &drain : &now;
		int ready = ppoll(p, (nfds_t)n, limit, &unblocked);
		if (stopping) {
			kill_session();
			exit(0);
		}
		if (ready < 0) continue;
		bool quiet = (out == NULL || out->revents == 0) && (err == NULL || err->revents == 0) && !work;
		if (draining && quiet && (ready == 0 || limit == &now)) {
			finish_session();
			continue;
		}
		/* Reaped when the session is forgotten: until then its number belongs to nobody else. */
		if (end != NULL && end->revents != 0 &&
		    waitid(P_PID, (id_t)w.pid, &w.end, WEXITED | WNOHANG | WNOWAIT) == 0 && w.end.si_pid == w.pid)
			w.exited = true;
		if (p[0].revents != 0) harvest_port();
		if (client != NULL && client->revents != 0) {
			w.port = accept4(w.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
			if (w.port >= 0) watch_port();
		}
	}
}

/* ---- the process that keeps one worker per port ---------------------------------------------------------------- */

struct port_place {
	char device[300];
	int listener;
	pid_t pid;
};

static struct port_place places[MAX_PORTS];
static int place_count;

static void start_worker(struct port_place *place)
{
	pid_t parent = getpid();
	place->pid = fork();
	if (place->pid != 0) return;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent) exit(0);
	w.device = place->device[0] != 0 ? place->device : NULL;
	w.listener = place->listener;
	serve();
}

static void find_devices(void)
{
	const char *folder = "/sys/class/virtio-ports";
	DIR *dir = opendir(folder);
	struct dirent *e;
	while (dir != NULL && (e = readdir(dir)) != NULL && place_count < MAX_PORTS) {
		char file[400], name[100] = "";
		snprintf(file, sizeof file, "%s/%s/name", folder, e->d_name);
		FILE *f = fopen(file, "re");
		if (f == NULL) continue;
		bool ours = fgets(name, sizeof name, f) != NULL && strncmp(name, "railyard.", 9) == 0;
		fclose(f);
		if (!ours) continue;
		places[place_count].listener = -1;
		snprintf(places[place_count].device, sizeof places[0].device, "/dev/%s", e->d_name);
		place_count++;
	}
	if (dir != NULL) closedir(dir);
	if (place_count == 0) say("no virtio-serial port with a name railyard.*");
}

static void listen_in(const char *dir, int ports)
{
	for (int i = 0; i <= ports && place_count < MAX_PORTS; i++) {
		struct sockaddr_un a = {.sun_family = AF_UNIX};
		int n = i < ports ? snprintf(a.sun_path, sizeof a.sun_path, "%s/agent.%d.sock", dir, i)
		                  : snprintf(a.sun_path, sizeof a.sun_path, "%s/control.sock", dir);
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		unlink(a.sun_path);
		if (n >= (int)sizeof a.sun_path || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 16) < 0) {
			say("cannot listen on %s: %s", a.sun_path, strerror(errno));
			exit(1);
		}
		places[place_count++].listener = fd;
	}
	printf("listening\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	bool listening = argc >= 3 && strcmp(argv[1], "--listen") == 0;
	if (!listening && (argc > 1 || getpid() != 1)) {
		fprintf(stderr, "usage: railyard-agent --listen DIR [PORTS]   (without arguments: as PID 1 of a guest)\n");
		return 2;
	}
	struct sigaction term = {.sa_handler = on_term};
	sigaction(SIGTERM, &term, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigset_t mask, old;
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, &old);
	if (listening) {
		listen_in(argv[2], argc > 3 ? atoi(argv[3]) : 8);
	} else {
		find_devices();
		int oom = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
		if (oom >= 0 && write(oom, "-1000", 5) < 0) { /* then not */ }
		close_fd(&oom);
	}
	for (int i = 0; i < place_count; i++) start_worker(&places[i]);
	for (;;) {
		int status;
		pid_t pid;
		int sig = sigwaitinfo(&mask, NULL);
		if (sig == SIGTERM && listening) {
			for (int i = 0; i < place_count; i++) kill(places[i].pid, SIGTERM);
			while (wait(NULL) > 0 || errno == EINTR) continue;
			return 0;
		}
		/* As PID 1, also the orphans of sessions. */
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			for (int i = 0; i < place_count; i++) {
				if (places[i].pid != pid) continue;
				say("worker %d ended (status %x); started again", i, status);
				struct timespec pause = {1, 0}; /* one that cannot work must not spin */
				nanosleep(&pause, NULL);
				start_worker(&places[i]);
			}
		}
	}
}
