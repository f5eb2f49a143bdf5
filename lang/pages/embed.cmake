# Makes OUTPUT, a C++ file, of the texts PAGES: the table that lang/error_pages.cpp reads.
set(text "#include \"lang/error_pages.h\"\n\nnamespace tsc::lang {\n\nconst std::string_view kPageTexts[] = {\n")
foreach(page ${PAGES})
  file(READ ${page} content)
  string(APPEND text "R\"PAGES(${content})PAGES\",\n")
endforeach()
string(APPEND text "};\nconst std::span<const std::string_view> page_texts = kPageTexts;\n\n}  // namespace tsc::lang\n")
file(WRITE ${OUTPUT} "${text}")
