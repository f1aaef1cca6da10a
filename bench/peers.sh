# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The tools of others that Debian offers, measured as our events are; part of events.sh.
# A tool that is not installed is named as left out.

left_out=()

# compile_peer OUTPUT COMPILER FLAG...
compile_peer() {
  local output=$1
  shift
  "$@" -std=gnu11 -O2 -D_GNU_SOURCE -pthread -o "$work/$output"
}

peers_prepare() {
  local peers=$bench_dir/peers
  compile_peer peer-plain "$cc" "$peers/call.c"
  compile_peer peer-gprof "$cc" -pg "$peers/call.c"
  "$cc" -O2 -c "$peers/hooks.c" -o "$work/hooks.o"
  compile_peer peer-functions "$cc" -finstrument-functions "$peers/call.c" "$work/hooks.o"
  command -v clang >/dev/null && compile_peer peer-xray clang -fxray-instrument \
    -fxray-instruction-threshold=100000 "$peers/call.c" 2>/dev/null ||
    left_out+=("LLVM XRay (clang, libclang-rt-14-dev)")
  compile_peer peer-usdt "$cc" "$peers/usdt.c" 2>/dev/null || left_out+=("USDT (systemtap-sdt-dev)")
  command -v uftrace >/dev/null || left_out+=("uftrace (uftrace)")
  command -v lttng-sessiond >/dev/null &&
    "$cc" -std=gnu11 -O2 -D_GNU_SOURCE -pthread -I"$peers" "$peers/lttng.c" -o "$work/peer-lttng" \
      -llttng-ust -ldl 2>/dev/null || left_out+=("LTTng-UST (lttng-tools, liblttng-ust-dev)")
  command -v go >/dev/null &&
    HOME=$work GOCACHE=$work/go go build -o "$work/peer-go" "$peers/tracer.go" ||
    left_out+=("Go's tracer (golang-go)")
}

# peer VARIANT COMMAND...
peer() {
  local variant=$1
  shift
  (cd "$work" && "$@" "batches=$batches" 2>>"$work/peers.log") |
    awk -F '\t' -v OFS='\t' -v variant="$variant" \
      '$2 ~ /^[0-9.]+$/ { print "peer", $1 == "call" ? variant : $1, $3, $2 }' >>"$work/samples"
}

# A session of our own that keeps the newest events in memory, unless somebody else's daemon
# is at work.
lttng_listening() {
  if pgrep -x lttng-sessiond >/dev/null; then
    return 1
  fi
  (lttng-sessiond --background --no-kernel --pidfile="$work/sessiond.pid" </dev/null &&
    lttng --no-sessiond create aprof-bench --snapshot --output="$work/lttng" &&
    lttng --no-sessiond enable-event -u 'bench:*' &&
    lttng --no-sessiond start) >"$work/lttng.log" 2>&1
}

lttng_round() {
  local daemon
  peer lttng-off ./peer-lttng
  if lttng_listening; then
    peer lttng-on ./peer-lttng
    lttng --no-sessiond destroy aprof-bench >/dev/null 2>&1 || true
  else
    say "bench: LTTng-UST: another lttng-sessiond runs, or ours did not start"
  fi
  daemon=$(cat "$work/sessiond.pid" 2>/dev/null) || return 0
  kill "$daemon" 2>/dev/null || true
  while kill -0 "$daemon" 2>/dev/null; do sleep 0.1; done # until it has let go of its sockets
  rm -f "$work/sessiond.pid"
}

peers_round() {
  local mode reads
  peer plain ./peer-plain
  peer gprof ./peer-gprof
  peer functions ./peer-functions
  [ ! -x "$work/peer-usdt" ] || peer usdt ./peer-usdt
  if [ -x "$work/peer-xray" ]; then
    for mode in basic fdr; do
      export XRAY_OPTIONS="patch_premain=true xray_mode=xray-$mode xray_logfile_base=$work/"
      peer "xray-$mode" ./peer-xray
    done
  fi
  if command -v uftrace >/dev/null; then
    peer uftrace uftrace record -d uftrace.data --no-event --no-libcall ./peer-gprof
  fi
  [ ! -x "$work/peer-lttng" ] || lttng_round
  if [ -x "$work/peer-go" ]; then # its times are ns: as multiples of this round's two reads
    reads=$(awk -F '\t' '$2 == "2 x rdtsc" { ns = $4 } END { print ns }' "$work/samples")
    taskset -c 0 "$work/peer-go" "$batches" | awk -v OFS='\t' -v reads="$reads" '
      { ns[$1] = $2 }
      END {
        print "peer", "go-off", ns["off"] / reads, ns["off"]
        print "peer", "go-on", ns["on"] / reads, ns["on"]
        print "peer", "go-part", (ns["on"] - ns["off"]) / reads, ns["on"] - ns["off"]
      }' >>"$work/samples"
  fi
}

peers_results() {
  echo "## Other tools, in the same rounds"
  echo
  echo "Two events each: a call of an instrumented function, entered and left, or two tracepoints."
  echo
  grep '^peer' "$work/samples" | matrix '%.2f x (%.1f ns)' $'\ttool
2 x rdtsc\ttwo reads of the time stamp counter
2 x clock_gettime\ttwo of `clock_gettime`
plain\tnone: the call alone
usdt\tUSDT, two probes, nobody listens
lttng-off\tLTTng-UST, two tracepoints, no session
gprof\tgprof: mcount counts the call (one event; no time)
functions\t`-finstrument-functions`: function and `rdtsc` into a ring, no more
uftrace\tuftrace: mcount and a trace in shared memory
xray-fdr\tLLVM XRay, FDR mode
lttng-on\tLTTng-UST, a session that keeps the newest
xray-basic\tLLVM XRay, basic mode
go-off\tGo: a goroutine hands over to another, tracer off
go-on\tthe same, execution tracer on
go-part\tthe difference: what the tracer takes' $'peer\ttwo events'
  echo
  [ ${#left_out[@]} -eq 0 ] || {
    printf 'Left out, not installed: '
    printf '%s; ' "${left_out[@]}" | sed 's/; $/.\n/'
    echo
  }
  echo "Versions:$(versions)."
}

versions() {
  local package version
  for package in clang uftrace liblttng-ust1 lttng-tools golang-go systemtap-sdt-dev; do
    version=$(dpkg-query -W -f '${Version}' "$package" 2>/dev/null) || continue
    [ -z "$version" ] || printf ' %s %s,' "$package" "$version"
  done | sed 's/,$//'
}
