# Runs in a guest at h1 of topologies/rping-peer.yaml: rping with a built-in host, as its client and as its server. Its
# -V compares what comes back. N pings each (the built-in client's own count too).
built_in=${BUILT_IN:-10.9.0.2} own=${OWN:-10.9.0.1} n=${N:-20}
wait_ping "$built_in" || exit 1
for size in ${SIZES:-26 100 4096 65535}; do
	rping -c -a "$built_in" -C "$n" -S "$size" -V >/tmp/out 2>&1 || { echo "rping -c -S $size FAILED"; cat /tmp/out; exit 1; }
	echo "rping -c: $n pings of $size"
done
# Datagrams: udaddy asks for the QP of the port (SIDR), sends n and waits until n have come back. One that is lost is
# waited for in vain: only where none is.
if [ -n "${DATAGRAMS:-}" ]; then
	for size in $DATAGRAMS; do
		timeout 60 udaddy -s "$built_in" -b "$own" -C "$n" -S "$size" >/tmp/out 2>&1 || { echo "udaddy -S $size FAILED"; cat /tmp/out; exit 1; }
		grep -q 'data transfers complete' /tmp/out || { echo "udaddy -S $size: not all came back:"; cat /tmp/out; exit 1; }
		echo "udaddy: $n datagrams of $size and back"
	done
	# Nobody takes datagrams there: told so at once.
	if timeout 60 udaddy -s "$built_in" -p 7175 -C 1 >/tmp/out 2>&1; then echo "udaddy: resolved nobody"; exit 1; fi
	cat /tmp/out
fi
# Atomics of both ends, each on the other's memory.
[ -z "${ATOMICS:-}" ] || cm_check atomics "$built_in" "$ATOMICS" || exit 1
# Datagrams that come back are compared, those that do not are counted: also where some are lost.
for size in ${ECHOES:-}; do cm_check datagrams "$built_in" "${ECHO_COUNT:-500}" "$size" || exit 1; done
# Nobody listens there: told so at once.
if rping -c -a "$built_in" -p 7175 -C 1 >/tmp/out 2>&1; then echo "connected to nobody"; exit 1; fi
grep -i rejected /tmp/out || { echo "not rejected:"; cat /tmp/out; exit 1; }
rping -s -a "$own" -C "$n" -S 65535 -v >/tmp/out 2>&1
rc=$?
echo "rping -s: $(grep -c '^server ping data: rdma-ping-' /tmp/out) pings, status $rc"
[ "$(grep -c '^server ping data: rdma-ping-' /tmp/out)" -eq "$n" ] || { tail -n 5 /tmp/out | cut -c 1-200; exit 1; }
counters
