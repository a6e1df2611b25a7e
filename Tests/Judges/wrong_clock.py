"""An HTTP server whose clock is some seconds off, until standard input ends.

It prints {"port"} and answers every request with an empty look-up of Pay Theory's and a Date of another
time.
"""

import email.utils
import http.server
import json
import sys
import threading
import time

OFF = int(sys.argv[1])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def date_time_string(self, timestamp=None):
        return email.utils.formatdate(time.time() + OFF, usegmt=True)

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        nothing = {"items": [], "total_row_count": 0}
        kinds = ("transactions", "authorizations")
        body = json.dumps({"pt-token": "t", "data": {kind: nothing for kind in kinds}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"port": server.server_address[1]}), flush=True)
sys.stdin.read()
