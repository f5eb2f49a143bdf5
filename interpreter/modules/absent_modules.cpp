#include "interpreter/modules/absent_modules.h"

namespace tsc::interp {

namespace {

// Reasons that several rows share.
#define TSC_OWN_PROCESS \
  "processes of a script would share no objects; use concurrent.futures.ThreadPoolExecutor, threading or subprocess"
#define TSC_NO_SOURCE_ACCESS \
  "there are no syntax trees and no tokens; use exec, eval and compile to run text, ast.literal_eval for data"
#define TSC_NO_NETWORK "there is no network module; let the host fetch data, and read the file"
#define TSC_USE_SUBPROCESS "use subprocess.run(command, shell=True)"
#define TSC_USE_POPEN "use subprocess.Popen, which has send_signal, wait and poll"
#define TSC_NO_FRAMES "frames are not objects; use traceback.extract_stack, or pass what the callee should know"
#define TSC_SIGNALS_ARE_CALLS "signals reach a script as calls of its handlers; use signal.signal"
#define TSC_NO_LISTS_OF_OBJECTS "the collector does not list objects; weakref.ref tells whether one is alive"
#define TSC_OWN_PACE "the collector sets its pace by itself; use gc.disable, gc.enable and gc.collect"
#define TSC_NO_QUANTIZATION "there are no quantized tensors; use bfloat16 or float16 for smaller weights"
#define TSC_NO_ARCHIVES "archives are not read; unpack the file first"

constexpr AbsentModule kRows[] = {
    // Python's own.
    {"aifc", "sound is not read; let the host read it and hand over tensors"},
    {"asynchat", TSC_NO_NETWORK},
    {"asyncio", "there is no async and await; write plain calls"},
    {"asyncore", TSC_NO_NETWORK},
    {"audioop", "sound is not read; let the host read it and hand over tensors"},
    {"bdb", "use `tenscript -i` to stay at the prompt after the script, and print"},
    {"bz2", TSC_NO_ARCHIVES},
    {"cProfile", "the prompt's %time and `tenscript explain` say where time goes"},
    {"calendar", "use datetime: date.weekday() and date.isocalendar() tell the day"},
    {"cgi", TSC_NO_NETWORK},
    {"cgitb", TSC_NO_NETWORK},
    {"chunk", "sound is not read; let the host read it and hand over tensors"},
    {"cmd", "read lines with input() in a loop"},
    {"code", "use `tenscript -i` or the prompt"},
    {"codecs", "use the methods encode and decode, and open(..., encoding=...)"},
    {"codeop", "use `tenscript -i` or the prompt"},
    {"colorsys", "convert colours by their formula, on tensors"},
    {"compileall", "scripts and modules are compiled when they are run"},
    {"concurrent.futures.process", TSC_OWN_PROCESS},
    {"copyreg", "loading pickles can run code; use torch.save and torch.load, or json"},
    {"crypt", "use hashlib.pbkdf2_hmac"},
    {"ctypes", "scripts do not call C; a host defines functions and ops for them (docs/embedding.md)"},
    {"curses", "the host owns the terminal"},
    {"dbm", "use json, or torch.save"},
    {"decimal", "scale to whole numbers, which are exact, or use float"},
    {"dis", "use `tenscript --emit=bytecode`"},
    {"distutils", "packages are folders of .tsc files, which nothing installs"},
    {"doctest", "use `tenscript test`"},
    {"email", TSC_NO_NETWORK},
    {"encodings", "use the methods encode and decode, and open(..., encoding=...)"},
    {"ensurepip", "packages are folders of .tsc files, which nothing installs"},
    {"faulthandler", "an error prints its traceback; the host handles signals of its own process"},
    {"fcntl", "the host owns the descriptors; use a file that open(..., 'x') makes as a lock"},
    {"filecmp", "read both files and compare them with =="},
    {"fileinput", "read the files with open()"},
    {"ftplib", TSC_NO_NETWORK},
    {"genericpath", "use os.path"},
    {"getopt", "use argparse"},
    {"getpass", "let the host ask for the secret, and read it from os.environ"},
    {"gettext", "texts are not translated; keep them in a dict"},
    {"grp", "the host knows its users; read os.environ"},
    {"http", TSC_NO_NETWORK},
    {"idlelib", "use help() at the prompt"},
    {"imaplib", TSC_NO_NETWORK},
    {"imghdr", "look at the first bytes of the file"},
    {"imp", "use import; modules are .tsc files beside the script or in TENSCRIPT_PATH"},
    {"importlib.abc", "use import; modules are .tsc files beside the script or in TENSCRIPT_PATH"},
    {"importlib.machinery", "use import; modules are .tsc files beside the script or in TENSCRIPT_PATH"},
    {"ipaddress", TSC_NO_NETWORK},
    {"lib2to3", TSC_NO_SOURCE_ACCESS},
    {"linecache", "read the file with open()"},
    {"locale", "output does not depend on the machine; use format specs such as {:,}"},
    {"lzma", TSC_NO_ARCHIVES},
    {"mailbox", TSC_NO_NETWORK},
    {"mailcap", TSC_NO_NETWORK},
    {"marshal", "code is not data; use json, struct or torch.save"},
    {"mimetypes", "look at the end of the name: os.path.splitext"},
    {"mmap", "use torch.load, which maps its files, or read parts with seek()"},
    {"modulefinder", "use import; modules are .tsc files beside the script or in TENSCRIPT_PATH"},
    {"msilib", "it belongs to other systems"},
    {"msvcrt", "it belongs to other systems"},
    {"netrc", TSC_NO_NETWORK},
    {"nis", "it belongs to other systems"},
    {"nntplib", TSC_NO_NETWORK},
    {"nt", "it belongs to other systems"},
    {"ntpath", "use os.path"},
    {"nturl2path", "use os.path"},
    {"opcode", "use `tenscript --emit=bytecode`"},
    {"optparse", "use argparse"},
    {"ossaudiodev", "sound is not read; let the host read it and hand over tensors"},
    {"pdb", "use `tenscript -i` to stay at the prompt after the script, and print"},
    {"pickle", "loading pickles can run code; use torch.save and torch.load, or json"},
    {"pickletools", "loading pickles can run code; use torch.save and torch.load, or json"},
    {"pipes", TSC_USE_SUBPROCESS},
    {"pkg_resources", "modules are .tsc files beside the script or in TENSCRIPT_PATH"},
    {"pkgutil", "modules are .tsc files beside the script or in TENSCRIPT_PATH"},
    {"plistlib", "use json"},
    {"poplib", TSC_NO_NETWORK},
    {"posix", "use os"},
    {"posixpath", "use os.path"},
    {"profile", "the prompt's %time and `tenscript explain` say where time goes"},
    {"pstats", "the prompt's %time and `tenscript explain` say where time goes"},
    {"psutil", "use the prompt's %time, and --mem-limit"},
    {"pty", "the host owns the terminal"},
    {"pwd", "the host knows its users; read os.environ"},
    {"py_compile", "scripts and modules are compiled when they are run"},
    {"pyclbr", TSC_NO_SOURCE_ACCESS},
    {"pydoc", "use help() at the prompt"},
    {"pyexpat", "XML is not read; convert the file to JSON first"},
    {"quopri", "use base64"},
    {"readline", "the prompt has its own line editor"},
    {"resource", "use --mem-limit and --time-limit"},
    {"rlcompleter", "the prompt completes names by itself"},
    {"runpy", "use import, or `tenscript -m`"},
    {"sched", "use threading.Timer, or time.sleep in a loop"},
    {"select", TSC_NO_NETWORK},
    {"selectors", TSC_NO_NETWORK},
    {"shelve", "use json, or torch.save"},
    {"site", "modules are .tsc files beside the script or in TENSCRIPT_PATH"},
    {"smtpd", TSC_NO_NETWORK},
    {"smtplib", TSC_NO_NETWORK},
    {"sndhdr", "sound is not read; let the host read it and hand over tensors"},
    {"socket", TSC_NO_NETWORK},
    {"socketserver", TSC_NO_NETWORK},
    {"spwd", "the host knows its users; read os.environ"},
    {"sqlite3", "use csv, json or torch.save"},
    {"sre_compile", "use re"},
    {"sre_constants", "use re"},
    {"sre_parse", "use re"},
    {"ssl", TSC_NO_NETWORK},
    {"stat", "use os.path.isfile, os.path.isdir and os.path.getsize, or pathlib"},
    {"stringprep", "use unicodedata"},
    {"sunau", "sound is not read; let the host read it and hand over tensors"},
    {"symtable", TSC_NO_SOURCE_ACCESS},
    {"sysconfig", "there is nothing to build against; a host in C++ uses pkg-config (docs/embedding.md)"},
    {"syslog", "use logging"},
    {"tabnanny", TSC_NO_SOURCE_ACCESS},
    {"tarfile", TSC_NO_ARCHIVES},
    {"telnetlib", TSC_NO_NETWORK},
    {"termios", "the host owns the terminal"},
    {"tkinter", "there are no windows; write files, or let the host draw"},
    {"token", TSC_NO_SOURCE_ACCESS},
    {"tokenize", TSC_NO_SOURCE_ACCESS},
    {"tomllib", "use json"},
    {"trace", "the prompt's %time and `tenscript explain` say where time goes"},
    {"tracemalloc", "the prompt's %time tells the peak memory"},
    {"tty", "the host owns the terminal"},
    {"turtle", "there are no windows; write files, or let the host draw"},
    {"turtledemo", "there are no windows; write files, or let the host draw"},
    {"urllib.error", TSC_NO_NETWORK},
    {"urllib.request", TSC_NO_NETWORK},
    {"urllib.response", TSC_NO_NETWORK},
    {"urllib.robotparser", TSC_NO_NETWORK},
    {"uu", "use base64"},
    {"venv", "packages are folders of .tsc files, which nothing installs"},
    {"wave", "sound is not read; let the host read it and hand over tensors"},
    {"webbrowser", TSC_NO_NETWORK},
    {"winreg", "it belongs to other systems"},
    {"winsound", "sound is not read; let the host read it and hand over tensors"},
    {"wsgiref", TSC_NO_NETWORK},
    {"xdrlib", "use struct"},
    {"xml", "use json or csv"},
    {"xmlrpc", TSC_NO_NETWORK},
    {"zipapp", "packages are folders of .tsc files, which nothing installs"},
    {"zipimport", "use import; modules are .tsc files beside the script or in TENSCRIPT_PATH"},
    {"zoneinfo", "use datetime.timezone with a fixed offset"},
    // Not Python's, but of many model files.
    {"accelerate", "torch here runs on one device; write the plain training loop"},
    {"cv2", "use PIL.Image, which reads PNG and JPEG files"},
    {"jax", "use torch"},
    {"matplotlib", "there are no windows; write csv or json, and plot that elsewhere"},
    {"pandas", "use csv and torch.tensor"},
    {"requests", TSC_NO_NETWORK},
    {"scipy", "use torch and math"},
    {"sklearn", "use torch"},
    {"tensorboard", "write csv or json, and plot that elsewhere"},
    {"tensorflow", "use torch"},
    {"torch.ao", TSC_NO_QUANTIZATION},
    {"torch.fx", "torch.compile gives a callable backend the region as an object and as text"},
    {"torch.masked", "use torch.where, masked_fill and sums of masked values"},
    {"torch.nested", "pad the rows and give attention a mask; torch.nn.utils.rnn pads and packs sequences"},
    {"torch.onnx", "programs are not exported; save the weights with torch.save or safetensors"},
    {"torch.package", "programs are not packed; run the script itself"},
    {"torch.quantization", TSC_NO_QUANTIZATION},
    {"torch.utils.benchmark", "use timeit with a function"},
    {"torch.utils.cpp_extension", "scripts load no C++; a host defines functions and ops for them (docs/embedding.md)"},
    {"torch.utils.tensorboard", "write csv or json, and plot that elsewhere"},
    {"torchaudio", "use torch, and store tensors with torch.save"},
    {"torchvision", "use torch.nn, and store data with torch.save or as .npy"},
    {"transformers", "write the model with torch.nn; safetensors reads its weights"},
    {"wandb", "there is no network module; write csv or json"},
};

constexpr AbsentModule kAttributes[] = {
    {"ast.dump", TSC_NO_SOURCE_ACCESS},
    {"ast.parse", TSC_NO_SOURCE_ACCESS},
    {"einops.asnumpy", "numbers in bulk are tensors; use tolist(), or npy to write a file"},
    {"concurrent.futures.ProcessPoolExecutor", TSC_OWN_PROCESS},
    {"gc.freeze", TSC_OWN_PACE},
    {"gc.get_count", TSC_OWN_PACE},
    {"gc.get_objects", TSC_NO_LISTS_OF_OBJECTS},
    {"gc.get_referents", TSC_NO_LISTS_OF_OBJECTS},
    {"gc.get_referrers", TSC_NO_LISTS_OF_OBJECTS},
    {"gc.get_stats", TSC_OWN_PACE},
    {"gc.get_threshold", TSC_OWN_PACE},
    {"gc.set_debug", TSC_OWN_PACE},
    {"gc.set_threshold", TSC_OWN_PACE},
    {"io.FileIO", "use open(path, 'rb')"},
    {"logging.config.fileConfig", "use dictConfig, with a dict from json"},
    {"logging.config.listen", TSC_NO_NETWORK},
    {"logging.handlers.HTTPHandler", TSC_NO_NETWORK},
    {"logging.handlers.QueueHandler", "a handler of your own whose emit puts the record into a queue.Queue does it"},
    {"logging.handlers.QueueListener", "a thread that takes records out of a queue.Queue and calls handle does it"},
    {"logging.handlers.SMTPHandler", TSC_NO_NETWORK},
    {"logging.handlers.SocketHandler", TSC_NO_NETWORK},
    {"logging.handlers.SysLogHandler", TSC_NO_NETWORK},
    {"logging.handlers.TimedRotatingFileHandler", "use RotatingFileHandler, or a date in the file's name"},
    {"logging.handlers.WatchedFileHandler", "use logging.FileHandler"},
    {"multiprocessing.Pool", TSC_OWN_PROCESS},
    {"multiprocessing.Process", TSC_OWN_PROCESS},
    {"multiprocessing.Queue", TSC_OWN_PROCESS},
    {"os.abort", "raise an exception, or use sys.exit"},
    {"os.close", "the host owns the descriptors; use the object that open() gives"},
    {"os.execv", TSC_USE_POPEN},
    {"os.execvp", TSC_USE_POPEN},
    {"os.fdopen", "the host owns the descriptors; use open(path)"},
    {"os.fork", TSC_USE_POPEN},
    {"os.kill", "use subprocess.Popen.send_signal for a program, signal.raise_signal for this one"},
    {"os.open", "the host owns the descriptors; use open(path)"},
    {"os.pipe", "the host owns the descriptors; use io.BytesIO or a list"},
    {"os.popen", TSC_USE_SUBPROCESS},
    {"os.read", "the host owns the descriptors; use the object that open() gives"},
    {"os.spawnv", TSC_USE_POPEN},
    {"os.startfile", TSC_USE_POPEN},
    {"os.system", TSC_USE_SUBPROCESS},
    {"os.wait", TSC_USE_POPEN},
    {"os.write", "the host owns the descriptors; use the object that open() gives"},
    {"signal.pthread_kill", TSC_SIGNALS_ARE_CALLS},
    {"signal.pthread_sigmask", TSC_SIGNALS_ARE_CALLS},
    {"signal.set_wakeup_fd", TSC_SIGNALS_ARE_CALLS},
    {"signal.siginterrupt", TSC_SIGNALS_ARE_CALLS},
    {"signal.sigpending", TSC_SIGNALS_ARE_CALLS},
    {"signal.sigtimedwait", TSC_SIGNALS_ARE_CALLS},
    {"signal.sigwait", TSC_SIGNALS_ARE_CALLS},
    {"signal.sigwaitinfo", TSC_SIGNALS_ARE_CALLS},
    {"sys._current_frames", TSC_NO_FRAMES},
    {"sys.setprofile", "the prompt's %time and `tenscript explain` say where time goes"},
    {"sys.settrace", "there is no debugger; use print, or -i to look at names afterwards"},
    {"tempfile.SpooledTemporaryFile", "use io.BytesIO or io.StringIO, or TemporaryFile"},
    {"tempfile.mktemp", "another program could take the name first; use NamedTemporaryFile"},
    {"threading.setprofile", "the prompt's %time and `tenscript explain` say where time goes"},
    {"threading.settrace", "there is no debugger; use print, or -i to look at names afterwards"},
    {"typing.get_overloads", "overloads are not kept; the last definition is the function"},
    {"unittest.IsolatedAsyncioTestCase", "there is no async and await; use TestCase"},
};

#undef TSC_NO_FRAMES
#undef TSC_NO_LISTS_OF_OBJECTS
#undef TSC_OWN_PACE
#undef TSC_OWN_PROCESS
#undef TSC_SIGNALS_ARE_CALLS
#undef TSC_NO_SOURCE_ACCESS
#undef TSC_NO_NETWORK
#undef TSC_USE_SUBPROCESS
#undef TSC_USE_POPEN
#undef TSC_NO_ARCHIVES

std::string_view row_of(std::span<const AbsentModule> rows, std::string_view name) {
  for (const AbsentModule& row : rows)
    if (row.name == name) return row.why;
  return {};
}

}  // namespace

std::string_view absent_attribute(std::string_view name) { return row_of(kAttributes, name); }

std::span<const AbsentModule> absent_modules() { return kRows; }

std::string_view absent_module(std::string_view name) {
  for (; !name.empty(); name = name.substr(0, name.rfind('.'))) {
    if (std::string_view why = row_of(kRows, name); !why.empty()) return why;
    if (name.find('.') == std::string_view::npos) break;
  }
  return {};
}

}  // namespace tsc::interp
