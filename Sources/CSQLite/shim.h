#ifndef PERSISTENCE_CSQLITE_SHIM_H
#define PERSISTENCE_CSQLITE_SHIM_H

#include <sqlite3.h>

/* Swift imports neither variadic functions nor casts in macros. */

/// Switches one of the boolean settings of a connection, SQLITE_DBCONFIG_….
static inline int persistence_sqlite3_configure(sqlite3 *database, int setting, int value) {
  return sqlite3_db_config(database, setting, value, (int *)0);
}

/// Has SQLite no longer count the memory that it takes; SQLITE_MISUSE where it has begun its work already.
static inline int persistence_sqlite3_omit_memory_statistics(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/// The destructor that makes SQLite copy what is bound, SQLITE_TRANSIENT.
static inline sqlite3_destructor_type persistence_sqlite3_transient(void) {
  return SQLITE_TRANSIENT;
}

#endif
