#pragma once
// The exceptions that keep parts of their own beside `args`: OSError with its number, text and count, and those that
// tell where a text or bytes have no counterpart. Knows: what they are made of, their members, their texts. Must not
// know: other exceptions.
#include "interpreter/vm/native.h"

namespace tsc::interp {

// OSError.__new__: `type` is the class asked for, which the error number may replace.
Local<ExceptionObject> make_os_error(Vm& vm, Type* type, const Args& args);
// OSError.__init__, which does something only for a class that has its own one and leaves __new__ alone.
void initialize_os_error(Vm& vm, ExceptionObject* e, const Args& args);
// "[Errno 2] No such file: 'f'"; empty where the number or the text is missing.
std::string os_error_text(Vm& vm, const ExceptionObject* e);

bool has_unicode_parts(Vm& vm, const Type* type);
// The __init__ of those; raises where the arguments do not fit.
void initialize_unicode_error(Vm& vm, ExceptionObject* e, const Args& args);
// "'ascii' codec can't encode character '\xe9' in position 0: ordinal not in range(128)"
std::string unicode_error_text(Vm& vm, const ExceptionObject* e);

// The members of these classes, by the name of the class.
void add_part_members(TypeBuilder& b, std::string_view name);

}  // namespace tsc::interp
