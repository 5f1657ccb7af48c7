#ifndef PERSISTENCE_CSQLITE_SHIM_H
#define PERSISTENCE_CSQLITE_SHIM_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>

/* Swift imports neither variadic functions nor casts in macros. */

/// Switches one of the boolean settings of a connection, SQLITE_DBCONFIG_….
static inline int persistence_sqlite3_configure(sqlite3 *database, int setting, int value) {
  return sqlite3_db_config(database, setting, value, (int *)0);
}

/// Has SQLite no longer count the memory that it takes; SQLITE_MISUSE where it has begun its work already.
static inline int persistence_sqlite3_omit_memory_statistics(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

#ifdef __GLIBC__

/// A mutex as SQLite is given it: of which number it is, and the system's.
struct persistence_mutex {
  pthread_mutex_t mutex;
  int number;
};

static inline int persistence_mutex_begin(void) { return SQLITE_OK; }

static inline sqlite3_mutex *persistence_mutex_make(int number) {
  /* Those with numbers of their own are made once and never given back. */
  static struct persistence_mutex fixed[] = {
    {PTHREAD_MUTEX_INITIALIZER, 2}, {PTHREAD_MUTEX_INITIALIZER, 3}, {PTHREAD_MUTEX_INITIALIZER, 4},
    {PTHREAD_MUTEX_INITIALIZER, 5}, {PTHREAD_MUTEX_INITIALIZER, 6}, {PTHREAD_MUTEX_INITIALIZER, 7},
    {PTHREAD_MUTEX_INITIALIZER, 8}, {PTHREAD_MUTEX_INITIALIZER, 9}, {PTHREAD_MUTEX_INITIALIZER, 10},
    {PTHREAD_MUTEX_INITIALIZER, 11}, {PTHREAD_MUTEX_INITIALIZER, 12}, {PTHREAD_MUTEX_INITIALIZER, 13},
  };
  if (number > SQLITE_MUTEX_RECURSIVE) {
    unsigned long place = (unsigned long)number - 2;
    return place < sizeof fixed / sizeof *fixed ? (sqlite3_mutex *)&fixed[place] : 0;
  }
  struct persistence_mutex *made = (struct persistence_mutex *)malloc(sizeof *made);
  if (!made) return 0;
  pthread_mutexattr_t kind;
  made->number = number;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(
    &kind, number == SQLITE_MUTEX_RECURSIVE ? PTHREAD_MUTEX_RECURSIVE_NP : PTHREAD_MUTEX_ADAPTIVE_NP);
  int code = pthread_mutex_init(&made->mutex, &kind);
  pthread_mutexattr_destroy(&kind);
  if (code == 0) return (sqlite3_mutex *)made;
  free(made);
  return 0;
}

static inline void persistence_mutex_end(sqlite3_mutex *mutex) {
  struct persistence_mutex *ended = (struct persistence_mutex *)mutex;
  if (ended->number > SQLITE_MUTEX_RECURSIVE) return;
  pthread_mutex_destroy(&ended->mutex);
  free(ended);
}

static inline void persistence_mutex_enter(sqlite3_mutex *mutex) {
  pthread_mutex_lock(&((struct persistence_mutex *)mutex)->mutex);
}

static inline int persistence_mutex_try(sqlite3_mutex *mutex) {
  return pthread_mutex_trylock(&((struct persistence_mutex *)mutex)->mutex) == 0 ? SQLITE_OK : SQLITE_BUSY;
}

static inline void persistence_mutex_leave(sqlite3_mutex *mutex) {
  pthread_mutex_unlock(&((struct persistence_mutex *)mutex)->mutex);
}

/* Asked in assertions of debug builds of SQLite only, which take 1 for "as it should be". */
static inline int persistence_mutex_is_held(sqlite3_mutex *mutex) { return 1; }

/// Gives SQLite mutexes that are tried some times before the thread goes to sleep; SQLITE_MISUSE where it has begun its
/// work already.
static inline int persistence_sqlite3_use_adaptive_mutexes(void) {
  sqlite3_mutex_methods methods = {
    persistence_mutex_begin, persistence_mutex_begin, persistence_mutex_make, persistence_mutex_end,
    persistence_mutex_enter, persistence_mutex_try, persistence_mutex_leave, persistence_mutex_is_held,
    persistence_mutex_is_held,
  };
  return sqlite3_config(SQLITE_CONFIG_MUTEX, &methods);
}

#else

static inline int persistence_sqlite3_use_adaptive_mutexes(void) { return SQLITE_OK; }

#endif

/// The destructor that makes SQLite copy what is bound, SQLITE_TRANSIENT.
static inline sqlite3_destructor_type persistence_sqlite3_transient(void) {
  return SQLITE_TRANSIENT;
}

#endif
