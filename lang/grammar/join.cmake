# cmake -DOUTPUT=... -DPARTS="a;b" -P join.cmake: one text out of several (Bison has no include).
set(text "")
foreach(part IN LISTS PARTS)
  file(READ ${part} content)
  string(APPEND text "${content}")
endforeach()
file(WRITE ${OUTPUT} "${text}")
