#include "interpreter/builtins/patient_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace tsc::interp {
namespace {

constexpr int kSliceMilliseconds = 20;

struct Cookie {
  Vm& vm;
  int descriptor;
  StreamTurn* turn;
};

bool is_to_stop(Vm& vm) {
  const uint32_t pending = vm.interrupts().load(std::memory_order_relaxed);
  return pending & kInterruptStop || (pending & kInterruptKeyboard && vm.threads().is_main()) || leaves(vm);
}

// Whether it is ready within a slice, in which other threads have their turns.
bool is_ready(Cookie& cookie, short events) {
  pollfd waited{cookie.descriptor, events, 0};
  if (::poll(&waited, 1, 0) > 0) return true;
  StreamTurn& turn = *cookie.turn;
  if (turn.keeps_turn) return ::poll(&waited, 1, kSliceMilliseconds) > 0;
  int ready = 0;
  turn.is_taken = true;
  cookie.vm.threads().apart([&] { ready = ::poll(&waited, 1, kSliceMilliseconds); });
  turn.is_taken = false;
  while (!turn.others.empty()) turn.others.wake_one(cookie.vm);
  return ready > 0;
}

// Runs `transfer` until it moves something, ends or fails; false with EINTR when the script is to stop.
template <class Transfer>
ssize_t wait_and(Cookie& cookie, short events, Transfer transfer) {
  for (;;) {
    if (is_ready(cookie, events)) {
      const ssize_t moved = transfer();
      if (moved >= 0 || (errno != EAGAIN && errno != EINTR)) return moved;
    }
    if (is_to_stop(cookie.vm)) return errno = EINTR, -1;
  }
}

ssize_t cookie_read(void* data, char* buffer, size_t size) {
  auto& cookie = *static_cast<Cookie*>(data);
  return wait_and(cookie, POLLIN, [&] { return ::read(cookie.descriptor, buffer, size); });
}

ssize_t cookie_write(void* data, const char* buffer, size_t size) {
  auto& cookie = *static_cast<Cookie*>(data);
  size_t written = 0;
  while (written < size) {  // a part would be an error to the C library
    const ssize_t moved =
        wait_and(cookie, POLLOUT, [&] { return ::write(cookie.descriptor, buffer + written, size - written); });
    if (moved < 0) break;
    written += static_cast<size_t>(moved);
  }
  return static_cast<ssize_t>(written);
}

int cookie_close(void* data) {
  const std::unique_ptr<Cookie> cookie(static_cast<Cookie*>(data));
  return ::close(cookie->descriptor);
}

}  // namespace

int open_patiently(Vm& vm, const std::string& path, int flags) {
  int descriptor = open_granted(vm, path, flags | O_NONBLOCK);
  struct stat about{};
  while (descriptor < 0 && errno == ENXIO && ::stat(path.c_str(), &about) == 0 &&
         S_ISFIFO(about.st_mode)) {  // nobody reads it yet
    vm.threads().apart([] { ::poll(nullptr, 0, kSliceMilliseconds); });
    vm.poll();
    descriptor = open_granted(vm, path, flags | O_NONBLOCK);
  }
  return descriptor;
}

std::FILE* make_stream(Vm& vm, int descriptor, const char* mode, std::unique_ptr<StreamTurn>& turn) {
  struct stat about{};
  std::FILE* stream = nullptr;
  if (::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode)) {
    stream = ::fdopen(descriptor, mode);
    if (!stream) {
      const int error = errno;
      ::close(descriptor);
      errno = error;
    }
    return stream;
  }
  turn = std::make_unique<StreamTurn>();
  auto cookie = std::make_unique<Cookie>(Cookie{vm, descriptor, turn.get()});
  stream = ::fopencookie(cookie.get(), mode, {cookie_read, cookie_write, nullptr, cookie_close});
  if (stream) cookie.release();
  else ::close(descriptor);
  return stream;
}

}  // namespace tsc::interp
