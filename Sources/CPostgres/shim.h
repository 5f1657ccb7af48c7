#ifndef PERSISTENCE_CPOSTGRES_SHIM_H
#define PERSISTENCE_CPOSTGRES_SHIM_H

#include <libpq-fe.h>

/* Swift imports no character literals. */
static const int PERSISTENCE_PG_SQLSTATE = PG_DIAG_SQLSTATE;
static const int PERSISTENCE_PG_MESSAGE = PG_DIAG_MESSAGE_PRIMARY;

/* Drops what the server says beside its answers; libpq would print it to the standard error. */
static inline void persistence_ignore_notice(void *context, const PGresult *result) {}

/// Drops the notices of a connection.
static inline void persistence_pq_ignore_notices(PGconn *connection) {
  PQsetNoticeReceiver(connection, persistence_ignore_notice, 0);
}

#endif
