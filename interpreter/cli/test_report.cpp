#include "interpreter/cli/test_report.h"

#include <cstdio>

namespace tsc::cli {
namespace {

std::string decimal(double seconds, const char* format = "%.3f") {
  char text[40];
  std::snprintf(text, sizeof text, format, seconds);
  return text;
}

constexpr const char* kOutcomes[] = {"passed", "failed", "skipped"};

std::string counts_text(const TestCounts& counts) {
  std::string text = std::to_string(counts.passed) + " passed";
  if (counts.failed != 0) text += ", " + std::to_string(counts.failed) + " failed";
  if (counts.skipped != 0) text += ", " + std::to_string(counts.skipped) + " skipped";
  return text;
}

std::string json_text(const std::string& text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (c == '\n') out += "\\n";
    else if (byte < 0x20) ((out += "\\u00") += kHex[byte >> 4]) += kHex[byte & 15];
    else out += c;
  }
  return out + '"';
}

// Characters that XML 1.0 cannot hold become a question mark.
std::string xml_text(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\n': out += "&#10;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 && c != '\t' ? '?' : c;
    }
  }
  return out;
}

}  // namespace

TestCounts count_tests(const std::vector<FileResult>& files) {
  TestCounts counts;
  for (const FileResult& file : files)
    for (const TestResult& test : file.tests) {
      counts.passed += test.outcome == Outcome::Passed;
      counts.failed += test.outcome == Outcome::Failed;
      counts.skipped += test.outcome == Outcome::Skipped;
    }
  return counts;
}

std::string test_text(const std::vector<FileResult>& files, double seconds) {
  std::string text;
  for (const FileResult& file : files) {
    if (!file.tests.empty()) text += file.path + ": " + counts_text(count_tests({file})) + "\n";
    for (const TestResult& test : file.tests) {
      if (test.outcome == Outcome::Passed) continue;
      text += std::string("  ") + kOutcomes[static_cast<int>(test.outcome)] + " " + test.name +
              (test.outcome == Outcome::Skipped ? ": " + test.message : "") + "\n";
      if (test.outcome == Outcome::Skipped) continue;
      const std::string rule = "---- " + file.path + "::" + test.name + "\n";
      text += rule + test.details;
      if (!test.output.empty()) text += "---- printed:\n" + test.output;
      if (text.back() != '\n') text += '\n';
    }
  }
  return text + counts_text(count_tests(files)) + " in " + decimal(seconds, "%.2f") + " s\n";
}

std::string test_json(const std::vector<FileResult>& files) {
  std::string out = "[";
  for (const FileResult& file : files)
    for (const TestResult& test : file.tests)
      out += std::string(out.size() > 1 ? ",\n" : "") + "{\"file\":" + json_text(file.path) +
             ",\"name\":" + json_text(test.name) + ",\"outcome\":\"" + kOutcomes[static_cast<int>(test.outcome)] +
             "\",\"seconds\":" + decimal(test.seconds, "%.6f") + ",\"message\":" + json_text(test.message) +
             ",\"details\":" + json_text(test.details) + ",\"output\":" + json_text(test.output) + "}";
  return out + "]\n";
}

std::string test_junit(const std::vector<FileResult>& files) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const FileResult& file : files) {
    const TestCounts counts = count_tests({file});
    double seconds = 0;
    for (const TestResult& test : file.tests) seconds += test.seconds;
    out += "<testsuite name=\"" + xml_text(file.path) + "\" tests=\"" + std::to_string(file.tests.size()) +
           "\" failures=\"" + std::to_string(counts.failed) + "\" errors=\"0\" skipped=\"" +
           std::to_string(counts.skipped) + "\" time=\"" + decimal(seconds) + "\">\n";
    for (const TestResult& test : file.tests) {
      out += "<testcase classname=\"" + xml_text(file.path) + "\" name=\"" + xml_text(test.name) + "\" time=\"" +
             decimal(test.seconds) + "\">";
      if (test.outcome == Outcome::Failed)
        out += "<failure message=\"" + xml_text(test.message) + "\">" + xml_text(test.details) + "</failure>";
      if (test.outcome == Outcome::Skipped) out += "<skipped message=\"" + xml_text(test.message) + "\"/>";
      if (!test.output.empty()) out += "<system-out>" + xml_text(test.output) + "</system-out>";
      out += "</testcase>\n";
    }
    out += "</testsuite>\n";
  }
  return out + "</testsuites>\n";
}

}  // namespace tsc::cli
