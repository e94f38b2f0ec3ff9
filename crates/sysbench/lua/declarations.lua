-- What scripts and the modules of this program call through ffi.C. Structures are those of lua/sql/mod.rs.
ffi = require("ffi")
ffi.cdef[[
typedef enum {
  SB_CNT_OTHER, SB_CNT_READ, SB_CNT_WRITE, SB_CNT_TRX, SB_CNT_ERROR, SB_CNT_RECONNECT, SB_CNT_BYTES_READ,
  SB_CNT_BYTES_WRITTEN, SB_CNT_MAX
} sb_counter_type;

bool sb_more_events(int thread_id);
void sb_event_start(int thread_id);
void sb_event_stop(int thread_id);
void sb_counter_inc(int thread_id, sb_counter_type counter);
bool plimsoll_retry(void);
void plimsoll_log(int level, const char *text, size_t length);
const char *plimsoll_module(const char *name, size_t length, size_t *size);

uint32_t sb_rand_default(uint32_t a, uint32_t b);
uint32_t sb_rand_uniform(uint32_t a, uint32_t b);
uint32_t sb_rand_gaussian(uint32_t a, uint32_t b);
uint32_t sb_rand_special(uint32_t a, uint32_t b);
uint32_t sb_rand_pareto(uint32_t a, uint32_t b);
uint32_t sb_rand_zipfian(uint32_t a, uint32_t b);
uint32_t sb_rand_unique(void);
double sb_rand_uniform_double(void);
uint64_t sb_rand_uniform_uint64(void);
void sb_rand_str(const char *format, char *buffer);
uint32_t sb_rand_varstr(char *buffer, uint32_t min_length, uint32_t max_length);
void plimsoll_rand_str(const char *format, size_t length, char *buffer);

typedef struct sb_histogram sb_histogram_t;
sb_histogram_t *sb_histogram_new(size_t size, double range_min, double range_max);
void sb_histogram_update(sb_histogram_t *histogram, double value);
void sb_histogram_print(sb_histogram_t *histogram);
void sb_histogram_delete(sb_histogram_t *histogram);

typedef enum { DB_ERROR_NONE, DB_ERROR_IGNORABLE, DB_ERROR_FATAL } sql_error_t;

typedef enum {
  SQL_TYPE_NONE, SQL_TYPE_TINYINT, SQL_TYPE_SMALLINT, SQL_TYPE_INT, SQL_TYPE_BIGINT, SQL_TYPE_FLOAT, SQL_TYPE_DOUBLE,
  SQL_TYPE_TIME, SQL_TYPE_DATE, SQL_TYPE_DATETIME, SQL_TYPE_TIMESTAMP, SQL_TYPE_CHAR, SQL_TYPE_VARCHAR
} sql_bind_type_t;

typedef struct { const char *sname; } sql_driver;
typedef struct { uint32_t len; const char *ptr; } sql_value;
typedef struct { sql_value *values; } sql_row;
typedef struct { sb_counter_type counter; uint32_t nrows; uint32_t nfields; } sql_result;
typedef struct {
  sql_error_t error; int sql_errno; const char *sql_state; const char *sql_errmsg; sql_driver *driver;
  sql_result result; sql_row row;
} sql_connection;
typedef struct { sql_connection *connection; uint32_t nparams; } sql_statement;
typedef struct {
  sql_bind_type_t type; bool is_null; int64_t int_value; double double_value; uint64_t length; uint64_t max_length;
  char *buffer;
} sql_bind;

sql_driver *db_create(const char *name);
sql_connection *db_connection_create(sql_driver *driver);
bool db_connection_close(sql_connection *connection);
bool db_connection_reconnect(sql_connection *connection);
void db_connection_free(sql_connection *connection);
sql_result *db_query(sql_connection *connection, const char *query, size_t length);
bool db_more_results(sql_connection *connection);
sql_result *db_next_result(sql_connection *connection);
sql_row *db_fetch_row(sql_result *result);
int db_free_results(sql_result *result);
int db_bulk_insert_init(sql_connection *connection, const char *query, size_t length);
int db_bulk_insert_next(sql_connection *connection, const char *row, size_t length);
int db_bulk_insert_done(sql_connection *connection);
sql_statement *db_prepare(sql_connection *connection, const char *query, size_t length);
sql_bind *db_bind_create(sql_bind_type_t type, uint64_t max_length);
int db_bind_param(sql_statement *statement, sql_bind **params, size_t count);
sql_result *db_execute(sql_statement *statement);
int db_close(sql_statement *statement);
void db_statement_free(sql_statement *statement);
void db_param_free(sql_bind *param);
void db_param_fill(sql_bind *param, const char *text, size_t length, bool is_template);
]]
