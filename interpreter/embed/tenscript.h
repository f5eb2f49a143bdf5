/* Tenscript's public C interface.
 *
 * For: C and C++ programs that run .tsc source. Knows: engines, values, statuses. Shows: no C++
 * type, no LLVM, no runtime type. Keeps: no exception and no longjmp crosses this line; every call
 * that can fail returns a status (NULL is success); the function table only grows; two engines do
 * not see each other.
 *
 * An engine is used by one thread at a time, and may go from one thread to another between calls; a
 * call while another thread is inside returns TSC_WRONG_THREAD. `interrupt`, `stop` and `statistics`
 * may be called from any thread at any time, the first two from a signal handler too. Handles (engine,
 * value, status) are freed by the caller, freeing NULL is allowed, and a value must be freed before
 * its engine. An engine is freed when nobody is inside: engine_free in a callback, or while another
 * thread is inside, frees nothing and says so on standard error. A pointer argument may be NULL only
 * where it is said so; otherwise, and for a value of another engine, a call returns TSC_BAD_ARGUMENT. Text that a
 * function hands out belongs to the handle it came from; text given to a sink is gone when the sink returns.
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

#define TSC_API_VERSION 5
#define TSC_MAX_RANK 64

typedef struct tsc_engine tsc_engine;
typedef struct tsc_value tsc_value;
typedef struct tsc_status tsc_status;
struct DLManagedTensorVersioned; /* of dlpack.h */

typedef enum tsc_code {
  TSC_OK = 0,
  TSC_SCRIPT_ERROR = 1, /* an exception that the script did not catch */
  TSC_SYNTAX_ERROR = 2, /* the source is not a program */
  TSC_BAD_ARGUMENT = 3, /* this interface was used wrongly, a wrong kind of value included */
  TSC_NOT_FOUND = 4,    /* no such file, module or name */
  TSC_INTERRUPTED = 5,  /* stopped by `interrupt` */
  TSC_EXIT = 6,         /* the script called sys.exit: see status_exit_code */
  TSC_INTERNAL = 7,     /* a fault of Tenscript's own */
  TSC_LIMIT = 8,        /* stopped by a limit or by `stop`: see status_limit */
  TSC_WRONG_THREAD = 9  /* another thread is using the engine */
} tsc_code;

/* Which limit ended a run. Scripts cannot catch it. */
typedef enum tsc_limit {
  TSC_LIMIT_NONE = 0,
  TSC_LIMIT_STOP = 1, /* the host called `stop` */
  TSC_LIMIT_TIME = 2,
  TSC_LIMIT_STEPS = 3,
  TSC_LIMIT_MEMORY = 4
} tsc_limit;

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
  TSC_BOOL8 = 0, /* bytes 0 and 1; tensor_new takes any other for 1, lent memory must hold no other */
  TSC_UINT8 = 1,
  TSC_INT32 = 2,
  TSC_INT64 = 3,
  TSC_BFLOAT16 = 4,
  TSC_FLOAT32 = 5,
  TSC_FLOAT64 = 6,
  TSC_INT8 = 7,
  TSC_INT16 = 8,
  TSC_FLOAT16 = 9,
  TSC_COMPLEX64 = 10, /* two floats, the real part first */
  TSC_COMPLEX128 = 11
} tsc_dtype;

typedef enum tsc_stream { TSC_STDOUT = 1, TSC_STDERR = 2 } tsc_stream;

/* A tri-state: 0 leaves the engine's default. */
typedef enum tsc_switch { TSC_DEFAULT = 0, TSC_ON = 1, TSC_OFF = 2 } tsc_switch;

typedef void (*tsc_output)(void* user, tsc_stream stream, const char* text, size_t size);
typedef void (*tsc_sink)(void* user, const char* text, size_t size);
/* One line of what the engine tells its host: the compiler's events of the channels in `logs`. */
typedef void (*tsc_log)(void* user, const char* text, size_t size);

/* Gives the source of a module: calls give(to, text, size) once, or more often with pieces, and
 * returns 1; 2 when the module is a package; 0 when it has none of that name; a status in *error
 * (made by `error_new`) raises in the script. */
typedef int (*tsc_loader)(void* user, tsc_engine* engine, const char* dotted_name, tsc_sink give, void* to,
                          tsc_status** error);

/* A function of the host. It returns NULL and sets *result, or returns a status made by
 * `error_new`. */
typedef tsc_status* (*tsc_host_function)(void* user, tsc_engine* engine, tsc_value* const* arguments, size_t count,
                                         tsc_value** result);

/* What a script may reach outside itself. An engine grants nothing unless its options say so; what is
 * not granted raises PermissionError in the script. */
typedef enum tsc_grant {
  TSC_GRANT_READ = 1,  /* any file; read_roots grant single folders */
  TSC_GRANT_WRITE = 2, /* any file; write_roots grant single folders */
  TSC_GRANT_ENVIRONMENT = 4,
  TSC_GRANT_PROCESS = 8, /* other processes, and what is known of this one */
  TSC_GRANT_CLOCK = 16,
  TSC_GRANT_NETWORK = 32,
  TSC_GRANT_INPUT = 64, /* the process's standard input: input(), sys.stdin */
  TSC_GRANT_CODE = 128, /* compiling and running text: exec(), eval(), compile() */
  /* threads of the script's own; the host's functions and callbacks are called in them too, one at a time */
  TSC_GRANT_THREADS = 256
} tsc_grant;
#define TSC_GRANT_ALL 0xffffffffu

/* How warnings about a source are written; the same forms have status_render, status_json, status_short. */
typedef enum tsc_error_format { TSC_ERRORS_FULL, TSC_ERRORS_JSON, TSC_ERRORS_SHORT } tsc_error_format;

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
  const char* disabled_passes;   /* "fuse,memory": compiler passes to leave out */
  const char* logs;              /* "graph_breaks,recompiles": events to print as they come */
  int stress_break;              /* tests: every captured statement leaves the compiled region */
  int strict_compiler;           /* tests: a fault of the compiler is an error, not a fallback */
  uint32_t grants;               /* tsc_grant bits */
  const char* const* read_roots; /* folders below which files may be read */
  size_t read_root_count;
  const char* const* write_roots; /* the same for writing, which does not include reading */
  size_t write_root_count;
  const char* cache_dir;  /* where compiled kernels are kept between processes; NULL or "": no
                             file is read or written. Machine code is run from there: the
                             folder must be this user's alone, and is made so when missing */
  uint64_t cache_bytes;   /* at most so many in that folder, the least recently used go;
                             0: 1 GiB */
  int explain_asserts;    /* a failed `assert` of the text that is run tells the values it compared */
  uint64_t memory_limit;  /* bytes of objects and tensors together; 0: none */
  uint64_t time_limit_ns; /* of each call from the host, what it calls included; 0: none */
  uint64_t step_limit;    /* loop turns and calls of each call from the host; 0: none */
  tsc_log log;            /* NULL: `logs` go where the script's standard error goes */
  void* log_user;
  tsc_loader loader; /* asked for a module before the search paths */
  void* loader_user;
  tsc_error_format error_format; /* of warnings about a source */
  int poison_memory;             /* tests: new and freed tensor memory is filled with bytes that are no number */
  int import_python;             /* `import` finds .py files too, after .tsc files of the same name */
  tsc_switch background;         /* the first call of a compiled function is interpreted, and its kernels
                                    are compiled beside the program, which goes on meanwhile; TSC_OFF: calls
                                    wait for them, the first one too */
  int check_shapes;              /* calls are compared with the Tensor[...] annotations of what they call */
  uint32_t verify_percent;       /* of the calls of compiled functions without effects, so many are interpreted
                                    too; where the bits differ, a warning names the culprit */
  int untimed;                   /* tests: the compiler decides nothing by the clock */
  int signals;      /* the script may handle the signals of the process (module signal): for a process that is there
                       for the script */
  const char* cuda; /* what torch.cuda is: NULL or "": not there; "simulated" and settings behind it (docs/gpu.md) */
} tsc_engine_options;

/* Limits of an engine that runs already; 0: none (depth: unchanged). */
typedef struct tsc_limits {
  size_t struct_size;
  uint64_t memory_bytes;
  uint64_t time_ns;
  uint64_t steps;
  uint32_t depth;
} tsc_limits;

/* Counts and memory since the engine was made. */
typedef struct tsc_statistics {
  size_t struct_size;
  uint64_t memory_bytes; /* charged to the memory limit: objects, containers, tensors */
  uint64_t peak_memory_bytes;
  uint64_t tensor_bytes;      /* held now */
  uint64_t kept_tensor_bytes; /* freed tensors' memory, kept for the next ones */
  /* Of the compiler, up to the last call from the host that came back. */
  uint64_t regions;
  uint64_t kernels;
  uint64_t kernel_cache_hits;
  uint64_t recompiles;
  uint64_t fallbacks;
  uint64_t compile_ns;
  /* Of tensors' memory. */
  uint64_t tensor_allocations;
  uint64_t peak_tensor_bytes; /* since the engine was made, or reset_tensor_peak */
} tsc_statistics;

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
  int read_only;          /* the memory was lent so, and nobody has written it yet */
} tsc_tensor_info;

/* Memory that the host lends to a tensor. */
typedef struct tsc_buffer {
  size_t struct_size;
  tsc_dtype dtype;
  uint32_t rank;
  const int64_t* sizes;
  const int64_t* strides;      /* in elements, none negative; NULL: row-major */
  void* data;                  /* aligned to its elements */
  int read_only;               /* a script that writes gets a copy first, shared by all views */
  void (*release)(void* user); /* runs once, when the last view is gone, in whichever thread */
  void* user;
} tsc_buffer;

/* An op of the host: a function of tensors that scripts call as module.name. Arguments arrive
 * row-major. Every callback returns NULL or a status made by `error_new`. */
typedef struct tsc_op {
  size_t struct_size;
  const char* module;
  const char* name;
  const char* doc;         /* or NULL */
  uint32_t argument_count; /* tensors, at least one */
  /* Sets what the result is; `sizes` has room for TSC_MAX_RANK. NULL: as the first argument. */
  tsc_status* (*shape)(void* user, tsc_engine* engine, const tsc_tensor_info* arguments, size_t count, tsc_dtype* dtype,
                       uint32_t* rank, int64_t* sizes);
  /* Fills the result's memory. */
  tsc_status* (*run)(void* user, tsc_engine* engine, const tsc_tensor_info* arguments, size_t count,
                     const tsc_tensor_info* result);
  /* The gradients of the arguments from that of the result, as script values: each gradients[i] is
   * a tensor of argument i's shape, or NULL for none. NULL: backward through the op is an error. */
  tsc_status* (*gradient)(void* user, tsc_engine* engine, tsc_value* gradient, tsc_value* const* arguments,
                          size_t count, tsc_value* result, tsc_value** gradients);
  void* user;
  void (*drop)(void* user); /* runs when the engine goes */
} tsc_op;

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
  tsc_status* (*run_entry)(tsc_engine* engine, const char* name, const char* text, size_t size, tsc_value** value);
  /* 1 when the text is the beginning of a statement that needs more lines. */
  int (*is_incomplete)(tsc_engine* engine, const char* text, size_t size);

  /* Names of __main__, attributes, calls. A dotted name follows attributes. */
  tsc_status* (*get)(tsc_engine* engine, const char* dotted_name, tsc_value** value);
  tsc_status* (*set)(tsc_engine* engine, const char* name, tsc_value* value);
  tsc_status* (*get_attribute)(tsc_engine* engine, tsc_value* object, const char* name, tsc_value** value);
  tsc_status* (*call)(tsc_engine* engine, tsc_value* function, tsc_value* const* arguments, size_t count,
                      const char* const* keyword_names, tsc_value* const* keyword_values, size_t keyword_count,
                      tsc_value** result);
  /* Makes `module.name` callable by the script; drop(user) runs when the engine goes. Both are names as a
   * script writes them; the module's may be dotted. */
  tsc_status* (*define)(tsc_engine* engine, const char* module, const char* name, tsc_host_function function,
                        void* user, void (*drop)(void* user));

  /* Making values. */
  tsc_status* (*none_new)(tsc_engine* engine, tsc_value** value);
  tsc_status* (*bool_new)(tsc_engine* engine, int truth, tsc_value** value);
  tsc_status* (*int_new)(tsc_engine* engine, int64_t number, tsc_value** value);
  tsc_status* (*float_new)(tsc_engine* engine, double number, tsc_value** value);
  tsc_status* (*str_new)(tsc_engine* engine, const char* text, size_t size, tsc_value** value);
  tsc_status* (*list_new)(tsc_engine* engine, tsc_value* const* items, size_t count, tsc_value** value);
  tsc_status* (*tuple_new)(tsc_engine* engine, tsc_value* const* items, size_t count, tsc_value** value);
  tsc_status* (*dict_new)(tsc_engine* engine, tsc_value* const* keys, tsc_value* const* values, size_t count,
                          tsc_value** value);
  /* Copies `data`, which is row-major. NULL data: the tensor is zero. NULL sizes: of rank 0. */
  tsc_status* (*tensor_new)(tsc_engine* engine, tsc_dtype dtype, const int64_t* sizes, uint32_t rank, const void* data,
                            tsc_value** value);
  /* Uses `data` in place; release(user) runs once, when the last view of it is gone. */
  tsc_status* (*tensor_borrow)(tsc_engine* engine, tsc_dtype dtype, const int64_t* sizes, uint32_t rank, void* data,
                               void (*release)(void* user), void* user, tsc_value** value);
  void (*value_free)(tsc_value* value);

  /* Reading values. */
  tsc_kind (*kind)(const tsc_value* value);
  const char* (*type_name)(const tsc_value* value);
  tsc_status* (*as_bool)(const tsc_value* value, int* truth);
  tsc_status* (*as_int)(const tsc_value* value, int64_t* number);
  tsc_status* (*as_float)(const tsc_value* value, double* number); /* an int is taken too */
  tsc_status* (*as_str)(const tsc_value* value, const char** text, size_t* size);
  tsc_status* (*length)(const tsc_value* value, size_t* length);               /* str, list, tuple, dict */
  tsc_status* (*item)(const tsc_value* value, size_t index, tsc_value** item); /* list, tuple */
  /* Entry `index` of a dict, in insertion order. */
  tsc_status* (*dict_entry)(const tsc_value* value, size_t index, tsc_value** key, tsc_value** item);
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
  /* The traceback or the diagnostics as a person reads them; color: ANSI escapes or none. Nothing where the
   * program has told of its error itself, by a sys.excepthook of its own. */
  void (*status_render)(const tsc_status* status, int color, tsc_sink sink, void* user);
  void (*status_free)(tsc_status* status);
  tsc_status* (*error_new)(tsc_engine* engine, const char* type, const char* message);

  /* Looking inside. */
  /* Prints one stage of compilation to the sink: tokens, ast and bytecode read the source only;
   * region, backward, fused, loops, llvm, asm and ptx run it and print what its compiled functions
   * became. */
  tsc_status* (*emit)(tsc_engine* engine, const char* stage, const char* name, const char* text, size_t size,
                      tsc_sink sink, void* user);
  /* The names of the stages, in order, ended by NULL. */
  const char* const* (*emit_stages)(void);
  /* What the compiler did so far: format "explain" (for people), "summary" (the closing report),
   * "json". */
  tsc_status* (*report)(tsc_engine* engine, const char* format, tsc_sink sink, void* user);
  /* Version, processor, threads, compiler, folders: "text" or "json". */
  tsc_status* (*info)(tsc_engine* engine, const char* format, tsc_sink sink, void* user);
  /* Completions of the name that ends at `cursor`; the sink gets each whole name. Runs no script
   * code. Returns where the name to replace begins. */
  size_t (*complete)(tsc_engine* engine, const char* text, size_t cursor, tsc_sink sink, void* user);
  /* The disk cache of the engine's cache_dir: action "path", "list", "verify" (TSC_SCRIPT_ERROR
   * when an entry is damaged) or "clear"; format "text" or "json". */
  tsc_status* (*cache)(tsc_engine* engine, const char* action, const char* format, tsc_sink sink, void* user);

  /* Tools: they read a text and run nothing of it. */
  /* The text in the one style; TSC_SYNTAX_ERROR when it is no program. */
  tsc_status* (*format)(tsc_engine* engine, const char* name, const char* text, size_t size, tsc_sink sink, void* user);
  /* What is wrong with the text, syntax errors included: the sink gets one finding a time as
   * "text", "color" or "json" (an LSP Diagnostic with its file). */
  tsc_status* (*check)(tsc_engine* engine, const char* name, const char* text, size_t size, const char* format,
                       tsc_sink sink, void* user, size_t* findings);
  /* What a value is, for a person: signature, documentation, place, with_source its text. */
  tsc_status* (*describe)(tsc_engine* engine, const tsc_value* value, int with_source, tsc_sink sink, void* user);
  /* The peak_tensor_bytes of `statistics` start anew from what is held now. */
  tsc_status* (*reset_tensor_peak)(tsc_engine* engine);

  /* Limits. `stop` ends what runs, with a reason for the message (copied, at most 127 bytes; NULL: none);
   * an engine that runs nothing is stopped at its next call that may run script code (run_*, call,
   * import_module, attributes, items, represent), unless clear_stop comes first. One stop ends one call: a
   * stop that comes while a call ends belongs to that call, which returns TSC_LIMIT or, when the script was
   * through, TSC_OK. A call that took longer than its time limit returns TSC_LIMIT, however short it was. */
  void (*stop)(tsc_engine* engine, const char* reason); /* any thread, signal safe */
  void (*clear_stop)(tsc_engine* engine);
  tsc_status* (*set_limits)(tsc_engine* engine, const tsc_limits* limits);
  /* Set out->struct_size. Any thread. */
  tsc_status* (*statistics)(tsc_engine* engine, tsc_statistics* out);

  /* More of statuses. A cause belongs to its status. */
  tsc_limit (*status_limit)(const tsc_status* status);
  const tsc_status* (*status_cause)(const tsc_status* status); /* NULL: none */

  /* A module given as text, found before files and the loader; a package when `is_package`. Of "a.b.c" what
   * lies above it is an empty package where nothing else is found. */
  tsc_status* (*add_module)(tsc_engine* engine, const char* dotted_name, const char* text, size_t size, int is_package);
  tsc_status* (*import_module)(tsc_engine* engine, const char* dotted_name, tsc_value** module);
  /* Like `define`, with the parameters as a script would write them: "x, scale=1.0"; a default is None, True,
   * False, a number or a text. The function gets one argument for each of them, keywords and defaults
   * resolved. */
  tsc_status* (*define_function)(tsc_engine* engine, const char* module, const char* name, const char* parameters,
                                 const char* doc, tsc_host_function function, void* user, void (*drop)(void* user));
  tsc_status* (*define_op)(tsc_engine* engine, const tsc_op* op);

  /* More of values. */
  tsc_status* (*set_attribute)(tsc_engine* engine, tsc_value* object, const char* name, tsc_value* value);
  tsc_status* (*get_item)(tsc_engine* engine, tsc_value* object, tsc_value* key, tsc_value** item);
  tsc_status* (*set_item)(tsc_engine* engine, tsc_value* object, tsc_value* key, tsc_value* item);
  tsc_status* (*value_copy)(const tsc_value* value, tsc_value** copy); /* another handle */

  /* Tensors over memory of others. */
  tsc_status* (*tensor_lend)(tsc_engine* engine, const tsc_buffer* buffer, tsc_value** value);
  /* Takes over a tensor of DLPack 1.x, also when it fails: its deleter runs once. */
  tsc_status* (*dlpack_import)(tsc_engine* engine, struct DLManagedTensorVersioned* tensor, tsc_value** value);
  /* The tensor's memory, without its gradient history; the receiver calls the deleter once, in any
   * thread, also after the engine is gone. */
  tsc_status* (*dlpack_export)(const tsc_value* value, struct DLManagedTensorVersioned** tensor);

  /* A status for machines: JSON objects, one a line. Of a source with errors each diagnostic is one, in the
   * shape of an LSP Diagnostic (0-based lines, UTF-16 columns); of an exception there is one, with its
   * frames (1-based lines, columns in bytes) and its cause. Since version 3. */
  void (*status_json)(const tsc_status* status, tsc_sink sink, void* user);
  /* What an error code ("E0103") means, with an example and a way out. Since version 3. */
  tsc_status* (*error_page)(const char* code, int color, tsc_sink sink, void* user);
  /* A status in lines `file:line:column: what`: of a source with errors one for each diagnostic, of an
   * exception one, with the innermost place outside the library. Since version 3. */
  void (*status_short)(const tsc_status* status, tsc_sink sink, void* user);
  /* For an output or a log callback, which return nothing: the error (made by `error_new`, taken over) is raised
   * in the script when the callback is back. Elsewhere it is only freed. Since version 4. */
  void (*raise_later)(tsc_engine* engine, tsc_status* error);

  /* The program is over: waits for its threads but the daemon ones, calls what it has registered with atexit, and
   * ends the daemon threads. A stop, an interrupt and the time limit hold for that as for any call. engine_free does
   * the same where it was not done since the last call. Since version 5. */
  tsc_status* (*finish)(tsc_engine* engine);
} tsc_api;

#if defined(__GNUC__)
#define TSC_EXPORT __attribute__((visibility("default")))
#else
#define TSC_EXPORT
#endif

/* The table, or NULL when this library is older than the caller. A program built with one version
 * runs with every later library of the same soname. */
TSC_EXPORT const tsc_api* tsc_get_api(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
