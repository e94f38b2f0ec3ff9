# What tests want besides the installed MariaDB, in the variables that they look at. To be sourced.
if [[ -z ${PLIMSOLL_TEST_MYSQLD:-} ]]; then
  PLIMSOLL_TEST_MYSQLD=$(tests/tools/get-mysql9 "${PLIMSOLL_TEST_MYSQL9_DIR:-/var/tmp/plimsoll-mysql9}") || true
  export PLIMSOLL_TEST_MYSQLD
fi
if [[ -z ${PLIMSOLL_TEST_MARIADB_PLUGINS:-} ]]; then
  PLIMSOLL_TEST_MARIADB_PLUGINS=$(tests/tools/get-mariadb-plugins /var/tmp/plimsoll-mariadb-plugins) || true
  export PLIMSOLL_TEST_MARIADB_PLUGINS
fi
if [[ -z ${PLIMSOLL_TEST_EXPORTERS:-} ]]; then
  PLIMSOLL_TEST_EXPORTERS=$(tests/tools/get-exporters /var/tmp/plimsoll-exporters) || true
  export PLIMSOLL_TEST_EXPORTERS
fi
