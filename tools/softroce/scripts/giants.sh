# Runs in both guests, with --mtu above the fabric's: frames that are too long for it get lost, ordinary ones do not.
wait_ping "$PEER" || exit 1
ping -c 3 -W 1 -s 9300 "$PEER" >/dev/null && { echo "a packet of 9328 bytes was forwarded"; exit 1; }
ping -c 3 -W 2 -s 9100 "$PEER" >/dev/null || { echo "a packet of 9128 bytes was not forwarded"; exit 1; }
sleep 1 # the other guest may still be asking
