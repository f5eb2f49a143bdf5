"""str, bytes, formatting."""

TABLES = {
    "str_methods": {
        "capitalize": r"""
            'hello'.capitalize()
            'HELLO world'.capitalize()
            ''.capitalize()
            '1abc'.capitalize()
            'élan'.capitalize()
            'ß'.capitalize()
            'ǆ'.capitalize()""",
        "casefold": r"""
            'Straße'.casefold()
            'ΑΒΓ'.casefold()
            'ABC'.casefold()
            ''.casefold()
            'ﬁ'.casefold()""",
        "center": r"""
            'ab'.center(7)
            'abc'.center(6)
            'abc'.center(8, '*')
            'abc'.center(2)
            ''.center(3, '-')
            'ab'.center(5, '')
            'ab'.center(5, 'xy')
            'ab'.center('5')
            'é'.center(5, '→')
            'a'.center(4)
            'a'.center(-1)""",
        "ljust": r"""
            'ab'.ljust(5)
            'ab'.ljust(5, '.')
            'abcdef'.ljust(3)
            'ab'.ljust(5, 'xx')
            'ab'.ljust()""",
        "rjust": r"""
            'ab'.rjust(5)
            'ab'.rjust(5, '.')
            'abcdef'.rjust(3)
            'é'.rjust(3, '0')
            'ab'.rjust(5, 3)""",
        "count": r"""
            'banana'.count('a')
            'banana'.count('an')
            'aaaa'.count('aa')
            'abc'.count('')
            ''.count('')
            'banana'.count('a', 2)
            'banana'.count('a', 2, 4)
            'banana'.count('a', -3)
            'banana'.count('x')
            'abc'.count('', 5)
            'abc'.count(1)
            'ééé'.count('é')""",
        "encode": r"""
            'abc'.encode()
            'é€😀'.encode()
            'é'.encode('latin-1')
            'é'.encode('utf-16-le')
            'aé'.encode('utf-16')
            'aé'.encode('utf-32-be')
            '€'.encode('latin-1')
            'aé€'.encode('ascii', 'ignore')
            'aé€'.encode('ascii', 'replace')
            'aé€😀'.encode('ascii', 'backslashreplace')
            'aé€'.encode('ascii', 'xmlcharrefreplace')
            'aé€b'.encode('ascii')
            'x'.encode('nothing')
            'é'.encode('ascii', 'nothing')
            'abc'.encode(encoding='UTF_8', errors='strict')""",
        "endswith": r"""
            'hello'.endswith('lo')
            'hello'.endswith('')
            'hello'.endswith(('x', 'o'))
            'hello'.endswith(())
            'hello'.endswith('l', 0, 4)
            'hello'.endswith('lo', -2)
            'hello'.endswith('', 9)
            'hello'.endswith(5)
            'hello'.endswith((5,))
            'hello'.endswith('hello there')
            'hello'.endswith(['o'])""",
        "startswith": r"""
            'hello'.startswith('he')
            'hello'.startswith('')
            'hello'.startswith(('x', 'h'))
            'hello'.startswith('l', 2)
            'hello'.startswith('l', -3, -1)
            'hello'.startswith('', 5)
            'hello'.startswith('', 6)
            'hello'.startswith(None)
            'hello'.startswith()
            'éa'.startswith('a', 1)""",
        "expandtabs": r"""
            'a\tb'.expandtabs()
            'a\tbc\td'.expandtabs(4)
            'a\tb'.expandtabs(0)
            'abcd\te\nf\tg'.expandtabs(4)
            'a\tb'.expandtabs(tabsize=2)
            '\t'.expandtabs(3)
            'a\tb'.expandtabs(-1)""",
        "find": r"""
            'hello'.find('l')
            'hello'.find('l', 3)
            'hello'.find('l', 4)
            'hello'.find('')
            'hello'.find('', 5)
            'hello'.find('', 6)
            'hello'.find('lo', -2)
            'hello'.find('h', 1, -1)
            'héllo'.find('l')
            'hello'.find(1)
            'hello'.find('x')
            ''.find('')""",
        "rfind": r"""
            'hello'.rfind('l')
            'hello'.rfind('l', 0, 3)
            'hello'.rfind('')
            'hello'.rfind('z')
            'ababab'.rfind('ab', 1)
            'ababab'.rfind('ab', 1, 4)
            'éaé'.rfind('é')""",
        "index": r"""
            'hello'.index('l')
            'hello'.index('z')
            'hello'.index('l', 3, 4)
            'hello'.rindex('l')
            'hello'.rindex('q')
            'hello'.index('')""",
        "isalnum": r"""
            'abc1'.isalnum()
            ''.isalnum()
            'a b'.isalnum()
            'é٣'.isalnum()
            'a_b'.isalnum()
            '½'.isalnum()""",
        "isalpha": r"""
            'abc'.isalpha()
            ''.isalpha()
            'ab1'.isalpha()
            'éß'.isalpha()
            '日本'.isalpha()
            'a-b'.isalpha()""",
        "isascii": r"""
            'abc'.isascii()
            ''.isascii()
            'é'.isascii()
            '\x7f'.isascii()""",
        "isdecimal": r"""
            '123'.isdecimal()
            '٣'.isdecimal()
            '²'.isdecimal()
            '½'.isdecimal()
            ''.isdecimal()
            '1.0'.isdecimal()""",
        "isdigit": r"""
            '123'.isdigit()
            '²'.isdigit()
            '½'.isdigit()
            '٣'.isdigit()
            ''.isdigit()
            '-1'.isdigit()""",
        "isnumeric": r"""
            '123'.isnumeric()
            '²'.isnumeric()
            '½'.isnumeric()
            '五'.isnumeric()
            ''.isnumeric()
            'a'.isnumeric()""",
        "isidentifier": r"""
            'abc'.isidentifier()
            '_a1'.isidentifier()
            '1a'.isidentifier()
            ''.isidentifier()
            'a-b'.isidentifier()
            'é'.isidentifier()
            'class'.isidentifier()
            'a b'.isidentifier()""",
        "islower": r"""
            'abc'.islower()
            'aBc'.islower()
            'a1'.islower()
            '1'.islower()
            ''.islower()
            'é'.islower()
            'abc!'.islower()""",
        "isupper": r"""
            'ABC'.isupper()
            'AbC'.isupper()
            'A1!'.isupper()
            '1'.isupper()
            ''.isupper()
            'É'.isupper()""",
        "isprintable": r"""
            'abc'.isprintable()
            'a\n'.isprintable()
            ''.isprintable()
            'é€'.isprintable()
            '\u200b'.isprintable()
            '\xa0'.isprintable()
            '\x7f'.isprintable()
            ' '.isprintable()""",
        "isspace": r"""
            ' '.isspace()
            ' \t\n'.isspace()
            ''.isspace()
            ' a'.isspace()
            '\u2003'.isspace()
            '\x1c'.isspace()
            '\xa0'.isspace()""",
        "istitle": r"""
            'Hello World'.istitle()
            'Hello world'.istitle()
            'HELLO'.istitle()
            ''.istitle()
            '1 A'.istitle()
            'A1B'.istitle()""",
        "join": r"""
            ','.join(['a', 'b'])
            ''.join('abc')
            ', '.join([])
            '-'.join(['x'])
            ','.join({'a': 1, 'b': 2})
            ','.join(x for x in 'ab')
            ','.join([1, 2])
            ','.join(['a', None])
            ','.join(5)
            'é'.join('ab')
            ','.join(('a', b'b'))""",
        "lower_upper": r"""
            'HeLLo'.lower()
            'HeLLo'.upper()
            'ÀÉ'.lower()
            'straße'.upper()
            'ŉ'.upper()
            'İ'.lower()
            'Σ'.lower()
            'ΑΣ'.lower()
            ''.lower()
            'ß'.upper()""",
        "lstrip": r"""
            '  a '.lstrip()
            'xxax'.lstrip('x')
            'abcabc'.lstrip('ba')
            'abc'.lstrip('')
            ''.lstrip()
            '\t\na'.lstrip()
            'a'.lstrip(None)
            'a'.lstrip(1)""",
        "rstrip": r"""
            ' a  '.rstrip()
            'axx'.rstrip('x')
            'mississippi'.rstrip('ipz')
            'line\n'.rstrip('\n')
            'line\r\n'.rstrip()
            'aé'.rstrip('é')""",
        "strip": r"""
            '  a b  '.strip()
            'xxaxx'.strip('x')
            '\u2003a\xa0'.strip()
            ''.strip()
            '   '.strip()
            'www.example.com'.strip('cmowz.')
            'a'.strip('a')
            'abc'.strip(b'a')
            '\x1fa\x1f'.strip()""",
        "partition": r"""
            'a=b=c'.partition('=')
            'abc'.partition('=')
            'abc'.partition('abc')
            ''.partition('x')
            'a'.partition('')
            'a'.partition(1)
            'a=b=c'.rpartition('=')
            'abc'.rpartition('=')
            'a'.rpartition('')""",
        "removeprefix": r"""
            'TestCase'.removeprefix('Test')
            'TestCase'.removeprefix('Case')
            'TestCase'.removesuffix('Case')
            'TestCase'.removesuffix('Test')
            ''.removeprefix('x')
            'a'.removesuffix('')
            'aaa'.removeprefix('a')
            'a'.removeprefix(1)""",
        "replace": r"""
            'banana'.replace('a', 'o')
            'banana'.replace('a', 'o', 2)
            'banana'.replace('an', '')
            'abc'.replace('', '-')
            'abc'.replace('', '-', 2)
            ''.replace('', 'x')
            ''.replace('a', 'x')
            'aaa'.replace('aa', 'b')
            'abc'.replace('b', 'éé')
            'abc'.replace('b', 'x', 0)
            'abc'.replace('b', 'x', -1)
            'abc'.replace('b')
            'abc'.replace('b', 1)
            'abc'.replace(1, 'b')""",
        "split": r"""
            'a,b,c'.split(',')
            'a,b,c'.split(',', 1)
            ' a  b '.split()
            ' a  b '.split(' ')
            ''.split()
            ''.split(',')
            'a,,b'.split(',')
            'abc'.split('')
            'a b c'.split(None, 1)
            ' a b c '.split(None, 1)
            'a b'.split(maxsplit=0)
            ' a b '.split(maxsplit=0)
            'aXXbXXc'.split('XX')
            'a\tb\nc'.split()
            'a\u2003b'.split()
            'a,b'.split(sep=',')
            'a'.split(1)
            'a,b,c'.split(',', -1)""",
        "rsplit": r"""
            'a,b,c'.rsplit(',', 1)
            'a b c'.rsplit()
            'a b  c'.rsplit(None, 1)
            ' a b c '.rsplit(maxsplit=1)
            'a,b'.rsplit(',')
            ''.rsplit(',')
            'aXXbXXc'.rsplit('XX', 1)
            'a'.rsplit('')""",
        "splitlines": r"""
            'a\nb\r\nc\rd'.splitlines()
            'a\nb\n'.splitlines()
            'a\nb\n'.splitlines(True)
            ''.splitlines()
            '\n'.splitlines()
            '\n\n'.splitlines(keepends=True)
            'a\x0bb\x0cc'.splitlines()
            'a\u2028b\u2029c\x85d'.splitlines()
            'a\x1cb'.splitlines()
            'ab'.splitlines()""",
        "swapcase": r"""
            'Hello'.swapcase()
            'ÉaB'.swapcase()
            ''.swapcase()
            'ß'.swapcase()
            '1a'.swapcase()""",
        "title": r"""
            'hello world'.title()
            "they're bill's".title()
            'ABC dEF'.title()
            '1a b2c'.title()
            'élan vital'.title()
            ''.title()
            'a-b_c'.title()""",
        "translate": r"""
            'abc'.translate({97: 'x'})
            'abc'.translate({97: None, 98: 'BB', 99: 100})
            'abc'.translate(str.maketrans('ab', 'xy'))
            'abc'.translate(str.maketrans('ab', 'xy', 'c'))
            str.maketrans({'a': 1, 'b': None, 99: 'z'})
            str.maketrans('ab', 'x')
            str.maketrans({'ab': 1})
            str.maketrans('a')
            'abc'.translate({})
            'aé'.translate({233: 'e'})
            'ab'.translate('xyz')""",
        "zfill": r"""
            '42'.zfill(5)
            '-42'.zfill(5)
            '+42'.zfill(5)
            'abc'.zfill(2)
            ''.zfill(3)
            '--1'.zfill(5)
            '1'.zfill('3')""",
        "multiplication": r"""
            'ab' * 3
            3 * 'ab'
            'ab' * 0
            'ab' * -1
            'ab' * True
            'ab' * 2.0
            'ab' * 'c'
            'é' * 2""",
        "concatenation": r"""
            'a' + 'b'
            'a' + ''
            'a' + 1
            'a' + None
            1 + 'a'
            'a' + b'b'
            'é' + 'a'
            'a' 'b' "c"
            'a' - 'b'""",
        "comparison": r"""
            'a' < 'b'
            'a' < 'B'
            'abc' < 'abd'
            'ab' < 'abc'
            '' < 'a'
            'a' == 'a'
            'a' != 'b'
            'é' > 'z'
            '😀' > 'é'
            'a' == 1
            'a' < 1
            'a' <= 'a' <= 'b'
            max('b', 'a')
            sorted(['b', 'A', 'a', '1'])""",
        "membership": r"""
            'a' in 'abc'
            '' in 'abc'
            '' in ''
            'ac' in 'abc'
            'x' not in 'abc'
            'é' in 'aé'
            1 in 'abc'
            None in 'abc'
            b'a' in 'abc'""",
        "indexing": (r"s = 'héllo'", r"""
            s[0]
            s[1]
            s[-1]
            s[5]
            s[-6]
            s['a']
            s[1.0]
            s[None]
            s[True]
            len(s)
            s[0][0][0]"""),
        "slicing": (r"s = 'abcdéfg'", r"""
            s[1:3]
            s[:3]
            s[3:]
            s[:]
            s[::2]
            s[::-1]
            s[-3:]
            s[:-3]
            s[10:]
            s[5:2]
            s[5:2:-1]
            s[-100:100]
            s[1:6:2]
            s[::0]
            s[None:None:None]
            s['a':]
            s[1.0:]
            s[True:]"""),
        "repr_escapes": r"""
            'it\'s'
            'say "hi"'
            'both \' and "'
            'tab\tnewline\nreturn\r'
            'back\\slash'
            '\x00\x01\x1f'
            '\x7f\x80\x9f'
            '\xa0\xad'
            'é€😀'
            '\u200b\u2028\ufeff'
            '\ue000'
            '\U000e0001'
            ''
            '\a\b\f\v'
            '\u0378'
            '\u3000'
            'a\u0301'""",
        "ascii_function": r"""
            ascii('abc')
            ascii('é')
            ascii('€')
            ascii('😀')
            ascii(['é', 1])
            ascii("it's")
            ascii('\n')""",
        "literals": r"""
            'a\x41\u0041\U00000041\101'
            r'raw\n'
            """ + "\'\'\'triple 'quoted' \"text\"\'\'\'" + r"""
            '\0'
            '\07'
            '\777'
            u'unicode'
            R'\x'""",
        "ord_chr": r"""
            ord('a')
            ord('é')
            ord('😀')
            ord('')
            ord('ab')
            ord(b'a')
            ord(1)
            chr(97)
            chr(233)
            chr(128512)
            chr(0)
            chr(1114111)
            chr(1114112)
            chr(-1)
            chr('a')
            chr(1.5)""",
        "conversion": r"""
            str()
            str(1)
            str(1.0)
            str(None)
            str(True)
            str([1, 'a'])
            str({'a': 1})
            str(b'abc')
            str(b'abc', 'utf-8')
            str(b'\xc3\xa9', encoding='utf-8')
            str(b'\xff', errors='replace')
            str('a', 'utf-8')
            str(object=5)
            str(1, 2, 3, 4)
            str(range(3))
            str(print)
            str(int)""",
        "unicode_length": r"""
            len('é')
            len('e\u0301')
            len('😀')
            '😀a'[1]
            list('aé😀')
            'aé😀'[::-1]
            'é' == 'e\u0301'
            '日本語'.find('語')
            '日本語'[1:]
            hash('é') == hash('é')""",
        "wrong_arguments": r"""
            'a'.upper(1)
            'a'.split(1, 2, 3)
            'a'.join()
            'a'.find()
            'a'.replace()
            'a'.startswith(x=1)
            'a'.zfill()
            'a'.encode(1)
            'a'.strip('a', 'b')
            'a'.isalpha(1)
            'a'.format_map()
            'a'.count()
            'a'.splitlines(1, 2)
            'a'.nothing()""",
        "formatting_methods": r"""
            '{}'.format(1)
            '{0}{1}{0}'.format('a', 'b')
            '{a} {b}'.format(a=1, b=2)
            '{0.real} {1[0]} {2[k]}'.format(5, [7], {'k': 'v'})
            '{:>5}|{:<5}|{:^5}'.format('a', 'b', 'c')
            '{:{w}.{p}f}'.format(3.14159, w=8, p=2)
            '{!r} {!s} {!a}'.format('é', 'é', 'é')
            '{{}} {}'.format(1)
            '{'.format(1)
            '}'.format(1)
            '{} {1}'.format(1, 2)
            '{1} {}'.format(1, 2)
            '{} {}'.format(1)
            '{x}'.format(y=1)
            '{0.nope}'.format(1)
            '{0[a]}'.format({})
            '{!x}'.format(1)
            '{:5'.format(1)
            '{a.b[c]}'.format(a=1)
            '{0[1]}'.format([1])
            '{:}'.format(1)
            '{a}'.format_map({'a': 1})
            '{a}'.format_map({})""",
    },
    "format_spec": {
        "int_basic": r"""
            format(42, '')
            format(42, 'd')
            format(42, '5')
            format(42, '<5')
            format(42, '^6')
            format(42, '>5')
            format(42, '=5')
            format(-42, '=6')
            format(42, '05')
            format(-42, '06')
            format(42, '+')
            format(42, ' ')
            format(42, '-')
            format(-42, '+')
            format(0, '+')""",
        "int_bases": r"""
            format(255, 'x')
            format(255, 'X')
            format(255, 'o')
            format(255, 'b')
            format(255, '#x')
            format(255, '#X')
            format(255, '#o')
            format(255, '#b')
            format(-255, '#x')
            format(255, '#010x')
            format(255, '010b')
            format(5, '#b')
            format(65, 'c')
            format(8364, 'c')
            format(-1, 'c')
            format(0, 'x')""",
        "int_grouping": r"""
            format(1234567, ',')
            format(1234567, '_')
            format(123, ',')
            format(-1234567, ',')
            format(1234567, '15,')
            format(1234567, '015,')
            format(1234567, '_x')
            format(1234567, '_b')
            format(1234567, ',x')
            format(0, ',')
            format(1234, '012_d')
            format(10 ** 15, ',')""",
        "int_as_float": r"""
            format(42, 'f')
            format(42, '.2f')
            format(42, 'e')
            format(42, 'g')
            format(42, '%')
            format(1, '.0%')
            format(10 ** 10, 'g')
            format(3, '.3')""",
        "int_errors": r"""
            format(42, 's')
            format(42, 'q')
            format(42, '.2d')
            format(42, 'cc')
            format(42, ',c')
            format(42, '+c')
            format(42, 'yy')
            format(42, '5.')
            format(0x110000, 'c')
            format(42, ',_')
            format(42, '#,')""",
        "fill_align": r"""
            format('a', '*<5')
            format('a', '*>5')
            format('a', '*^5')
            format('a', '*^6')
            format('a', '=5')
            format('a', '05')
            format(1, 'é>4')
            format(1, '<<4')
            format('a', '{<4')
            format(True, '>6')
            format(True, 'd')
            format(True, '')
            format(3.5, '*^9')""",
        "str_spec": r"""
            format('abc', '')
            format('abc', 's')
            format('abc', '10')
            format('abc', '.2')
            format('abc', '10.2')
            format('abc', '.0')
            format('abc', '>10s')
            format('abc', 'd')
            format('abc', '+')
            format('abc', ',')
            format('abc', ' ')
            format('abc', '#')
            format('é', '3')
            format('abc', '-5')
            format('', '3')""",
        "float_f": r"""
            format(3.14159, 'f')
            format(3.14159, '.2f')
            format(3.14159, '.0f')
            format(2.5, '.0f')
            format(3.5, '.0f')
            format(0.5, '.0f')
            format(1e20, 'f')
            format(-0.0, 'f')
            format(1.005, '.2f')
            format(3.14159, '10.2f')
            format(3.14159, '+.2f')
            format(3.14159, '010.2f')
            format(-3.14159, '010.2f')
            format(3.0, '#.0f')
            format(1234567.891, ',.2f')
            format(1234567.891, '_.1f')
            format(0.1 + 0.2, '.20f')""",
        "float_e": r"""
            format(12345.678, 'e')
            format(12345.678, '.2e')
            format(12345.678, 'E')
            format(0.0, 'e')
            format(1e-10, '.3e')
            format(1e100, 'e')
            format(12345.678, '.0e')
            format(12345.678, '#.0e')
            format(-1.5, '+e')
            format(1e300, '15.1e')""",
        "float_g": r"""
            format(12345.678, 'g')
            format(1234567.0, 'g')
            format(0.0001, 'g')
            format(0.00001, 'g')
            format(100000.0, 'g')
            format(1000000.0, 'g')
            format(1.0, 'g')
            format(1.0, '#g')
            format(12345.678, '.3g')
            format(12345.678, '.10g')
            format(12345.678, 'G')
            format(0.0, 'g')
            format(1e-5, 'G')
            format(1.5, '.0g')
            format(123456789.0, ',g')
            format(12345678.0, '.8g')""",
        "float_none": r"""
            format(3.0, '')
            format(3.14159, '.3')
            format(1e16, '')
            format(1e16, '.3')
            format(3.0, '.1')
            format(1234.5, ',')
            format(3.0, '5')
            format(1e-5, '10')
            format(100.0, '.2')
            format(123456.0, '.6')
            format(0.1, '+')
            format(5e-324, '')""",
        "float_percent": r"""
            format(0.5, '%')
            format(0.1234, '.1%')
            format(1, '%')
            format(0.005, '.0%')
            format(-0.25, '8.1%')
            format(12.3, ',.0%')""",
        "float_special": r"""
            format(float('inf'), 'f')
            format(float('-inf'), '.2f')
            format(float('nan'), '')
            format(float('nan'), '10.2f')
            format(float('inf'), '010')
            format(float('inf'), 'F')
            format(float('nan'), 'E')
            format(float('inf'), '%')
            format(float('inf'), '+g')
            format(-float('nan'), 'f')""",
        "float_z": r"""
            format(-0.0, 'z')
            format(-0.001, 'z.1f')
            format(-1.5, 'z.0f')
            format(0.0, 'z+.1f')""",
        "float_errors": r"""
            format(1.5, 'd')
            format(1.5, 'x')
            format(1.5, 's')
            format(1.5, 'c')
            format(1.5, 'q')
            format(1.5, '.f')
            format(1.5, ',n')
            format(1.5, '10.2.3f')""",
        "other_types": r"""
            format(None, '')
            format(None, '5')
            format([1], '')
            format([1], '5')
            format({}, '>3')
            format(object, '')
            format((1, 2), 'd')
            format(b'a', '')
            format(b'a', '5')
            format(len, '10')
            format(True, 'x')
            format(False, '>3d')""",
        "fstring_specs": (r"x = 3.14159; n = 42; s = 'text'; w = 10; p = 2; neg = -7", r"""
            f'{x:.2f}'
            f'{x:{w}.{p}f}'
            f'{n:>{w}}'
            f'{n:#x} {n:08b}'
            f'{s!r:>{w}}'
            f'{s:*^{w}}'
            f'{n=}'
            f'{n = }'
            f'{x=:.1f}'
            f'{s=!s}'
            f'{n:,}'
            f'{neg:+} {n:+}'
            f'{{}} {{{n}}}'
            f'{n!r}{s!s}{s!a}'
            f'{"nested " + s}'
            f"{f'{n}'}"
            f'{n if n > 1 else s}'
            f'{(lambda: n)()}'
            f'{[i for i in range(3)]}'
            f'{ {1: 2}[1] }'
            f'{n:{"d"}}'
            f'{x:{"." + str(p) + "f"}}'
            f''
            f'{s:}'
            f'{n:5}' f'{s}' 'plain'
            f'{n,}'
            f'{*[1, 2],}'
            f'{not n}'
            f'{n!r:^10}'
            rf'\n{n}'"""),
    },
    "percent_format": {
        "strings": r"""
            '%s' % 'a'
            '%s' % 5
            '%r' % 'a'
            '%a' % 'é'
            '%5s|' % 'ab'
            '%-5s|' % 'ab'
            '%.2s' % 'abc'
            '%5.1s|' % 'abc'
            '%s %s' % ('a', 'b')
            '%%' % ()
            '%s' % None
            '%s' % [1, 2]
            '%s' % (1,)
            '%s' % ((1, 2),)
            '%c' % 'x'
            '%c' % 97
            '%c' % 'xy'
            '%s%%' % 5""",
        "integers": r"""
            '%d' % 42
            '%i' % 42
            '%u' % 42
            '%5d|' % 42
            '%-5d|' % 42
            '%05d' % 42
            '%+d' % 42
            '% d' % 42
            '%d' % -42
            '%05d' % -42
            '%x' % 255
            '%X' % 255
            '%#x' % 255
            '%o' % 8
            '%#o' % 8
            '%.5d' % 42
            '%8.5d|' % 42
            '%d' % 3.99
            '%d' % True
            '%x' % -255
            '%d' % 'a'
            '%x' % 1.5
            '%d' % None""",
        "floats": r"""
            '%f' % 3.14159
            '%.2f' % 3.14159
            '%10.3f|' % 3.14159
            '%-10.3f|' % 3.14159
            '%+.1f' % 3.14
            '%e' % 12345.678
            '%.2E' % 12345.678
            '%g' % 0.0001
            '%g' % 1e10
            '%G' % 1e-10
            '%.0f' % 2.5
            '%f' % 5
            '%.3g' % 1234.5
            '%010.2f' % -3.14159
            '%f' % float('inf')
            '%5.1f' % float('nan')
            '%#.0f' % 3
            '%f' % 'a'""",
        "mapping": r"""
            '%(a)s' % {'a': 1}
            '%(a)d %(b).2f' % {'a': 1, 'b': 2}
            '%(a)s' % {'b': 1}
            '%(a)s' % 5
            '%(a)s %s' % {'a': 1}
            '%(x y)s' % {'x y': 3}
            '%(a)5s|' % {'a': 'b'}""",
        "star_width": r"""
            '%*d' % (5, 42)
            '%-*d|' % (5, 42)
            '%.*f' % (2, 3.14159)
            '%*.*f' % (8, 2, 3.14159)
            '%*d' % ('a', 1)
            '%*d|' % (-5, 42)""",
        "errors": r"""
            '%s %s' % 'a'
            '%s' % ('a', 'b')
            '%d' % ()
            '%z' % 1
            '%' % 1
            'plain' % 1
            'plain' % ()
            '%s' % ()
            'plain' % {'a': 1}
            '%(a' % {'a': 1}
            '%5' % 1
            'abc%' % 'x'""",
    },
    "bytes": {
        "literals": r"""
            b'abc'
            b'\x00\xff'
            b'\n\t\r\\'
            b"it's"
            b'say "hi"'
            b'both \' and "'
            rb'\n'
            b''
            b'a' b'b'
            B'\101'
            bytes(3)
            bytes([65, 66])
            bytes('é', 'utf-8')
            bytes(b'x')
            bytes(range(3))
            bytes()""",
        "construct_errors": r"""
            bytes('a')
            bytes([256])
            bytes([-1])
            bytes(-1)
            bytes(['a'])
            bytes(1.5)
            bytes(None)
            bytes('a', 'nope')""",
        "indexing": (r"b = b'hello'", r"""
            b[0]
            b[-1]
            b[1:3]
            b[::-1]
            b[::2]
            b[10]
            b['a']
            list(b)
            len(b)
            104 in b
            b'ell' in b
            300 in b
            'h' in b
            b[5:]"""),
        "operators": r"""
            b'a' + b'b'
            b'ab' * 2
            2 * b'ab'
            b'a' + 'b'
            b'a' < b'b'
            b'a' == b'a'
            b'a' == 'a'
            b'a' < 'a'
            b'' == b''
            hash(b'a') == hash(b'a')
            {b'a': 1}[b'a']
            bool(b'')
            b'%d %s' % (1, b'x')
            b'a' * 1.5""",
        "search": r"""
            b'hello'.find(b'l')
            b'hello'.find(108)
            b'hello'.rfind(b'l')
            b'hello'.index(b'z')
            b'hello'.count(b'l')
            b'hello'.startswith(b'he')
            b'hello'.startswith((b'x', b'h'))
            b'hello'.endswith(b'lo')
            b'hello'.startswith('he')
            b'hello'.find('l')
            b'hello'.find(300)
            b'hello'.find(b'l', 3)
            b'hello'.count(b'')""",
        "split_join": r"""
            b'a,b,c'.split(b',')
            b' a  b '.split()
            b'a,b,c'.split(b',', 1)
            b'a,b,c'.rsplit(b',', 1)
            b'a\nb\r\n'.splitlines()
            b'a\nb'.splitlines(True)
            b'a=b=c'.partition(b'=')
            b'a=b=c'.rpartition(b'=')
            b','.join([b'a', b'b'])
            b','.join(['a'])
            b'a'.split(b'')
            b'a'.split(',')
            b' a b '.rsplit(None, 1)""",
        "transform": r"""
            b'aBc'.upper()
            b'aBc'.lower()
            b'aBc'.swapcase()
            b'hello world'.title()
            b'hELLO'.capitalize()
            b' a '.strip()
            b'xax'.strip(b'x')
            b'xax'.lstrip(b'x')
            b'xax'.rstrip(b'x')
            b'banana'.replace(b'a', b'o')
            b'banana'.replace(b'a', b'', 1)
            b'ab'.replace(b'', b'-')
            b'ab'.center(6, b'*')
            b'ab'.ljust(4) + b'|'
            b'ab'.rjust(4, b'.')
            b'-5'.zfill(4)
            b'abc'.translate(bytes.maketrans(b'ab', b'xy'))
            b'abc'.translate(None, b'b')
            b'TestX'.removeprefix(b'Test')
            b'TestX'.removesuffix(b'X')""",
        "tests": r"""
            b'abc'.isalpha()
            b'123'.isdigit()
            b'a1'.isalnum()
            b' \t'.isspace()
            b'abc'.islower()
            b'ABC'.isupper()
            b''.isalpha()
            b'\xff'.isascii()
            b'a'.isascii()""",
        "hex": r"""
            b'\x01\xab'.hex()
            b'\x01\xab\xcd'.hex(':')
            b'\x01\xab\xcd'.hex('-', 2)
            b'\x01\xab\xcd'.hex('-', -2)
            bytes.fromhex('01ab')
            bytes.fromhex('01 ab')
            bytes.fromhex('0')
            bytes.fromhex('zz')
            b''.hex()""",
        "decode": r"""
            b'abc'.decode()
            b'\xc3\xa9'.decode('utf-8')
            b'\xe9'.decode('latin-1')
            b'\xff'.decode()
            b'a\xffb'.decode('utf-8', 'replace')
            b'a\xffb'.decode('utf-8', 'ignore')
            b'a\xffb'.decode('utf-8', 'backslashreplace')
            b'\xc3'.decode()
            b'\xe2\x82'.decode()
            b'\xe2\x28\xa1'.decode()
            b'\xed\xa0\x80'.decode()
            b'\xf0\x9f\x98\x80'.decode()
            b'\x80'.decode('ascii')
            b'a'.decode('nope')
            b'\xff\xfea\x00'.decode('utf-16')
            b'a\x00'.decode('utf-16-le')
            b'\x00a'.decode('utf-16-be')
            b'abc'.decode(errors='strict', encoding='ascii')""",
        "int_conversions": r"""
            (1024).to_bytes(2, 'big')
            (1024).to_bytes(2, 'little')
            (1024).to_bytes(4, byteorder='big')
            (-1).to_bytes(2, 'big', signed=True)
            (1024).to_bytes(1, 'big')
            (-1).to_bytes(2, 'big')
            (5).to_bytes()
            int.from_bytes(b'\x04\x00', 'big')
            int.from_bytes(b'\x00\x04', 'little')
            int.from_bytes(b'\xff\xff', 'big', signed=True)
            int.from_bytes([1, 2], 'big')
            int.from_bytes(b'', 'big')
            int.from_bytes(b'a', 'middle')
            int(b'12')
            float(b'1.5')
            int(b'x')""",
    },
}
