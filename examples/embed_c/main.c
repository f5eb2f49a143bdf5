/* A C program that lends a buffer to a script, gives it a function, calls one of its functions and
 * shows its error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenscript/tenscript.h>

static const tsc_api* api;

static const char kScript[] =
    "import host\n"
    "\n"
    "def brighten(image, amount):\n"
    "    image += amount * host.gain()\n"
    "    return image.mean()\n"
    "\n"
    "def broken(image):\n"
    "    return image @ image\n";

static void print_text(void* user, const char* text, size_t size) { fwrite(text, 1, size, (FILE*)user); }

/* Every call returns NULL or a status that says what went wrong. */
static void check(tsc_status* status) {
  if (status == NULL) return;
  api->status_render(status, 0, print_text, stderr);
  api->status_free(status);
  exit(1);
}

/* host.gain(): no arguments, a float. */
static tsc_status* gain(void* user, tsc_engine* engine, tsc_value* const* arguments, size_t count, tsc_value** result) {
  (void)arguments;
  if (count != 0) return api->error_new(engine, "TypeError", "gain() takes no arguments");
  return api->float_new(engine, *(const double*)user, result);
}

static void count_release(void* user) { ++*(int*)user; }

int main(void) {
  float pixels[2 * 3] = {0, 1, 2, 3, 4, 5};
  const int64_t sizes[2] = {2, 3};
  double gain_value = 2.0, mean = 0;
  int released = 0;
  tsc_engine* engine = NULL;
  tsc_value *image = NULL, *amount = NULL, *brighten = NULL, *broken = NULL, *result = NULL;
  tsc_status* status;
  size_t i;

  api = tsc_get_api(TSC_API_VERSION);
  if (api == NULL) {
    fprintf(stderr, "the installed Tenscript is older than this program\n");
    return 1;
  }
  check(api->engine_new(NULL, &engine));
  check(api->define(engine, "host", "gain", gain, &gain_value, NULL));
  check(api->run_source(engine, "image.tsc", kScript, strlen(kScript)));

  /* The script works on `pixels` itself. */
  check(api->tensor_borrow(engine, TSC_FLOAT32, sizes, 2, pixels, count_release, &released, &image));
  check(api->float_new(engine, 10, &amount));
  check(api->get(engine, "brighten", &brighten));
  {
    tsc_value* arguments[2];
    arguments[0] = image;
    arguments[1] = amount;
    check(api->call(engine, brighten, arguments, 2, NULL, NULL, 0, &result));
  }
  check(api->as_float(result, &mean));
  printf("mean %g, pixels", mean);
  for (i = 0; i < 6; ++i) printf(" %g", pixels[i]);
  printf("\n");

  /* An error is data: its kind, its message, where it happened. */
  check(api->get(engine, "broken", &broken));
  status = api->call(engine, broken, &image, 1, NULL, NULL, 0, NULL);
  if (status == NULL) return 1;
  for (i = 0; i < api->status_frame_count(status); ++i) {
    tsc_frame frame;
    frame.struct_size = sizeof frame;
    if (api->status_frame(status, i, &frame)) printf("error at %s:%u in %s\n", frame.file, frame.line, frame.function);
  }
  printf("%s\n", api->status_message(status));
  api->status_free(status);

  api->value_free(result);
  api->value_free(broken);
  api->value_free(brighten);
  api->value_free(amount);
  api->value_free(image);
  printf("released %d\n", released);
  api->engine_free(engine);
  return released == 1 ? 0 : 1;
}
