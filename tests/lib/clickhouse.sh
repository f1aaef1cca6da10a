# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # src, work, started
# A ClickHouse for tests that have sourced lib.sh and lib/metrics.sh: clickhouse_start makes one in
# the scratch directory, and sets clickhouse_port; started is the test's list of what it ends.

# clickhouse_ask QUERY: what is to be inserted comes on standard input
clickhouse_ask() {
  curl -sS --data-binary @- "http://127.0.0.1:$clickhouse_port/?query=$(python3 -c 'import sys, urllib.parse
print(urllib.parse.quote(sys.argv[1]))' "$1")"
}

# clickhouse_statement N: of doc/clickhouse.sql, the table's for 0
clickhouse_statement() {
  sed 's/--.*//' "$src/doc/clickhouse.sql" | awk -v RS=';' -v n="$1" 'NR == n + 1'
}

clickhouse_start() {
  clickhouse_port=$(free_port)
  cat >users.xml <<'XML'
<yandex>
  <profiles><default></default></profiles>
  <users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
  <quotas><default></default></quotas>
</yandex>
XML
  cat >config.xml <<XML
<yandex>
  <logger><level>warning</level><console>1</console></logger>
  <listen_host>127.0.0.1</listen_host><http_port>$clickhouse_port</http_port>
  <path>$work/data/</path><tmp_path>$work/tmp/</tmp_path><users_config>$work/users.xml</users_config>
  <default_profile>default</default_profile><default_database>default</default_database>
  <mark_cache_size>100000000</mark_cache_size>
</yandex>
XML
  clickhouse-server --config-file=config.xml >clickhouse.log 2>&1 8>&- &
  started+=($!)
  clickhouse_answers() { [ "$(clickhouse_ask 'SELECT 1' </dev/null)" = 1 ]; }
  until_true clickhouse_answers
}
