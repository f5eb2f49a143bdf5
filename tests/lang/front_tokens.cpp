#include "front_testing.h"

namespace tsc::lang {

TEST_CASE("operators take the longest match") {
  CHECK(token_names("a**=b//c->d:=e...f!=g") ==
        "NAME DOUBLESTAREQUAL NAME DOUBLESLASH NAME ARROW NAME WALRUS NAME ELLIPSIS NAME NOTEQUAL "
        "NAME "
        "NEWLINE END");
}

TEST_CASE("keywords are whole words") {
  CHECK(token_names("is island in inx not nota") == "IS NAME IN NAME NOT NAME NEWLINE END");
}

TEST_CASE("numbers") {
  CHECK(token_names("0 0_0 1_000 0xFF 0o17 0b1 1. .5 1e9 1_0.5e-3") ==
        "INTEGER INTEGER INTEGER INTEGER INTEGER INTEGER FLOAT FLOAT FLOAT FLOAT NEWLINE END");
  CHECK(token_names("1if x else 2") == "INTEGER IF NAME ELSE INTEGER NEWLINE END");
  CHECK(token_names("0xe+1") == "INTEGER PLUS INTEGER NEWLINE END");
  for (const char* bad : {"0123", "1__0", "1_", "0x", "0b12", "0o8", "12abc", "1e", "0xg"}) {
    INFO(bad);
    CHECK(faults(bad) == Faults{"1:1 E0104"});
  }
  CHECK(token_names("3j 1.5e3J 1_0j 01j") == "FLOAT FLOAT FLOAT FLOAT NEWLINE END");
  CHECK(expression("3j") == "Constant(value=3.0j)");
}

TEST_CASE("integers of any size are read") {
  CHECK(expression("9223372036854775807") == "Constant(value=9223372036854775807)");
  CHECK(expression("-9223372036854775808") == "Constant(value=-9223372036854775808)");
  CHECK(expression("0x7fff_ffff_ffff_ffff") == "Constant(value=9223372036854775807)");
  CHECK(expression("9223372036854775808") == "Constant(value=9223372036854775808)");
  CHECK(expression("1844674407370955_1616") == "Constant(value=18446744073709551616)");
  CHECK(expression("0X1_0000_0000_0000_000F") == "Constant(value=0x1000000000000000f)");
  CHECK(faults("x = " + std::string(5000, '9')) == Faults{});
}

TEST_CASE("floats are read exactly") {
  CHECK(expression("0.1") == "Constant(value=0.1)");
  CHECK(expression("1e16") == "Constant(value=1e+16)");
  CHECK(expression("123456789012345.0") == "Constant(value=123456789012345.0)");
  CHECK(expression("1e999") == "Constant(value=inf)");
  CHECK(expression("1e-999") == "Constant(value=0.0)");
  CHECK(expression("0.0000001e-400") == "Constant(value=0.0)");
  CHECK(expression("1e99999999999999999999") == "Constant(value=inf)");
}

TEST_CASE("strings") {
  CHECK(expression("'a' \"b\" r'\\n' '\\n'") == "Constant(value='ab\\\\n\\n')");
  CHECK(expression("'''a\n\"b' '''") == "Constant(value='a\\n\"b\\' ')");
  CHECK(expression("''") == "Constant(value='')");
  CHECK(expression("b'\\xff\\0a'") == "Constant(value=b'\\xff\\x00a')");
  CHECK(expression("'\\x41\\101\\u00e9\\U0001F600'") == "Constant(value='AA\xC3\xA9\xF0\x9F\x98\x80')");
  CHECK(expression("'a\\\nb'") == "Constant(value='ab')");
  CHECK(expression("'\\d'") == "Constant(value='\\\\d')");
  CHECK(expression("'''a\r\nb\rc'''") == "Constant(value='a\\nb\\nc')");
  CHECK(faults("x = '\\x4'") == Faults{"1:6 E0106"});
  CHECK(expression("'\\ud800'") == "Constant(value='\\xed\\xa0\\x80')");
  CHECK(faults("x = '\\U00110000'") == Faults{"1:6 E0106"});
  CHECK(faults("x = 'a' b'b'") == Faults{"1:9 E0310"});
  CHECK(faults("x = b'\xC3\xA9'") == Faults{"1:7 E0107"});
  CHECK(faults("x = 'abc\ny = 1\n") == Faults{"1:5 E0103"});
  CHECK(faults("f('abc)\ny = = 1\n") == Faults{"1:3 E0103", "2:4 E0302"});
  CHECK(faults("x = '''abc\ny = 1\n") == Faults{"1:5 E0103"});
}

TEST_CASE("f-strings are lexed in place") {
  CHECK(token_names("f'a{x!r:>{w}}b'") ==
        "FSTRING_START FSTRING_MIDDLE FIELD_OPEN NAME FIELD_BANG NAME FIELD_COLON FSTRING_MIDDLE "
        "FIELD_OPEN NAME FIELD_CLOSE FIELD_CLOSE FSTRING_MIDDLE FSTRING_END NEWLINE END");
  CHECK(expression("f'{d['k']}'") ==
        "JoinedStr(values=[FormattedValue(value=Subscript(value=Name(id='d'), "
        "slice=Constant(value='k')), conversion=-1)])");
  CHECK(expression("f'{{}}'") == "JoinedStr(values=[Constant(value='{}')])");
  CHECK(expression("f'{x = }'") ==
        "JoinedStr(values=[Constant(value='x = '), FormattedValue(value=Name(id='x'), "
        "conversion=114)])");
  CHECK(expression("f'{x=:.2f}'") ==
        "JoinedStr(values=[Constant(value='x='), FormattedValue(value=Name(id='x'), conversion=-1, "
        "format_spec=JoinedStr(values=[Constant(value='.2f')]))])");
  CHECK(expression("f'{a != b}{(lambda: 1)()}'").find("NotEq()") != std::string::npos);
  CHECK(expression("'a' f'b{x}' 'c' f'd'") ==
        "JoinedStr(values=[Constant(value='ab'), FormattedValue(value=Name(id='x'), conversion=-1), "
        "Constant(value='cd')])");
  CHECK(expression("rf'\\{x}'") ==
        "JoinedStr(values=[Constant(value='\\\\'), FormattedValue(value=Name(id='x'), "
        "conversion=-1)])");
  CHECK(expression("f'{f'{f'{x}'}'}'").find("Name(id='x')") != std::string::npos);
}

TEST_CASE("faults inside f-strings point inside them") {
  CHECK(faults("x = f'{}'") == Faults{"1:7 E0108"});
  CHECK(faults("x = f'{a b}'") == Faults{"1:10 E0108"});
  CHECK(faults("x = f'{a!z}'") == Faults{"1:10 E0108"});
  CHECK(faults("x = f'a}'") == Faults{"1:8 E0108"});
  CHECK(faults("x = f'{a'") == Faults{"1:7 E0108"});
  CHECK(faults("x = f'{a:{b'") == Faults{"1:10 E0108"});
  CHECK(faults("x = f'{a.}'\ny = 1 +") == Faults{"1:10 E0302", "2:8 E0302"});
  CHECK(faults("x = f'abc\ny = 2") == Faults{"1:5 E0103"});
}

TEST_CASE("names in other scripts, and characters that only look right") {
  CHECK(faults("\xCE\xB1 = 1\n") == Faults{});                          // alpha
  CHECK(tree("\xEF\xBD\x81 = 1").find("id='a'") != std::string::npos);  // a wide a is an a
  CHECK(faults("x = \xE2\x80\x9Chi\xE2\x80\x9D\n") == Faults{"1:5 E0101"});
  CHECK(faults("x = 1 \xC2\xA0+ 2\n") == Faults{"1:7 E0101"});
  CHECK(faults("x = $\n") == Faults{"1:5 E0101"});
  CHECK(faults(std::string("x = 1\0\n", 7)) == Faults{"1:6 E0101"});
  CHECK(faults("x = '\xFF'\n") == Faults{"1:6 E0102"});
  CHECK(faults("\xEF\xBB\xBFx = 1\n") == Faults{});
}

TEST_CASE("line breaks of every system") {
  CHECK(token_names("a\r\nb\rc\nd") == "NAME NEWLINE NAME NEWLINE NAME NEWLINE NAME NEWLINE END");
  CHECK(token_names("a \\\r\n + b") == "NAME PLUS NAME NEWLINE END");
  CHECK(faults("a \\ + b\n") == Faults{"1:3 E0109"});
}

}  // namespace tsc::lang
