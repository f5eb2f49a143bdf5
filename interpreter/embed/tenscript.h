/* Tenscript's public C interface.
 *
 * For: C and C++ programs that run .tsc source. Knows: engines, values, statuses. Shows: no C++
 * type, no LLVM, no runtime type. Keeps: no exception and no longjmp crosses this line; every call
 * that can fail returns a status (NULL is success); the function table only grows; two engines do
 * not see each other.
 *
 * An engine is used by one thread at a time; `interrupt` alone may be called from any thread and
 * from a signal handler. Handles (engine, value, status) are freed by the caller, freeing NULL is
 * allowed, and a value must be freed before its engine. Text that a function hands out belongs to
 * the handle it came from; text given to a sink is gone when the sink returns.
 *
 *   const tsc_api* api = tsc_get_api(TSC_API_VERSION);
 *   tsc_engine* engine;
 *   tsc_status* status = api->engine_new(NULL, &engine);
 *   if (!status) status = api->run_file(engine, "model.tsc");
 *   if (status) fprintf(stderr, "%s\n", api->status_message(status));
 *   api->status_free(status);
 *   api->engine_free(engine);
 */
#ifndef TENSCRIPT_H
#define TENSCRIPT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TSC_API_VERSION 1

typedef struct tsc_engine tsc_engine;
typedef struct tsc_value tsc_value;
typedef struct tsc_status tsc_status;

typedef enum tsc_code {
  TSC_OK = 0,
  TSC_SCRIPT_ERROR = 1, /* an exception that the script did not catch */
  TSC_SYNTAX_ERROR = 2, /* the source is not a program */
  TSC_BAD_ARGUMENT = 3, /* this interface was used wrongly, a wrong kind of value included */
  TSC_NOT_FOUND = 4,    /* no such file, module or name */
  TSC_INTERRUPTED = 5,  /* stopped by `interrupt` */
  TSC_EXIT = 6,         /* the script called sys.exit: see status_exit_code */
  TSC_INTERNAL = 7      /* a fault of Tenscript's own */
} tsc_code;

typedef enum tsc_kind {
  TSC_NONE = 0,
  TSC_BOOL = 1,
  TSC_INT = 2,
  TSC_FLOAT = 3,
  TSC_STR = 4,
  TSC_LIST = 5,
  TSC_TUPLE = 6,
  TSC_DICT = 7,
  TSC_TENSOR = 8,
  TSC_CALLABLE = 9,
  TSC_OBJECT = 10
} tsc_kind;

typedef enum tsc_dtype {
  TSC_BOOL8 = 0,
  TSC_UINT8 = 1,
  TSC_INT32 = 2,
  TSC_INT64 = 3,
  TSC_BFLOAT16 = 4,
  TSC_FLOAT32 = 5,
  TSC_FLOAT64 = 6
} tsc_dtype;

typedef enum tsc_stream { TSC_STDOUT = 1, TSC_STDERR = 2 } tsc_stream;

/* A tri-state: 0 leaves the engine's default. */
typedef enum tsc_switch { TSC_DEFAULT = 0, TSC_ON = 1, TSC_OFF = 2 } tsc_switch;

typedef void (*tsc_output)(void* user, tsc_stream stream, const char* text, size_t size);
typedef void (*tsc_sink)(void* user, const char* text, size_t size);

/* A function of the host. It returns NULL and sets *result, or returns a status made by
 * `error_new`. */
typedef tsc_status* (*tsc_host_function)(void* user, tsc_engine* engine,
                                         tsc_value* const* arguments, size_t count,
                                         tsc_value** result);

/* What a script may reach outside itself. An engine grants nothing unless its options say so; what is
 * not granted raises PermissionError in the script. */
typedef enum tsc_grant {
  TSC_GRANT_READ = 1,  /* any file; read_roots grant single folders */
  TSC_GRANT_WRITE = 2, /* any file; write_roots grant single folders */
  TSC_GRANT_ENVIRONMENT = 4,
  TSC_GRANT_PROCESS = 8, /* other processes, and what is known of this one */
  TSC_GRANT_CLOCK = 16,
  TSC_GRANT_NETWORK = 32
} tsc_grant;
#define TSC_GRANT_ALL 0xffffffffu

/* Set struct_size to sizeof(tsc_engine_options) and leave the rest zero for the defaults. */
typedef struct tsc_engine_options {
  size_t struct_size;
  uint32_t threads; /* 0: one for each core */
  tsc_switch jit;   /* TSC_OFF: the interpreter runs everything */
  uint64_t seed;    /* used when has_seed is not 0 */
  int has_seed;
  uint32_t max_depth; /* script calls inside one another; 0: 1000 */
  tsc_output output;  /* NULL: the process's own standard output and error */
  void* output_user;
  const char* const* arguments; /* sys.argv */
  size_t argument_count;
  const char* const* search_paths; /* where `import` looks, before the library; needs no grant */
  size_t search_path_count;
  const char* disabled_passes; /* "fuse,memory": compiler passes to leave out */
  const char* logs;            /* "graph_breaks,recompiles": events to print as they come */
  int stress_break;            /* tests: every captured statement leaves the compiled region */
  int strict_compiler;         /* tests: a fault of the compiler is an error, not a fallback */
  uint32_t grants;             /* tsc_grant bits */
  const char* const* read_roots; /* folders below which files may be read */
  size_t read_root_count;
  const char* const* write_roots; /* the same for writing, which does not include reading */
  size_t write_root_count;
  const char* cache_dir;       /* where compiled kernels are kept between processes; NULL or "": no
                                  file is read or written. Machine code is run from there: the
                                  folder must be this user's alone, and is made so when missing */
  uint64_t cache_bytes;        /* at most so many in that folder, the least recently used go;
                                  0: 1 GiB */
  int explain_asserts; /* a failed `assert` of the text that is run tells the values it compared */
} tsc_engine_options;

/* One line of a traceback, oldest call first. Columns count characters from 1; 0: unknown. */
typedef struct tsc_frame {
  size_t struct_size;
  const char* file;
  const char* function;
  const char* source_line; /* without its line break; "" when the source is gone */
  uint32_t line;
  uint32_t column;
  uint32_t end_column;
} tsc_frame;

typedef struct tsc_tensor_info {
  size_t struct_size;
  tsc_dtype dtype;
  uint32_t rank;
  const int64_t* sizes;   /* live as long as the value handle */
  const int64_t* strides; /* in elements */
  void* data;             /* the first element, in the tensor's own memory */
} tsc_tensor_info;

typedef struct tsc_statistics {
  size_t struct_size;
  double compile_seconds; /* spent in the compiler */
  int64_t tensor_allocations;
  int64_t tensor_bytes; /* held now */
  int64_t peak_tensor_bytes;
} tsc_statistics;

/* The function table. Entries are only ever added at the end. */
typedef struct tsc_api {
  uint32_t version;
  const char* (*version_text)(void);

  /* Engines. */
  tsc_status* (*engine_new)(const tsc_engine_options* options, tsc_engine** engine);
  void (*engine_free)(tsc_engine* engine);
  void (*interrupt)(tsc_engine* engine); /* any thread, signal safe */
  void (*clear_interrupt)(tsc_engine* engine);

  /* Running. Source runs in the module __main__ of the engine, which keeps its names. */
  tsc_status* (*run_source)(tsc_engine* engine, const char* name, const char* text, size_t size);
  tsc_status* (*run_file)(tsc_engine* engine, const char* path);
  tsc_status* (*run_module)(tsc_engine* engine, const char* dotted_name);
  /* One entry of a prompt: *value is its last expression's value, or NULL when it has none. */
  tsc_status* (*run_entry)(tsc_engine* engine, const char* name, const char* text, size_t size,
                           tsc_value** value);
  /* 1 when the text is the beginning of a statement that needs more lines. */
  int (*is_incomplete)(tsc_engine* engine, const char* text, size_t size);

  /* Names of __main__, attributes, calls. A dotted name follows attributes. */
  tsc_status* (*get)(tsc_engine* engine, const char* dotted_name, tsc_value** value);
  tsc_status* (*set)(tsc_engine* engine, const char* name, tsc_value* value);
  tsc_status* (*get_attribute)(tsc_engine* engine, tsc_value* object, const char* name,
                               tsc_value** value);
  tsc_status* (*call)(tsc_engine* engine, tsc_value* function, tsc_value* const* arguments,
                      size_t count, const char* const* keyword_names,
                      tsc_value* const* keyword_values, size_t keyword_count, tsc_value** result);
  /* Makes `module.name` callable by the script; drop(user) runs when the engine goes. */
  tsc_status* (*define)(tsc_engine* engine, const char* module, const char* name,
                        tsc_host_function function, void* user, void (*drop)(void* user));

  /* Making values. */
  tsc_status* (*none_new)(tsc_engine* engine, tsc_value** value);
  tsc_status* (*bool_new)(tsc_engine* engine, int truth, tsc_value** value);
  tsc_status* (*int_new)(tsc_engine* engine, int64_t number, tsc_value** value);
  tsc_status* (*float_new)(tsc_engine* engine, double number, tsc_value** value);
  tsc_status* (*str_new)(tsc_engine* engine, const char* text, size_t size, tsc_value** value);
  tsc_status* (*list_new)(tsc_engine* engine, tsc_value* const* items, size_t count,
                          tsc_value** value);
  tsc_status* (*tuple_new)(tsc_engine* engine, tsc_value* const* items, size_t count,
                           tsc_value** value);
  tsc_status* (*dict_new)(tsc_engine* engine, tsc_value* const* keys, tsc_value* const* values,
                          size_t count, tsc_value** value);
  /* Copies `data`, which is row-major. NULL data: the tensor is zero. */
  tsc_status* (*tensor_new)(tsc_engine* engine, tsc_dtype dtype, const int64_t* sizes,
                            uint32_t rank, const void* data, tsc_value** value);
  /* Uses `data` in place; release(user) runs once, when the last view of it is gone. */
  tsc_status* (*tensor_borrow)(tsc_engine* engine, tsc_dtype dtype, const int64_t* sizes,
                               uint32_t rank, void* data, void (*release)(void* user), void* user,
                               tsc_value** value);
  void (*value_free)(tsc_value* value);

  /* Reading values. */
  tsc_kind (*kind)(const tsc_value* value);
  const char* (*type_name)(const tsc_value* value);
  tsc_status* (*as_bool)(const tsc_value* value, int* truth);
  tsc_status* (*as_int)(const tsc_value* value, int64_t* number);
  tsc_status* (*as_float)(const tsc_value* value, double* number); /* an int is taken too */
  tsc_status* (*as_str)(const tsc_value* value, const char** text, size_t* size);
  tsc_status* (*length)(const tsc_value* value, size_t* length); /* str, list, tuple, dict */
  tsc_status* (*item)(const tsc_value* value, size_t index, tsc_value** item); /* list, tuple */
  /* Entry `index` of a dict, in insertion order. */
  tsc_status* (*dict_entry)(const tsc_value* value, size_t index, tsc_value** key,
                            tsc_value** item);
  tsc_status* (*tensor_info)(const tsc_value* value, tsc_tensor_info* info);
  /* repr(value), by the script's own rules. */
  tsc_status* (*represent)(tsc_engine* engine, const tsc_value* value, tsc_sink sink, void* user);

  /* Statuses. */
  tsc_code (*status_code)(const tsc_status* status);       /* NULL: TSC_OK */
  const char* (*status_type)(const tsc_status* status);    /* "ValueError" */
  const char* (*status_message)(const tsc_status* status); /* "ValueError: ..." */
  int (*status_exit_code)(const tsc_status* status);       /* of sys.exit; 1 for other errors */
  size_t (*status_frame_count)(const tsc_status* status);
  int (*status_frame)(const tsc_status* status, size_t index, tsc_frame* frame);
  /* The traceback or the diagnostics as a person reads them; color: ANSI escapes or none. */
  void (*status_render)(const tsc_status* status, int color, tsc_sink sink, void* user);
  void (*status_free)(tsc_status* status);
  tsc_status* (*error_new)(tsc_engine* engine, const char* type, const char* message);

  /* Looking inside. */
  /* Prints one stage of compilation to the sink: tokens, ast and bytecode read the source only;
   * region, backward, fused, loops, llvm, asm and ptx run it and print what its compiled functions
   * became. */
  tsc_status* (*emit)(tsc_engine* engine, const char* stage, const char* name, const char* text,
                      size_t size, tsc_sink sink, void* user);
  /* The names of the stages, in order, ended by NULL. */
  const char* const* (*emit_stages)(void);
  /* What the compiler did so far: format "explain" (for people), "summary" (the closing report),
   * "json". */
  tsc_status* (*report)(tsc_engine* engine, const char* format, tsc_sink sink, void* user);
  /* Version, processor, threads, compiler, folders: "text" or "json". */
  tsc_status* (*info)(tsc_engine* engine, const char* format, tsc_sink sink, void* user);
  /* Completions of the name that ends at `cursor`; the sink gets each whole name. Runs no script
   * code. Returns where the name to replace begins. */
  size_t (*complete)(tsc_engine* engine, const char* text, size_t cursor, tsc_sink sink,
                     void* user);
  /* The disk cache of the engine's cache_dir: action "path", "list", "verify" (TSC_SCRIPT_ERROR
   * when an entry is damaged) or "clear"; format "text" or "json". */
  tsc_status* (*cache)(tsc_engine* engine, const char* action, const char* format, tsc_sink sink,
                       void* user);

  /* Tools: they read a text and run nothing of it. */
  /* The text in the one style; TSC_SYNTAX_ERROR when it is no program. */
  tsc_status* (*format)(tsc_engine* engine, const char* name, const char* text, size_t size,
                        tsc_sink sink, void* user);
  /* What is wrong with the text, syntax errors included: the sink gets one finding a time as
   * "text", "color" or "json" (an LSP Diagnostic with its file). */
  tsc_status* (*check)(tsc_engine* engine, const char* name, const char* text, size_t size,
                       const char* format, tsc_sink sink, void* user, size_t* findings);
  /* What a value is, for a person: signature, documentation, place, with_source its text. */
  tsc_status* (*describe)(tsc_engine* engine, const tsc_value* value, int with_source,
                          tsc_sink sink, void* user);
  /* Counters since the engine was made; set out->struct_size. reset_peak: the peak starts anew. */
  tsc_status* (*statistics)(tsc_engine* engine, int reset_peak, tsc_statistics* out);
} tsc_api;

#if defined(__GNUC__)
#define TSC_EXPORT __attribute__((visibility("default")))
#else
#define TSC_EXPORT
#endif

/* The table, or NULL when this library is older than the caller. */
TSC_EXPORT const tsc_api* tsc_get_api(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
