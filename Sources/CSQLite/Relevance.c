#include "CSQLite.h"

#include <math.h>
#include <string.h>

/* FTS5's bm25() (https://sqlite.org/fts5.html#the_bm25_function) as a separate auxiliary function, with three changes.
   First, its first argument is a number of phrases: a row with the first one comes before all rows without it, then
   those with the second one, and so on. The arguments after it are the weights. Second, the last column does not count
   for the length of a row: it has other names of a hotel's place, of which a famous city has many. Third, the cost is
   limited.
   Before its first row bm25() counts all rows of each phrase in one call that can't be interrupted: for 26 words that
   each occur in 50,000 hotels this takes a tenth of a second. This function counts at most `most_counted` rows of a
   phrase. It then estimates the number of all rows from the last counted id, because ids count from 1. */

enum { most_counted = 4096 };

/* More than the sum for all phrases of an expression can be, for the first phrase; half as much for each further one. */
static const double first_phrase = 1e6;

/* The two constants of BM25 (k1 and b): how soon further occurrences of a word stop to count, and how much the length
   of a text lowers its score. */
static const double saturation = 1.2;
static const double length_weight = 0.75;

/* The data that all rows of a search share. */
typedef struct {
  int phrases;
  double average_length;
  /* The weight of each phrase, and how often the present row contains it. */
  double *weight;
  double *frequency;
} rank_data;

typedef struct {
  sqlite3_int64 rows;
  sqlite3_int64 last;
} row_count;

static int count_row(const Fts5ExtensionApi *api, Fts5Context *context, void *argument) {
  row_count *count = argument;
  count->rows++;
  count->last = api->xRowid(context);
  return count->rows < most_counted ? SQLITE_OK : SQLITE_DONE;
}

static int measure(
    const Fts5ExtensionApi *api, Fts5Context *context, sqlite3_int64 rows, rank_data *data) {
  for (int phrase = 0; phrase < data->phrases; phrase++) {
    row_count count = {0, 0};
    int result = api->xQueryPhrase(context, phrase, &count, count_row);
    if (result != SQLITE_OK) return result;
    double having = (double)count.rows;
    if (count.rows == most_counted && count.last > 0)
      having = fmax(having, fmin((double)rows, having * (double)rows / (double)count.last));
    double weight = log(((double)rows - having + 0.5) / (having + 0.5));
    /* A phrase that more than half of the rows contain still counts a little. */
    data->weight[phrase] = weight > 0 ? weight : 1e-6;
  }
  return SQLITE_OK;
}

static int prepare(const Fts5ExtensionApi *api, Fts5Context *context, rank_data **answer) {
  *answer = api->xGetAuxdata(context, 0);
  if (*answer) return SQLITE_OK;
  int phrases = api->xPhraseCount(context);
  sqlite3_uint64 size = sizeof(rank_data) + (sqlite3_uint64)phrases * 2 * sizeof(double);
  rank_data *data = sqlite3_malloc64(size);
  if (!data) return SQLITE_NOMEM;
  memset(data, 0, size);
  data->phrases = phrases;
  data->weight = (double *)(data + 1);
  data->frequency = data->weight + phrases;
  sqlite3_int64 rows = 0, words = 0, names = 0;
  int result = api->xRowCount(context, &rows);
  if (result == SQLITE_OK) result = api->xColumnTotalSize(context, -1, &words);
  if (result == SQLITE_OK)
    result = api->xColumnTotalSize(context, api->xColumnCount(context) - 1, &names);
  data->average_length = rows > 0 && words > names ? (double)(words - names) / (double)rows : 1;
  if (result == SQLITE_OK && rows > 0) result = measure(api, context, rows, data);
  if (result == SQLITE_OK) {
    *answer = data;
    return api->xSetAuxdata(context, data, sqlite3_free);
  }
  sqlite3_free(data);
  return result;
}

static int score(
    const Fts5ExtensionApi *api, Fts5Context *context, rank_data *data, int count,
    sqlite3_value **columns, double *answer) {
  int found = 0, length = 0, names = 0;
  int result = api->xInstCount(context, &found);
  memset(data->frequency, 0, (size_t)data->phrases * sizeof(double));
  for (int i = 0; result == SQLITE_OK && i < found; i++) {
    int phrase = 0, column = 0, offset = 0;
    result = api->xInst(context, i, &phrase, &column, &offset);
    if (result == SQLITE_OK)
      data->frequency[phrase] += column + 1 < count ? sqlite3_value_double(columns[column + 1]) : 1;
  }
  if (result == SQLITE_OK) result = api->xColumnSize(context, -1, &length);
  if (result == SQLITE_OK)
    result = api->xColumnSize(context, api->xColumnCount(context) - 1, &names);
  if (result != SQLITE_OK) return result;
  double penalty =
      1 - length_weight + length_weight * (length - names) / data->average_length;
  int leading = count > 0 ? sqlite3_value_int(columns[0]) : 0;
  double bonus = first_phrase;
  *answer = 0;
  for (int i = 0; i < data->phrases; i++, bonus /= 2) {
    double often = data->frequency[i];
    if (i < leading && often > 0) *answer -= bonus;
    *answer -= data->weight[i] * often * (saturation + 1) / (often + saturation * penalty);
  }
  return SQLITE_OK;
}

static void relevance(
    const Fts5ExtensionApi *api, Fts5Context *context, sqlite3_context *call, int count,
    sqlite3_value **columns) {
  rank_data *data = NULL;
  double answer = 0;
  int result = prepare(api, context, &data);
  if (result == SQLITE_OK) result = score(api, context, data, count, columns, &answer);
  if (result == SQLITE_OK) {
    sqlite3_result_double(call, answer);
  } else {
    sqlite3_result_error_code(call, result);
  }
}

int csqlite_add_relevance(sqlite3 *database) {
  fts5_api *api = NULL;
  sqlite3_stmt *statement = NULL;
  int result = sqlite3_prepare_v2(database, "SELECT fts5(?1)", -1, &statement, NULL);
  if (result != SQLITE_OK) return result;
  sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", NULL);
  sqlite3_step(statement);
  result = sqlite3_finalize(statement);
  if (result != SQLITE_OK) return result;
  if (!api || api->iVersion < 2) return SQLITE_ERROR;
  return api->xCreateFunction(api, "relevance", NULL, relevance, NULL);
}
