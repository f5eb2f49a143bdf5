# cmake -DROOT=<stdlib> -DOUT=<file.cpp> -P embed.cmake: writes every .tsc file below ROOT into one
# table, sorted by path. The text goes in as raw strings; a compiler joins neighbouring literals, and
# pieces keep each one below the length that the C++ standard promises to take.
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/*.tsc)
list(SORT files COMPARE STRING)
set(table "")
set(count 0)
foreach(path IN LISTS files)
  file(READ ${ROOT}/${path} text)
  string(LENGTH "${text}" length)
  set(literal "")
  set(start 0)
  while(start LESS length)
    string(SUBSTRING "${text}" ${start} 16000 piece)
    string(APPEND literal "R\"~tsc~(${piece})~tsc~\"\n")
    math(EXPR start "${start} + 16000")
  endwhile()
  if(literal STREQUAL "")
    set(literal "\"\"")
  endif()
  string(APPEND table "    {\"${path}\", std::string_view(${literal}\"\"sv)},\n")
  math(EXPR count "${count} + 1")
endforeach()
string(CONCAT source "// Generated from stdlib/**/*.tsc.\n#include \"stdlib/embedded.h\"\n\n"
           "using namespace std::literals;\n\nnamespace tsc::stdlib {\n\n"
           "extern const EmbeddedFile kFiles[];\nextern const std::size_t kFileCount;\n\n"
           "const EmbeddedFile kFiles[] = {\n${table}    {\"~\", {}},\n};\n"
           "const std::size_t kFileCount = ${count};\n\n}  // namespace tsc::stdlib\n")
file(WRITE ${OUT} "${source}")
