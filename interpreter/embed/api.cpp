// The function table.
#include "interpreter/embed/engine.h"

namespace {

const char* version_text() { return TSC_VERSION_TEXT; }

tsc_api make_table() {
  tsc_api api{};
  api.version = TSC_API_VERSION;
  api.version_text = version_text;
  tsc::embed::fill_run_functions(api);
  tsc::embed::fill_value_functions(api);
  tsc::embed::fill_status_functions(api);
  tsc::embed::fill_status_json_functions(api);
  tsc::embed::fill_cache_functions(api);
  tsc::embed::fill_inspect_functions(api);
  tsc::embed::fill_tool_functions(api);
  tsc::embed::fill_limit_functions(api);
  tsc::embed::fill_host_functions(api);
  tsc::embed::fill_host_op_functions(api);
  tsc::embed::fill_tensor_functions(api);
  return api;
}

}  // namespace

const tsc_api* tsc_get_api(uint32_t version) {
  static const tsc_api table = make_table();
  return version <= TSC_API_VERSION ? &table : nullptr;
}
