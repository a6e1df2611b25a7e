#!/usr/bin/env bash
# Looks bank payments up over HTTPS on loopback, beside curl: nginx gives one published answer.
set -euo pipefail
tender=$1 bench=$2
for name in nginx openssl curl python3; do
  command -v "$name" > /dev/null || { echo "skipped: there is no $name"; exit 0; }
done
folder=$(mktemp -d)
trap 'kill "$(cat "$folder/nginx.pid")" "$delay" 2> /dev/null || true; rm -rf "$folder"' EXIT
delay=
answers=$(cd "$(dirname "$0")/../TrueLayerTests/Answers/truelayer-java/payments" && pwd)
cp "$answers/200.get_payment_by_id.bank_transfer.authorized.json" "$folder/answer.json"
# Answers of 4 MB: characters that nobody sees, and card numbers.
python3 - "$folder" << 'END'
import json, sys
folder = sys.argv[1]
answer = json.load(open(folder + "/answer.json"))
for name, unit in [("unseen", "\u200b"), ("cards", "4111111111111111 ")]:
    count = 4_000_000 // len(unit.encode())
    answer["metadata"] = {"note": unit * count}
    with open(f"{folder}/{name}.json", "w") as file:
        json.dump(answer, file, ensure_ascii=False)
END
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
  -addext "subjectAltName=IP:127.0.0.1" -keyout "$folder/key.pem" -out "$folder/root.pem" \
  2> /dev/null
# As many roots as the system has, in one file for curl and in a folder by their names' hashes.
cat /etc/ssl/certs/ca-certificates.crt "$folder/root.pem" > "$folder/bundle.pem"
mkdir "$folder/roots"
awk -v folder="$folder/roots" '/BEGIN CERTIFICATE/ { n++ } { print > (folder "/" n ".pem") }' \
  "$folder/bundle.pem"
openssl rehash "$folder/roots" 2> /dev/null
port=$((20000 + RANDOM % 20000))
cat > "$folder/nginx.conf" << END
pid $folder/nginx.pid;
error_log $folder/error.log;
worker_processes 1;
events { worker_connections 512; }
http {
  access_log off;
  keepalive_requests 1000000;
  default_type "application/json; charset=UTF-8";
  client_body_temp_path $folder/1;
  proxy_temp_path $folder/2;
  fastcgi_temp_path $folder/3;
  uwsgi_temp_path $folder/4;
  scgi_temp_path $folder/5;
  http2_max_concurrent_streams 256;
  server {
    listen 127.0.0.1:$port ssl;
    listen 127.0.0.1:$((port + 1)) ssl http2;
    ssl_certificate $folder/root.pem;
    ssl_certificate_key $folder/key.pem;
    location /v3/ { root $folder; try_files /answer.json =404; }
    location /v3/payments/00000000-0000-4000-9000-000000000001 {
      root $folder; try_files /unseen.json =404;
    }
    location /v3/payments/00000000-0000-4000-9000-000000000002 {
      root $folder; try_files /cards.json =404;
    }
  }
}
END
# Its workers run as somebody else, who must be let in.
chmod 755 "$folder"
nginx -c "$folder/nginx.conf" 2> /dev/null
python3 "$(dirname "$0")/delay.py" $((port + 2)) $((port + 1)) 100 &
delay=$!
plain=https://127.0.0.1:$port multiplexed=https://127.0.0.1:$((port + 1))
far=https://127.0.0.1:$((port + 2))
for number in $(seq 10000); do
  printf '00000000-0000-4000-8000-%012d\n' "$number"
done > "$folder/ids10.txt"
head -n 1000 "$folder/ids10.txt" > "$folder/ids.txt"
list() {
  sed "s|.*|url = \"$1/v3/payments/&\"\noutput = \"/dev/null\"|" "$2"
}
list "$plain" "$folder/ids.txt" > "$folder/curl.1.cfg"
list "$multiplexed" "$folder/ids.txt" > "$folder/curl.2.cfg"
list "$plain" "$folder/ids10.txt" > "$folder/curl10.1.cfg"
list "$multiplexed" "$folder/ids10.txt" > "$folder/curl10.2.cfg"
list "$far" "$folder/ids.txt" > "$folder/curl.far.cfg"
"$bench" "$tender" "$folder" 60 "$plain" "$multiplexed" "$far"
