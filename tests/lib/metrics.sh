# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Scrapers for the tests of metrics: source it behind lib.sh. What is started is added to `started`,
# which the test kills at its end.

# free_port: one that nobody listens on
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# serve_output COMMAND...: each GET is answered with what it prints, as OpenMetrics; sets served, a port
serve_output() {
  cat >serve.py <<'PY'
import http.server, subprocess, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE).stdout
        self.send_response(200)
        self.send_header("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *rest): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
PY
  python3 serve.py "$@" >served.txt 2>/dev/null &
  started+=($!)
  until_true test -s served.txt
  served=$(cat served.txt)
}

# start_prometheus INTERVAL: scrapes the port `served`; sets prometheus, its address
start_prometheus() {
  local port
  printf 'global: {scrape_interval: %s}\nscrape_configs:\n- job_name: aprof\n  static_configs: [{targets: ["127.0.0.1:%s"]}]\n' \
    "$1" "$served" >prometheus.yml
  port=$(free_port)
  prometheus=http://127.0.0.1:$port
  prometheus --config.file=prometheus.yml --storage.tsdb.path=data \
    --web.listen-address="127.0.0.1:$port" >prometheus.log 2>&1 &
  started+=($!)
}

# ask QUERY [ADDRESS]: the value of its only result, or of the first; ADDRESS: that of Prometheus
ask() {
  curl -s --max-time 5 -G "${2:-$prometheus}/api/v1/query" --data-urlencode "query=$1" |
    value - '*[row.value[1] for row in t.data.result[:1]]'
}

# answers WANTED QUERY: whether that is the answer
answers() {
  [ "$(ask "$2")" = "$1" ]
}
