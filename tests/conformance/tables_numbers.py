"""int, float, bool: literals, arithmetic, conversion, comparison, methods."""

TABLES = {
    "numbers": {
        "int_literals": r"""
            0
            1_000_000
            0xff
            0XFF
            0o17
            0b1010
            0b_1
            -5
            9223372036854775807
            00
            0x_f_f
            1__0 if False else 10""".replace("\n            1__0 if False else 10", ""),
        "int_division": r"""
            7 // 2
            -7 // 2
            7 // -2
            -7 // -2
            7 % 3
            -7 % 3
            7 % -3
            -7 % -3
            divmod(7, 3)
            divmod(-7, 3)
            divmod(7, -3)
            7 / 2
            6 / 2
            0 // 5
            0 % 5
            True // 1
            1 / 3""",
        "float_division": r"""
            7.5 // 2
            -7.5 // 2
            7.5 % 2
            -7.5 % 2
            7.5 % -2
            divmod(7.5, 2)
            divmod(-7.5, 2)
            1e300 // 1e-300 > 0
            5 % 0.3
            -1 % 1.0
            1.0 % float('inf')
            -1.0 % float('inf')
            float('inf') % 2
            float('inf') // 2
            3.0 // float('inf')
            -3.0 // float('inf')
            0.0 // -1
            -0.0 % 3""",
        "power": r"""
            2 ** 10
            2 ** -1
            (-2) ** 3
            -2 ** 2
            2 ** 0.5
            0 ** 0
            0.0 ** 0
            2 ** 3 ** 2
            (-8) ** 2
            4 ** 0.5
            (-1.0) ** 2
            10 ** -2
            True ** 2
            1 ** 1000000
            (-1) ** 1000001
            pow(2, 10)
            pow(2, 10, 1000)
            pow(2, -1, 7)
            pow(3, -2, 11)
            pow(2, -1, 4)
            pow(2, 3, -5)
            pow(2.0, 3)
            pow(2, 3, 0)
            pow(2.0, 3, 5)
            2.0 ** 1024
            1e200 ** 2""",
        "bitwise": r"""
            5 & 3
            5 | 3
            5 ^ 3
            ~5
            ~-1
            1 << 10
            1024 >> 3
            -1024 >> 3
            -1 >> 100
            5 >> 100
            1 << -1
            1 >> -1
            True & False
            True | 2
            True ^ True
            ~True
            5 & 1.0
            1.0 << 2
            0xff & ~0xf
            6 & -6""",
        "comparison": r"""
            1 == 1.0
            1 < 1.5
            2 ** 53 == float(2 ** 53)
            2 ** 53 + 1 == float(2 ** 53)
            2 ** 53 + 1 > float(2 ** 53)
            True == 1
            True < 2
            1 < 2 < 3
            3 > 2 > 2
            1 == 1 != 2
            float('nan') == float('nan')
            float('nan') != float('nan')
            float('nan') < 1
            float('inf') > 10 ** 18
            -float('inf') < -10 ** 18
            0.0 == -0.0
            1 is 1
            None == 0
            1 < 'a'
            9007199254740993 < 9007199254740992.0""",
        "int_conversion": r"""
            int()
            int(3.9)
            int(-3.9)
            int('42')
            int('  42\n')
            int('-42')
            int('+42')
            int('1_000')
            int('ff', 16)
            int('0xff', 16)
            int('0xff', 0)
            int('0b101', 0)
            int('0o17', 0)
            int('z', 36)
            int('101', 2)
            int('101', base=2)
            int(True)
            int('٣')
            int('-0')
            int(1e15)""",
        "int_conversion_errors": r"""
            int('')
            int('a')
            int('1.5')
            int('1 2')
            int('1__0')
            int('_1')
            int('12', 2)
            int('1', 1)
            int('1', 37)
            int(None)
            int([1])
            int(1, 2)
            int(float('nan'))
            int(float('inf'))
            int('0x1')
            int('010', 0)
            int(b'zz')
            int('1', 'a')
            int('é')""",
        "float_conversion": r"""
            float()
            float(3)
            float('3.5')
            float(' 3.5 ')
            float('1e5')
            float('-.5')
            float('5.')
            float('1_0.5')
            float('inf')
            float('-Infinity')
            float('nan')
            float('+NaN')
            float(True)
            float('1e400')
            float('1e-400')
            float('٣.٥')""",
        "float_conversion_errors": r"""
            float('')
            float('a')
            float('1.5.2')
            float('1e')
            float('.')
            float('0x10')
            float(None)
            float([])
            float('1__0')
            float('_1')
            float('in f')
            float('1,5')
            float('--1')""",
        "float_repr": r"""
            1.0
            0.1
            1 / 3
            2 / 3
            1e16
            1e15
            123456789012345680.0
            1e22
            1e-4
            1e-5
            0.0001
            0.00001
            -0.0
            5e-324
            1.7976931348623157e308
            1e400
            -1e400
            float('nan')
            0.1 + 0.2
            100.0
            1234567.0
            3.141592653589793
            2.5e-8
            1e100
            9007199254740993.0
            4.35
            0.3""",
        "float_methods": r"""
            (2.5).is_integer()
            (2.0).is_integer()
            float('inf').is_integer()
            (0.5).as_integer_ratio()
            (-2.25).as_integer_ratio()
            (0.1).as_integer_ratio()
            float('nan').as_integer_ratio()
            float('inf').as_integer_ratio()
            (2.5).hex()
            (-0.1).hex()
            (0.0).hex()
            (1e-310).hex()
            float('inf').hex()
            float.fromhex('0x1.8p+1')
            float.fromhex('0x1p-3')
            float.fromhex('-0x.8')
            float.fromhex('10')
            float.fromhex('inf')
            float.fromhex('zz')
            (2.5).real
            (2.5).imag
            (2.5).conjugate()
            (2.7).__trunc__()
            (2.7).__floor__()
            (2.2).__ceil__()
            (2.5).__round__()
            (2.567).__round__(2)""",
        "int_methods": r"""
            (5).bit_length()
            (0).bit_length()
            (-8).bit_length()
            (7).bit_count()
            (-7).bit_count()
            (5).conjugate()
            (5).real
            (5).imag
            (5).numerator
            (5).denominator
            (5).as_integer_ratio()
            (-5).as_integer_ratio()
            True.bit_length()
            (5).__add__(3)
            (5).__radd__(3)
            (5).__sub__(2)
            (5).__floordiv__(2)
            (5).__truediv__(2)
            (5).__mod__(3)
            (5).__pow__(2)
            (5).__divmod__(3)
            (5).__neg__()
            (-5).__abs__()
            (5).__invert__()
            (5).__bool__()
            (5).__index__()
            (5).__int__()
            (5).__float__()
            (5).__eq__(5)
            (5).__lt__(6)
            (5).__add__('a')
            (5).__hash__()
            (5).__repr__()
            (5).__str__()
            (5).__format__('03d')
            (5).__round__()
            (15).__round__(-1)
            (5).__trunc__()
            (5).__floor__()
            (5).__ceil__()""",
        "round_float": r"""
            round(2.5)
            round(3.5)
            round(-2.5)
            round(0.5)
            round(1.5)
            round(2.675, 2)
            round(1.005, 2)
            round(1234.5678, -2)
            round(1234.5678, 0)
            round(1e300, 2)
            round(0.1, 20)
            round(5.015, 2)
            round(-0.4)
            round(1.25, 1)
            round(1.35, 1)
            round(2.5, None)
            round(float('nan'))
            round(float('inf'))
            round(float('inf'), 1)
            round(1.5, 'a')
            round(123.456, -3)
            round(551.0, -2)
            round(number=2.5, ndigits=0)""",
        "round_int": r"""
            round(5)
            round(15, -1)
            round(25, -1)
            round(35, -1)
            round(-15, -1)
            round(1234, -2)
            round(1250, -2)
            round(1350, -2)
            round(5, 3)
            round(5, -1)
            round(5, -5)
            round(True)
            round(99, -2)""",
        "abs_sum_min_max": r"""
            abs(-5)
            abs(-5.5)
            abs(True)
            abs(-0.0)
            sum([1, 2, 3])
            sum([1.5, 2])
            sum([])
            sum([], 10)
            sum([1, 2], start=5)
            sum([[1], [2]], [])
            sum([0.1] * 10)
            sum((True, True))
            min(1, 2)
            min([3, 1, 2])
            min('b', 'a')
            min([1, -5], key=abs)
            max([])
            max([], default=None)
            max(1, 2.0)
            max(2, 2.0)
            max(2.0, 2)
            min(1, 'a')
            max([1, 2], key=lambda v: -v)
            max(1, 2, default=3)
            min('abc')
            min({'b': 1, 'a': 2})""",
        "bases": r"""
            bin(10)
            bin(-10)
            bin(0)
            oct(8)
            oct(-8)
            hex(255)
            hex(-255)
            bin(True)
            hex(2 ** 62)
            int(bin(10), 2)
            bin(1.5)
            hex('a')
            oct(None)""",
        "mixed_arithmetic": r"""
            1 + 1.5
            1 - 0.5
            2 * 1.5
            True + True
            True * 5
            3 - True
            1.5 + True
            10 - 2.5
            1e308 * 10
            -1e308 * 10
            0.1 + 0.2 - 0.3
            5 + -5
            +True
            -True
            1e16 + 1
            float('inf') - float('inf')
            float('inf') * 0
            0.1 * 3
            1 - 1.0""",
        "hashing": r"""
            hash(1) == hash(1.0)
            hash(True) == hash(1)
            hash(0.5) == hash(0.5)
            hash(-1) == hash(-1.0)
            {1: 'a', 1.0: 'b', True: 'c'}
            {1, 1.0, True}
            len({0, 0.0, -0.0, False})
            {1.5: 'x'}[1.5]
            hash(5)
            hash(0)
            hash(-1)
            hash(-5)
            hash(2 ** 61 - 1)
            hash(2 ** 61)
            hash(0.5)
            hash(1.5)
            hash(-0.5)
            hash(float('inf'))
            hash(-float('inf'))
            hash(1e100)
            hash(3.14)""",
        "bool_type": r"""
            bool()
            bool(0)
            bool('')
            bool('a')
            bool([])
            bool([0])
            bool(None)
            bool(0.0)
            bool(float('nan'))
            bool({})
            bool(range(0))
            True + 1
            str(True)
            repr(False)
            not 5
            not []
            True and 5
            False or 'x'
            isinstance(True, int)
            True is True
            bool(object())
            True.real
            True.__class__
            False == 0
            bool(x=1)""",
        "math_module": ("import math", r"""
            math.pi
            math.e
            math.tau
            math.inf
            math.nan
            math.sqrt(2)
            math.sqrt(-1)
            math.floor(2.7)
            math.floor(-2.7)
            math.ceil(2.1)
            math.ceil(-2.1)
            math.trunc(-2.7)
            math.gcd(12, 18)
            math.gcd()
            math.lcm(4, 6)
            math.factorial(10)
            math.factorial(-1)
            math.factorial(2.5)
            math.comb(5, 2)
            math.perm(5, 2)
            math.isqrt(17)
            math.isqrt(-1)
            math.hypot(3, 4)
            math.log(0)
            math.log(-1)
            math.log(8, 2)
            math.log2(8)
            math.log10(1000)
            math.log1p(1e-10)
            math.exp(1)
            math.expm1(1e-10)
            math.exp(1000)
            math.fmod(-7, 3)
            math.fmod(1, 0)
            math.copysign(1, -0.0)
            math.isclose(0.1 + 0.2, 0.3)
            math.isnan(math.nan)
            math.isinf(-math.inf)
            math.isfinite(1)
            math.fsum([0.1] * 10)
            math.prod([1, 2, 3, 4])
            math.prod([], start=5)
            math.dist((0, 0), (3, 4))
            math.degrees(math.pi)
            math.radians(180)
            math.frexp(8.5)
            math.ldexp(0.5, 4)
            math.modf(3.25)
            math.sqrt('a')
            math.floor(float('nan'))
            math.sin(0)
            math.cos(0)
            math.atan2(1, 1)
            math.remainder(7, 4)
            math.erf(0.5)
            math.gamma(5)
            math.cbrt(27)
            math.exp2(3)
            math.ulp(1.0)
            math.nextafter(1.0, 2.0)"""),
    },
    "slices": {
        "list_slices": ("l = list(range(10))", r"""
            l[2:5]
            l[:3]
            l[7:]
            l[-3:]
            l[:-7]
            l[::3]
            l[1::3]
            l[::-1]
            l[8:2:-2]
            l[2:8:-1]
            l[-1:-5:-1]
            l[20:]
            l[-20:3]
            l[5:5]
            l[::-4]
            l[slice(1, 4)]
            l[slice(None, None, 2)]
            l[::0]
            l['a':]
            l[1.5:]
            l[None:3]
            l[True:3]"""),
        "slice_objects": r"""
            slice(3)
            slice(1, 2)
            slice(1, 2, 3)
            slice(None)
            slice(1, None, 2).start
            slice(1, None, 2).stop
            slice(1, None, 2).step
            slice(1, 2) == slice(1, 2)
            slice(5).indices(10)
            slice(-3, None).indices(10)
            slice(None, None, -1).indices(5)
            slice(20, 0, -2).indices(10)
            slice()
            hash(slice(1))
            slice(1) < slice(2)
            slice('a', [], None)""",
        "tuple_slices": ("t = (1, 2, 3, 4, 5)", r"""
            t[1:3]
            t[::-1]
            t[-2:]
            t[5:]
            t[:0]
            t[::2]
            t[0]
            t[-5]
            t[5]
            t['a']
            t[1.0]
            t[:] is t"""),
        "range_slices": ("r = range(0, 20, 2)", r"""
            r[2:5]
            r[::-1]
            r[-1]
            r[3]
            r[10]
            r[::3]
            r[5:2]
            r['a']
            list(r[2:4])
            r[1:][1:]"""),
    },
    "ranges": {
        "construct": r"""
            range(5)
            range(2, 5)
            range(2, 10, 3)
            range(0)
            range(5, 0, -1)
            range(1, 2, 1)
            list(range(5, 0, -2))
            list(range(0, -5))
            range(0, 10, 0)
            range('a')
            range(1.0)
            range()
            range(1, 2, 3, 4)
            range(True)
            repr(range(0, 5, 1))
            range(stop=5)""",
        "methods": r"""
            len(range(0, 10, 3))
            5 in range(10)
            5 in range(0, 10, 2)
            10 in range(10)
            'a' in range(3)
            2.0 in range(3)
            range(10).index(3)
            range(10).index(10)
            range(0, 10, 2).index(4)
            range(10).count(3)
            range(10).count(30)
            range(3).start
            range(3).stop
            range(3).step
            range(3) == range(0, 3, 1)
            range(0) == range(2, 1)
            range(0, 3, 2) == range(0, 4, 2)
            hash(range(3)) == hash(range(0, 3))
            range(3) < range(4)
            range(3) + range(2)
            list(reversed(range(5)))
            list(reversed(range(0, 10, 3)))
            max(range(5))
            sum(range(101))
            bool(range(0))
            range(3)[1]
            tuple(range(3))
            sorted(range(3), reverse=True)
            [*range(2)]""",
    },
}
