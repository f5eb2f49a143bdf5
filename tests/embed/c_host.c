/* The header is C99, and a C host can use every part of it. */
#include "interpreter/embed/tenscript.h"

#include <string.h>

static void count_text(void* user, const char* text, size_t size) {
  (void)text;
  *(size_t*)user += size;
}

static tsc_status* add_one(void* user, tsc_engine* engine, tsc_value* const* arguments, size_t count,
                           tsc_value** result) {
  const tsc_api* api = (const tsc_api*)user;
  int64_t number = 0;
  tsc_status* status;
  if (count != 1) return api->error_new(engine, "TypeError", "add_one takes one argument");
  status = api->as_int(arguments[0], &number);
  if (status) return status;
  return api->int_new(engine, number + 1, result);
}

/* 0 when everything went as it should, else the number of the step that did not. */
int run_c_host(void) {
  const tsc_api* api = tsc_get_api(TSC_API_VERSION);
  const char text[] = "import host\nx = host.add_one(41)\n";
  tsc_engine_options options;
  tsc_engine* engine = NULL;
  tsc_value* x = NULL;
  int64_t number = 0;
  size_t written = 0;
  if (!api || tsc_get_api(TSC_API_VERSION + 1)) return 1;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  if (api->engine_new(&options, &engine)) return 2;
  if (api->define(engine, "host", "add_one", add_one, (void*)(size_t)api, NULL)) return 3;
  if (api->run_source(engine, "c.tsc", text, sizeof text - 1)) return 4;
  if (api->get(engine, "x", &x) || api->as_int(x, &number) || number != 42) return 5;
  if (api->represent(engine, x, count_text, &written) || written != 2) return 6;
  api->value_free(x);
  api->engine_free(engine);
  api->value_free(NULL);
  api->status_free(NULL);
  api->engine_free(NULL);
  return 0;
}
