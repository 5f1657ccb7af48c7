#include <libpq-fe.h>

/* Swift imports no character literals. */
static const int RAW_PG_SQLSTATE = PG_DIAG_SQLSTATE;
