// The part of libpq's interface that PostgresEngine uses, version 14 or later. The program does not link libpq: with
// stores in files it needs neither libpq nor the fifteen libraries that libpq needs. cpostgres_load() loads it.
// The binary interface of libpq.so.5 is stable: https://www.postgresql.org/docs/current/libpq.html
#ifndef CPOSTGRES_H
#define CPOSTGRES_H

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

typedef enum { CONNECTION_OK, CONNECTION_BAD } ConnStatusType;

typedef enum {
  PGRES_EMPTY_QUERY,
  PGRES_COMMAND_OK,
  PGRES_TUPLES_OK,
  PGRES_COPY_OUT,
  PGRES_COPY_IN,
  PGRES_BAD_RESPONSE,
  PGRES_NONFATAL_ERROR,
  PGRES_FATAL_ERROR,
  PGRES_COPY_BOTH,
  PGRES_SINGLE_TUPLE,
  PGRES_PIPELINE_SYNC,
  PGRES_PIPELINE_ABORTED
} ExecStatusType;

typedef struct pgNotify {
  char *relname;
  int be_pid;
  char *extra;
  struct pgNotify *next;
} PGnotify;

typedef struct {
  char *keyword;
  char *envvar;
  char *compiled;
  char *val;
  char *label;
  char *dispchar;
  int dispsize;
} PQconninfoOption;

typedef void (*PQnoticeReceiver)(void *context, const PGresult *result);

// Each function: the type of its result, its name, its parameters, and their names.
#define CPOSTGRES_FUNCTIONS(F, P)                                                                   \
  F(PGconn *, PQconnectdbParams,                                                                    \
    (const char *const *keywords, const char *const *values, int expand_dbname),                    \
    (keywords, values, expand_dbname))                                                              \
  F(PQconninfoOption *, PQconninfoParse, (const char *conninfo, char **message),                    \
    (conninfo, message))                                                                            \
  F(ConnStatusType, PQstatus, (const PGconn *connection), (connection))                             \
  F(char *, PQerrorMessage, (const PGconn *connection), (connection))                               \
  F(int, PQsocket, (const PGconn *connection), (connection))                                        \
  F(int, PQbackendPID, (const PGconn *connection), (connection))                                    \
  F(int, PQsetnonblocking, (PGconn *connection, int value), (connection, value))                    \
  F(int, PQenterPipelineMode, (PGconn *connection), (connection))                                   \
  F(int, PQpipelineSync, (PGconn *connection), (connection))                                        \
  F(int, PQsendPrepare,                                                                             \
    (PGconn *connection, const char *name, const char *query, int count, const unsigned *types),    \
    (connection, name, query, count, types))                                                        \
  F(int, PQsendQueryPrepared,                                                                       \
    (PGconn *connection, const char *name, int count, const char *const *values,                    \
     const int *lengths, const int *formats, int resultFormat),                                     \
    (connection, name, count, values, lengths, formats, resultFormat))                              \
  F(int, PQflush, (PGconn *connection), (connection))                                               \
  F(int, PQconsumeInput, (PGconn *connection), (connection))                                        \
  F(int, PQisBusy, (PGconn *connection), (connection))                                              \
  F(PGresult *, PQgetResult, (PGconn *connection), (connection))                                    \
  F(PGnotify *, PQnotifies, (PGconn *connection), (connection))                                     \
  F(PQnoticeReceiver, PQsetNoticeReceiver,                                                          \
    (PGconn *connection, PQnoticeReceiver receiver, void *context),                                 \
    (connection, receiver, context))                                                                \
  F(ExecStatusType, PQresultStatus, (const PGresult *result), (result))                             \
  F(char *, PQresultErrorField, (const PGresult *result, int code), (result, code))                 \
  F(int, PQntuples, (const PGresult *result), (result))                                             \
  F(int, PQnfields, (const PGresult *result), (result))                                             \
  F(char *, PQcmdTuples, (PGresult *result), (result))                                              \
  F(char *, PQgetvalue, (const PGresult *result, int row, int column), (result, row, column))       \
  F(int, PQgetlength, (const PGresult *result, int row, int column), (result, row, column))         \
  F(int, PQgetisnull, (const PGresult *result, int row, int column), (result, row, column))         \
  P(PQfinish, (PGconn *connection), (connection))                                                   \
  P(PQclear, (PGresult *result), (result))                                                          \
  P(PQconninfoFree, (PQconninfoOption *options), (options))                                         \
  P(PQfreemem, (void *memory), (memory))

#define CPOSTGRES_FIELD(result, name, parameters, arguments) result(*name) parameters;
#define CPOSTGRES_VOID_FIELD(name, parameters, arguments) void(*name) parameters;
struct cpostgres_functions {
  CPOSTGRES_FUNCTIONS(CPOSTGRES_FIELD, CPOSTGRES_VOID_FIELD)
};

// Loads libpq, once; any thread may call it. Returns why it can't be loaded, or NULL. No other function may be called
// before this has returned NULL.
const char *cpostgres_load(void);

// The functions of libpq, set by cpostgres_load().
extern struct cpostgres_functions cpostgres_functions;

#define CPOSTGRES_CALL(result, name, parameters, arguments)                                         \
  static inline result name parameters { return cpostgres_functions.name arguments; }
#define CPOSTGRES_VOID_CALL(name, parameters, arguments)                                            \
  static inline void name parameters { cpostgres_functions.name arguments; }
CPOSTGRES_FUNCTIONS(CPOSTGRES_CALL, CPOSTGRES_VOID_CALL)

#endif
