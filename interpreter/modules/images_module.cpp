// _images: the elements of PNG and JPEG files, by libpng and libjpeg. What an image is, is the package PIL's to say.
//
// An image here is (width, height, channels, bytes): rows from above, the channels of an element side by side, one byte
// each. Both libraries leave a function with longjmp where a file is wrong; what has to be given back lives in objects
// of the frame that they jump to.
// What jpeglib.h names without including it.
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>
#include <png.h>

#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "interpreter/heap/patience.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/value/buffer.h"
#include "interpreter/value/text_builder.h"

namespace tsc::interp {
namespace {

// More elements than PIL takes from a file: such a file is small and asks for much memory.
constexpr uint64_t kMostPixels = 178956970;

void check_size(Vm& vm, uint64_t width, uint64_t height) {
  if (width * height <= kMostPixels) return;
  raise_value_error(vm, "Image size (" + std::to_string(width * height) + " pixels) exceeds limit of " +
                            std::to_string(kMostPixels) + " pixels, could be decompression bomb DOS attack.");
}

Value image(Vm& vm, uint64_t width, uint64_t height, int channels, TextBuilder& elements) {
  const Value bytes = elements.bytes();
  const Value parts[] = {Value::integer(static_cast<int64_t>(width)), Value::integer(static_cast<int64_t>(height)),
                         Value::integer(channels), bytes};
  return make_tuple(vm, parts).take();
}

std::string_view row_of(const std::vector<unsigned char>& row) {
  return {reinterpret_cast<const char*>(row.data()), row.size()};
}

// What is to be written: its elements must be as many as its sizes say.
struct Given {
  Buffer buffer;
  std::string_view elements;
  uint32_t width, height;
  int channels;
  Given(Vm& vm, Args& a) : buffer(vm, a[0]), elements(buffer) {
    const int64_t w = to_index(vm, a[1]), h = to_index(vm, a[2]), c = to_index(vm, a[3]);
    if (w < 1 || h < 1 || w > 65500 || h > 65500 || c < 1 || c > 4)
      raise_value_error(vm, "an image has 1 to 65500 columns and rows and 1 to 4 channels");
    if (elements.size() != static_cast<size_t>(w * h * c))
      raise_value_error(vm, "an image needs an element for each place");
    width = static_cast<uint32_t>(w), height = static_cast<uint32_t>(h), channels = static_cast<int>(c);
  }
  unsigned char* row(uint32_t y) const {
    const char* start = elements.data() + static_cast<size_t>(y) * width * static_cast<size_t>(channels);
    return reinterpret_cast<unsigned char*>(const_cast<char*>(start));
  }
};

// ---- PNG ----

struct Png {
  png_structp png = nullptr;
  png_infop info = nullptr;
  bool writes;
  char message[200] = "";
  std::string_view input;
  std::vector<char> output;

  explicit Png(bool w) : writes(w) {
    png = w ? ::png_create_write_struct(PNG_LIBPNG_VER_STRING, this, fail, ignore)
            : ::png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, ignore);
    if (png) info = ::png_create_info_struct(png);
    if (!info) throw std::bad_alloc();
  }
  ~Png() {
    if (writes) ::png_destroy_write_struct(&png, &info);
    else ::png_destroy_read_struct(&png, &info, nullptr);
  }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;

  static void fail(png_structp png, png_const_charp message) {
    Png& self = *static_cast<Png*>(::png_get_error_ptr(png));
    std::strncpy(self.message, message, sizeof self.message - 1);
    ::png_longjmp(png, 1);
  }
  static void ignore(png_structp, png_const_charp) {}
  static void read(png_structp png, png_bytep out, size_t count) {
    Png& self = *static_cast<Png*>(::png_get_io_ptr(png));
    if (count > self.input.size()) ::png_error(png, "image file is truncated");
    std::memcpy(out, self.input.data(), count);
    self.input.remove_prefix(count);
  }
  static void write(png_structp png, png_bytep data, size_t count) {
    Png& self = *static_cast<Png*>(::png_get_io_ptr(png));
    self.output.insert(self.output.end(), data, data + count);
  }
  static void flush(png_structp) {}
};

// Palettes become colours, fewer than eight bits eight, and sixteen their upper eight.
int prepare(Png& p) {
  ::png_set_read_fn(p.png, &p, Png::read);
  ::png_set_user_limits(p.png, 1'000'000, 1'000'000);
  ::png_read_info(p.png, p.info);
  const png_byte type = ::png_get_color_type(p.png, p.info);
  if (type == PNG_COLOR_TYPE_PALETTE) {
    ::png_set_palette_to_rgb(p.png);
    if (::png_get_valid(p.png, p.info, PNG_INFO_tRNS)) ::png_set_tRNS_to_alpha(p.png);
  }
  if (type == PNG_COLOR_TYPE_GRAY) ::png_set_expand_gray_1_2_4_to_8(p.png);
  ::png_set_strip_16(p.png);
  const int passes = ::png_set_interlace_handling(p.png);
  ::png_read_update_info(p.png, p.info);
  return passes;
}

Value read_png(Vm& vm, Args& a) {
  const Buffer given(vm, a[0]);
  Png p(false);
  p.input = given;
  TextBuilder out(vm);
  std::vector<unsigned char> rows;
  volatile int passes = 1;
  if (setjmp(png_jmpbuf(p.png))) raise_value_error(vm, p.message);
  passes = prepare(p);
  const uint32_t width = ::png_get_image_width(p.png, p.info), height = ::png_get_image_height(p.png, p.info);
  check_size(vm, width, height);
  const size_t size = ::png_get_rowbytes(p.png, p.info);
  // An interlaced file goes over all rows several times.
  const bool whole = passes > 1;
  MemoryCharge charge(vm.heap(), size * (whole ? height : 1));
  rows.resize(size * (whole ? height : 1));
  for (int pass = 0; pass < passes; ++pass)
    for (uint32_t y = 0; y < height; ++y) {
      ::png_read_row(p.png, rows.data() + (whole ? y * size : 0), nullptr);
      if (!whole) out += row_of(rows);
      if (y % 64 == 0) hear_stop();
    }
  ::png_read_end(p.png, nullptr);
  if (whole) out += row_of(rows);
  return image(vm, width, height, ::png_get_channels(p.png, p.info), out);
}

Value write_png(Vm& vm, Args& a) {
  const Given given(vm, a);
  const int level = static_cast<int>(to_index(vm, a[4]));
  constexpr int kTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  Png p(true);
  if (setjmp(png_jmpbuf(p.png))) raise_value_error(vm, p.message);
  ::png_set_write_fn(p.png, &p, Png::write, Png::flush);
  ::png_set_compression_level(p.png, level);
  ::png_set_IHDR(p.png, p.info, given.width, given.height, 8, kTypes[given.channels - 1], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  ::png_write_info(p.png, p.info);
  for (uint32_t y = 0; y < given.height; ++y) {
    ::png_write_row(p.png, given.row(y));
    if (y % 64 == 0) hear_stop();
  }
  ::png_write_end(p.png, p.info);
  return make_bytes(vm, std::string(p.output.begin(), p.output.end())).take();
}

// ---- JPEG ----

// What both directions have in common: errors jump back to the function that works.
struct JpegErrors {
  jpeg_error_mgr manager;
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX] = "";
  jpeg_error_mgr* prepared() {
    ::jpeg_std_error(&manager);
    manager.error_exit = [](j_common_ptr info) {
      auto* self = reinterpret_cast<JpegErrors*>(info->err);
      self->manager.format_message(info, self->message);
      std::longjmp(self->back, 1);
    };
    manager.emit_message = [](j_common_ptr info, int level) {
      if (level < 0) ++info->err->num_warnings;
    };
    manager.output_message = [](j_common_ptr) {};
    return &manager;
  }
};
static_assert(offsetof(JpegErrors, manager) == 0, "the library knows the manager alone");

struct JpegReader {
  JpegErrors errors;
  jpeg_decompress_struct info{};
  bool open = false;
  ~JpegReader() {
    if (open) ::jpeg_destroy_decompress(&info);
  }
};

Value read_jpeg(Vm& vm, Args& a) {
  const Buffer given(vm, a[0]);
  const std::string_view input = given;
  JpegReader r;
  TextBuilder out(vm);
  std::vector<unsigned char> row;
  r.info.err = r.errors.prepared();
  if (setjmp(r.errors.back)) raise_value_error(vm, r.errors.message);
  ::jpeg_create_decompress(&r.info);
  r.open = true;
  ::jpeg_mem_src(&r.info, reinterpret_cast<const unsigned char*>(input.data()),
                 static_cast<unsigned long>(input.size()));
  ::jpeg_read_header(&r.info, TRUE);
  check_size(vm, r.info.image_width, r.info.image_height);
  if (r.info.num_components == 4) raise_value_error(vm, "images of four inks (CMYK) are not read");
  r.info.out_color_space = r.info.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  ::jpeg_start_decompress(&r.info);
  row.resize(static_cast<size_t>(r.info.output_width) * static_cast<size_t>(r.info.output_components));
  while (r.info.output_scanline < r.info.output_height) {
    unsigned char* rows[] = {row.data()};
    ::jpeg_read_scanlines(&r.info, rows, 1);
    out += row_of(row);
    if (r.info.output_scanline % 64 == 0) hear_stop();
  }
  const uint64_t width = r.info.output_width, height = r.info.output_height;
  const int channels = r.info.output_components;
  const bool cut = r.info.err->num_warnings > 0 && !input.ends_with("\xff\xd9");
  if (cut) raise_value_error(vm, "image file is truncated");
  ::jpeg_finish_decompress(&r.info);
  return image(vm, width, height, channels, out);
}

struct JpegWriter {
  JpegErrors errors;
  jpeg_compress_struct info{};
  bool open = false;
  unsigned char* data = nullptr;
  unsigned long size = 0;
  ~JpegWriter() {
    if (open) ::jpeg_destroy_compress(&info);
    std::free(data);
  }
};

Value write_jpeg(Vm& vm, Args& a) {
  const Given given(vm, a);
  const int quality = static_cast<int>(to_index(vm, a[4]));
  const bool finest = truth(vm, a[5]), progressive = truth(vm, a[6]), optimized = truth(vm, a[7]);
  if (given.channels != 1 && given.channels != 3) raise_value_error(vm, "a JPEG file has one channel or three");
  JpegWriter w;
  w.info.err = w.errors.prepared();
  if (setjmp(w.errors.back)) raise_value_error(vm, w.errors.message);
  ::jpeg_create_compress(&w.info);
  w.open = true;
  ::jpeg_mem_dest(&w.info, &w.data, &w.size);
  w.info.image_width = given.width;
  w.info.image_height = given.height;
  w.info.input_components = given.channels;
  w.info.in_color_space = given.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  ::jpeg_set_defaults(&w.info);
  ::jpeg_set_quality(&w.info, quality, TRUE);
  if (finest && given.channels == 3) w.info.comp_info[0].h_samp_factor = w.info.comp_info[0].v_samp_factor = 1;
  if (progressive) ::jpeg_simple_progression(&w.info);
  w.info.optimize_coding = optimized ? TRUE : w.info.optimize_coding;
  ::jpeg_start_compress(&w.info, TRUE);
  while (w.info.next_scanline < w.info.image_height) {
    unsigned char* rows[] = {given.row(w.info.next_scanline)};
    ::jpeg_write_scanlines(&w.info, rows, 1);
    if (w.info.next_scanline % 64 == 0) hear_stop();
  }
  ::jpeg_finish_compress(&w.info);
  return make_bytes(vm, std::string(reinterpret_cast<char*>(w.data), w.size)).take();
}

}  // namespace

Local<ModuleObject> make_images_module(Vm& vm) {
  ModuleBuilder m(vm, "_images");
  m.function("read_png", "data, /", read_png);
  m.function("write_png", "data, width, height, channels, level, /", write_png);
  m.function("read_jpeg", "data, /", read_jpeg);
  m.function("write_jpeg", "data, width, height, channels, quality, finest, progressive, optimize, /", write_jpeg);
  return m.finish();
}

}  // namespace tsc::interp
