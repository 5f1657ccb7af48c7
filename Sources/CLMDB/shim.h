#ifndef PERSISTENCE_CLMDB_SHIM_H
#define PERSISTENCE_CLMDB_SHIM_H

#include <lmdb.h>

#endif
