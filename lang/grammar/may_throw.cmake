# cmake -DHEADER=... -P may_throw.cmake: Bison declares the constructor of the parser's stack noexcept, though it
# allocates; without memory that would end the process instead of throwing std::bad_alloc.
file(READ ${HEADER} text)
string(REPLACE "stack (size_type n = 200) YY_NOEXCEPT" "stack (size_type n = 200)" text "${text}")
file(WRITE ${HEADER} "${text}")
