#!/usr/bin/env bash
# Runs a cluster of three relays on this machine: publish to the first, watch through the second and
# the third. It needs `moq-relay` (cargo install moq-relay) and openssl. Ctrl-C ends the cluster.
#
#   scripts/cluster.sh [FIRST_PORT]
set -euo pipefail
port=${1:-4443}
command -v moq-relay >/dev/null || { echo 'missing: moq-relay (cargo install moq-relay)' >&2; exit 1; }
command -v openssl >/dev/null || { echo 'missing: openssl' >&2; exit 1; }
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$folder"' EXIT
# Browsers accept a certificate by its hash if it is of this kind and valid for at most two weeks.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 13 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$folder/key.pem" -out "$folder/certificate.pem" 2>/dev/null
hash=$(openssl x509 -in "$folder/certificate.pem" -outform der | openssl dgst -sha256 -r | cut -d' ' -f1)
relay() {
  moq-relay --listen "127.0.0.1:$1" --listen-tls-cert "$folder/certificate.pem" --listen-tls-key "$folder/key.pem" \
    --auth-public 'anon/**' --log-level error "${@:2}" &
}
relay "$port" --cluster-id 1
sleep 0.5
for nth in 1 2; do
  # Outside of one machine, use a token instead of the public permission: see --cluster-token of moq-relay.
  relay $((port + nth)) --cluster-id $((nth + 1)) --cluster-connect "https://127.0.0.1:$port/" --connect-tls-fingerprint "$hash"
done
cat <<END
kinepack-lab serve --insecure --publish https://127.0.0.1:$port/anon/cubes --relay-certificate $hash
kinepack-lab watch https://127.0.0.1:$((port + 1))/anon/cubes --relay-certificate $hash
kinepack-lab watch https://127.0.0.1:$((port + 2))/anon/cubes --relay-certificate $hash
END
wait
