#ifndef PERSISTENCE_CSQLITE_SHIM_H
#define PERSISTENCE_CSQLITE_SHIM_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>

/* Swift imports neither variadic functions nor macros with casts. */

/// Sets one of the boolean settings of a connection, SQLITE_DBCONFIG_….
static inline int persistence_sqlite3_configure(sqlite3 *database, int setting, int value) {
  return sqlite3_db_config(database, setting, value, (int *)0);
}

/// The present value of a setting of a connection.
static inline int persistence_sqlite3_setting(sqlite3 *database, int setting) {
  int value = 0;
  sqlite3_db_config(database, setting, -1, &value);
  return value;
}

/// Stops SQLite from counting the memory that it uses; SQLITE_MISUSE if SQLite is already initialised.
static inline int persistence_sqlite3_omit_memory_statistics(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

#ifdef __GLIBC__

/// A mutex for SQLite: the system's mutex and SQLite's number for its kind.
struct persistence_mutex {
  pthread_mutex_t mutex;
  int number;
};

static inline int persistence_mutex_begin(void) { return SQLITE_OK; }

static inline sqlite3_mutex *persistence_mutex_make(int number) {
  /* SQLite's static mutexes have numbers of their own, exist once and are never freed. */
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

/* Only assertions in debug builds of SQLite call this; 1 satisfies them. */
static inline int persistence_mutex_is_held(sqlite3_mutex *mutex) { return 1; }

/// Makes SQLite use mutexes that spin before the thread sleeps; SQLITE_MISUSE if SQLite is already initialised.
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

/// The destructor that makes SQLite copy a bound value, SQLITE_TRANSIENT.
static inline sqlite3_destructor_type persistence_sqlite3_transient(void) {
  return SQLITE_TRANSIENT;
}

#endif
