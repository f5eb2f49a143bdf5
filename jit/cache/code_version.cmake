# Writes OUTPUT: one string literal that changes whenever the machine code of some kernel program or the plan of
# some region may change. FILES: the sources that decide it, below ROOT. LLVM: the version that generates code.
set(text "llvm ${LLVM}\n")
list(SORT FILES)
foreach(file ${FILES})
  file(RELATIVE_PATH name ${ROOT} ${file})
  file(SHA256 ${file} digest)
  string(APPEND text "${name} ${digest}\n")
endforeach()
string(SHA256 digest "${text}")
string(SUBSTRING ${digest} 0 32 digest)
file(WRITE ${OUTPUT} "\"${digest} llvm ${LLVM}\"\n")
