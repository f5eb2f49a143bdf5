"""list, tuple, dict, set and the built-in functions over them."""

TABLES = {
    "lists": {
        "construct": r"""
            []
            [1, 'a', None]
            list()
            list('abc')
            list((1, 2))
            list({'a': 1})
            list(range(3))
            list([1]) == [1]
            [[1, 2], [3]]
            [1] * 3
            3 * [1]
            [1] + [2]
            [1] + (2,)
            [1] * 'a'
            list(5)
            list(1, 2)
            [*[1, 2], 3]
            [0] * -1""",
        "append_extend_insert": (r'''
def act(f):
    l = [1, 2, 3]
    r = f(l)
    return r, l''', r"""
            act(lambda l: l.append(4))
            act(lambda l: l.append([5]))
            act(lambda l: l.extend([4, 5]))
            act(lambda l: l.extend('ab'))
            act(lambda l: l.extend(l))
            act(lambda l: l.extend(5))
            act(lambda l: l.insert(0, 'x'))
            act(lambda l: l.insert(-1, 'x'))
            act(lambda l: l.insert(100, 'x'))
            act(lambda l: l.insert(-100, 'x'))
            act(lambda l: l.insert('a', 1))
            act(lambda l: l.append())
            act(lambda l: l.append(1, 2))
            act(lambda l: l.extend())"""),
        "pop_remove_clear": (r'''
def act(f):
    l = [1, 2, 3, 2]
    try:
        r = f(l)
    except Exception as e:
        r = type(e).__name__ + ": " + str(e)
    return r, l''', r"""
            act(lambda l: l.pop())
            act(lambda l: l.pop(0))
            act(lambda l: l.pop(-2))
            act(lambda l: l.pop(10))
            act(lambda l: l.pop(-10))
            act(lambda l: l.pop('a'))
            act(lambda l: l.remove(2))
            act(lambda l: l.remove(9))
            act(lambda l: l.clear())
            act(lambda l: l.reverse())
            act(lambda l: l.copy())
            [].pop()
            act(lambda l: l.remove(2.0))"""),
        "index_count": (r"l = [1, 2, 3, 2, 1.0, 'a', True]", r"""
            l.index(2)
            l.index(2, 2)
            l.index(2, -4)
            l.index(1, 1)
            l.index('z')
            l.index('a', 0, 3)
            l.count(2)
            l.count(1)
            l.count('z')
            l.index()
            l.count(1, 2)
            [[]].index([])"""),
        "sort": (r'''
def act(f):
    l = [3, 1, 2]
    r = f(l)
    return r, l''', r"""
            act(lambda l: l.sort())
            act(lambda l: l.sort(reverse=True))
            act(lambda l: l.sort(key=lambda v: -v))
            act(lambda l: l.sort(key=None))
            act(lambda l: l.sort(key=5))
            act(lambda l: l.sort(1))
            act(lambda l: l.sort(cmp=1))
            sorted(['b', 'A', 'c'], key=str.lower)
            sorted([(1, 'b'), (1, 'a'), (0, 'z')])
            sorted([1, 'a'])
            sorted([None, 1])
            sorted('hello')
            sorted({'b': 1, 'a': 2})
            sorted([3, 1, 2], reverse=1)
            sorted([1.5, 1, True, 0])
            sorted([[2], [1, 2], [1]])
            sorted([], key=len)"""),
        "sort_stability": (r"words = ['bb', 'a', 'cc', 'd', 'aa', 'c']", r"""
            sorted(words, key=len)
            sorted(words, key=len, reverse=True)
            sorted(sorted(words), key=len)
            sorted([(1, 'x'), (0, 'y'), (1, 'a'), (0, 'b')], key=lambda p: p[0])
            sorted([(1, 'x'), (0, 'y'), (1, 'a'), (0, 'b')], key=lambda p: p[0], reverse=True)
            sorted(range(20), key=lambda v: v % 3)
            sorted([1, 1.0, True], key=lambda v: 0)
            [1, True, 1.0].__class__
            max([(1, 'a'), (1, 'b')], key=lambda p: p[0])
            min([(1, 'a'), (1, 'b')], key=lambda p: p[0])"""),
        "comparison": r"""
            [1, 2] == [1, 2]
            [1, 2] == [1.0, 2.0]
            [1, 2] < [1, 3]
            [1, 2] < [1, 2, 0]
            [] < [0]
            [2] > [1, 5]
            [1] == (1,)
            [1, 'a'] < [1, 2]
            [1, 'a'] < [2, 2]
            [[1], 2] <= [[1], 2]
            [1] != [1]
            [1] < 5
            [None] == [None]
            [None] < [None]
            [1, 2] >= [1]""",
        "repr": r"""
            []
            [[]]
            [1, [2, [3]]]
            ['a', "it's", b'x']
            [None, True, 1.5]
            [(), (1,), {}]
            str(['a'])
            [...]
            [int, len]
            ['\n']""",
        "dunders": (r"l = [1, 2, 3]", r"""
            l.__len__()
            l.__getitem__(0)
            l.__contains__(2)
            l.__add__([4])
            l.__mul__(2)
            l.__eq__([1, 2, 3])
            l.__lt__([2])
            list(l.__iter__())
            list(l.__reversed__())
            l.__repr__()
            l.__class__
            l.__eq__(5)
            list.__len__([1])
            list.append
            l.__hash__"""),
        "copying": (r"l = [[1], 2]", r"""
            l[:] == l
            l[:] is l
            l.copy()[0] is l[0]
            list(l) is l
            (l * 2)[0] is (l * 2)[2]
            l + [] is l
            [x for x in l] == l"""),
    },
    "tuples": {
        "construct": r"""
            ()
            (1,)
            1,
            (1, 2)
            tuple()
            tuple('ab')
            tuple([1, 2])
            (1) == 1
            tuple(5)
            (1, (2, (3,)))
            (1, 2) + (3,)
            (1, 2) * 2
            (1,) + [2]
            (1,) * 'a'
            (*[1, 2], 3)
            tuple((1, 2)) is (1, 2)""",
        "methods": (r"t = (1, 2, 3, 2)", r"""
            t.count(2)
            t.index(2)
            t.index(2, 2)
            t.index(9)
            len(t)
            2 in t
            t.append
            t[0]
            t + (5,)
            t == (1, 2, 3, 2)
            t < (2,)
            hash((1, 2)) == hash((1, 2))
            hash((1, [2]))
            {(1, 2): 'a'}[(1, 2)]
            sorted([(2, 'a'), (1, 'b')])
            max((1, 2), (1, 3))
            (1, 2) == [1, 2]
            t.index()
            t.count()"""),
        "comparison": r"""
            (1, 2) == (1, 2)
            (1, 2) < (1, 3)
            (1,) < (1, 0)
            () < (0,)
            (1, 'a') < (1, 2)
            (1, 2) < [1, 3]
            (1, 2) != (1, 2)
            ((1,),) == ((1.0,),)
            (1, 2) is (1, 2) or True
            (3,) > (2, 9)""",
        "repr": r"""
            ()
            (1,)
            ('a',)
            ((),)
            (1, 'a', None)
            (1.0, True)
            str((1,))
            ([],)
            ("it's", 'x"y')""",
    },
    "dicts": {
        "construct": r"""
            {}
            {'a': 1, 'b': 2}
            dict()
            dict(a=1, b=2)
            dict([('a', 1), ('b', 2)])
            dict({'a': 1}, b=2)
            dict(zip('ab', [1, 2]))
            {**{'a': 1}, 'b': 2}
            {1: 'a', 1.0: 'b'}
            dict.fromkeys('ab')
            dict.fromkeys([1, 2], 0)
            dict([['a', 1]])
            dict(['ab', 'cd'])
            dict([1])
            dict([(1, 2, 3)])
            dict(5)
            dict(['abc'])
            dict({'a': 1}, {'b': 2})
            {[]: 1}
            dict(None)
            {'a': 1, 'a': 2}""",
        "get_set": (r"d = {'a': 1, 'b': None}", r"""
            d['a']
            d['z']
            d.get('a')
            d.get('z')
            d.get('z', 5)
            d.get('b', 5)
            d.get()
            d.get('a', 1, 2)
            d[[]]
            d.get([])
            d.setdefault('a', 9)
            d.setdefault('c', 9)
            d.setdefault('d')
            d
            len(d)
            'a' in d
            1 in d
            [] in d"""),
        "pop": (r'''
def act(f):
    d = {'a': 1, 'b': 2, 'c': 3}
    try:
        r = f(d)
    except Exception as e:
        r = type(e).__name__ + ": " + str(e)
    return r, d''', r"""
            act(lambda d: d.pop('a'))
            act(lambda d: d.pop('z'))
            act(lambda d: d.pop('z', None))
            act(lambda d: d.popitem())
            act(lambda d: (d.popitem(), d.popitem()))
            act(lambda d: d.clear())
            act(lambda d: d.pop())
            act(lambda d: d.__delitem__('b'))
            act(lambda d: d.__delitem__('z'))
            {}.popitem()
            act(lambda d: d.copy() is d)"""),
        "update": (r'''
def act(*a, **k):
    d = {'a': 1}
    d.update(*a, **k)
    return d
class Mapping:
    def keys(self): return ['x', 'y']
    def __getitem__(self, k): return k * 2''', r"""
            act({'b': 2})
            act(b=2)
            act([('b', 2)])
            act({'a': 5}, c=3)
            act(Mapping())
            act()
            act(5)
            act([1])
            act(['ab'])
            act([(1, 2, 3)])
            act({}, {})
            act(None)"""),
        "merge_operators": r"""
            {'a': 1} | {'b': 2}
            {'a': 1} | {'a': 2}
            {'a': 1} | [('b', 2)]
            {'a': 1} | 5
            {} | {}
            {'b': 1, 'a': 2} | {'c': 3, 'b': 4}
            {'a': 1} + {'b': 2}
            {'a': 1} & {'a': 1}""",
        "views": (r"d = {'a': 1, 'b': 2}", r"""
            d.keys()
            d.values()
            d.items()
            list(d.keys())
            list(d.values())
            list(d.items())
            len(d.keys())
            'a' in d.keys()
            1 in d.values()
            ('a', 1) in d.items()
            ('a', 2) in d.items()
            d.keys() & {'a'}
            sorted(d.keys() | {'c'})
            d.keys() - {'a'}
            sorted(d.keys() ^ {'a', 'z'})
            d.keys() == {'a', 'b'}
            d.items() == {('a', 1), ('b', 2)}
            d.keys() == ['a', 'b']
            d.values() == d.values()
            d.keys() <= {'a', 'b', 'c'}
            d.keys().isdisjoint({'z'})
            list(reversed(d))
            list(reversed(d.items()))
            d.keys()[0]
            list(reversed(d.keys()))
            d.items() & {('a', 1)}
            sorted(d.items() | {('z', 0)})
            hash(d.keys())
            repr(d.values())"""),
        "order": (r'''
def act(f):
    d = {'a': 1, 'b': 2, 'c': 3}
    f(d)
    return list(d)
def move(d):
    v = d.pop('a'); d['a'] = v''', r"""
            act(lambda d: d.__setitem__('a', 9))
            act(lambda d: d.__setitem__('z', 9))
            act(move)
            act(lambda d: d.update(b=0, q=1))
            list({3: 0, 1: 0, 2: 0})
            list({**{'x': 1, 'y': 2}, 'x': 3})
            {k: v for k, v in [('b', 1), ('a', 2), ('b', 3)]}"""),
        "comparison": r"""
            {'a': 1} == {'a': 1}
            {'a': 1} == {'a': 1.0}
            {'a': 1, 'b': 2} == {'b': 2, 'a': 1}
            {'a': 1} != {'a': 2}
            {'a': 1} < {'a': 2}
            {} == []
            {1: 'a'} == {True: 'a'}
            {'a': [1]} == {'a': [1]}""",
        "repr": r"""
            {}
            {'a': 1}
            {1: {2: {3: 4}}}
            {'k': [1, (2,)], None: True}
            {(1, 2): 'x', 1.5: b'y'}
            str({'a': 'b'})
            {'it\'s': "q\"q"}""",
        "fromkeys": r"""
            dict.fromkeys([])
            dict.fromkeys('aab')
            dict.fromkeys([1], [])
            dict.fromkeys(5)
            dict.fromkeys()
            dict.fromkeys([[]])
            {}.fromkeys('x', 1)""",
        "dunders": (r"d = {'a': 1}", r"""
            d.__len__()
            d.__getitem__('a')
            d.__contains__('a')
            d.__eq__({'a': 1})
            d.__or__({'b': 2})
            list(d.__iter__())
            d.__repr__()
            d.__eq__(5)
            d.__class__
            d.__getitem__('z')
            d.__or__(5)
            dict.get(d, 'a')"""),
    },
    "sets": {
        "construct": r"""
            set()
            {1}
            len({1, 2, 2})
            sorted({3, 1, 2})
            set('a')
            sorted(set([2, 1, 2]))
            frozenset()
            frozenset([1])
            {1, 1.0, True}
            set(5)
            {[]}
            set([[]])
            set(1, 2)
            {*[1], *[1]}
            {x for x in [1, 1]}
            frozenset({1}) == {1}""",
        "methods": (r'''
def act(f):
    s = {1, 2, 3}
    try:
        r = f(s)
    except Exception as e:
        r = type(e).__name__ + ": " + str(e)
    return r, sorted(s)''', r"""
            act(lambda s: s.add(4))
            act(lambda s: s.add(1))
            act(lambda s: s.remove(1))
            act(lambda s: s.remove(9))
            act(lambda s: s.discard(1))
            act(lambda s: s.discard(9))
            act(lambda s: s.clear())
            act(lambda s: s.update([4, 5], (6,)))
            act(lambda s: s.update())
            act(lambda s: s.update(5))
            act(lambda s: s.intersection_update([1, 9]))
            act(lambda s: s.difference_update([1], [2]))
            act(lambda s: s.symmetric_difference_update([1, 9]))
            act(lambda s: s.pop() in {1, 2, 3})
            act(lambda s: s.copy() == s)
            act(lambda s: s.add([]))
            act(lambda s: s.remove([]))
            set().pop()
            act(lambda s: s.add())"""),
        "algebra": (r"a = {1, 2, 3}; b = {2, 3, 4}", r"""
            sorted(a | b)
            sorted(a & b)
            sorted(a - b)
            sorted(a ^ b)
            sorted(a.union(b, [9]))
            sorted(a.intersection(b, [3]))
            sorted(a.difference([1]))
            sorted(a.symmetric_difference([1, 7]))
            a.union(5)
            a | [1]
            a & 5
            a - 'x'
            a.isdisjoint({9})
            a.isdisjoint([1])
            type(a | frozenset(b)).__name__
            type(frozenset(a) | b).__name__
            a.union()
            sorted(a.union('xy', {1}), key=str)"""),
        "comparison": r"""
            {1, 2} == {2, 1}
            {1} < {1, 2}
            {1, 2} <= {1, 2}
            {1, 2} < {1, 2}
            {1, 2} > {1}
            {1} >= {2}
            {1} == frozenset([1])
            {1} == [1]
            {1} < [1, 2]
            {1}.issubset([1, 2])
            {1, 2}.issuperset([1])
            {1}.issubset(5)
            {1} != {1}
            set() < {1}""",
        "frozenset": (r"f = frozenset([1, 2])", r"""
            hash(f) == hash(frozenset([2, 1]))
            {f: 'x'}[frozenset([1, 2])]
            f.add
            f | {3} == {1, 2, 3}
            type(f | {3}).__name__
            f.copy() is f
            {f} == {frozenset([2, 1])}
            repr(frozenset())
            repr(frozenset([5]))
            f.union([9]) == {1, 2, 9}
            hash({1})
            {1} in {frozenset([1])}
            f == f.copy()"""),
        "repr": r"""
            set()
            {1}
            {'a'}
            {(1, 2)}
            frozenset({'a'})
            [set()]
            str({1})
            {None}""",
    },
    "builtins": {
        "enumerate_zip": r"""
            list(enumerate('ab'))
            list(enumerate('ab', 1))
            list(enumerate('ab', start=5))
            list(enumerate([]))
            enumerate(5)
            list(enumerate('a', 'b'))
            list(zip('ab', [1, 2]))
            list(zip('abc', [1]))
            list(zip())
            list(zip('ab'))
            list(zip('ab', [1, 2], strict=True))
            list(zip('abc', [1, 2], strict=True))
            list(zip('a', [1, 2], strict=True))
            list(zip(*[(1, 2), (3, 4)]))
            dict(zip('ab', range(2)))
            zip(5)
            list(zip('ab', 5))
            next(enumerate('x'))""",
        "map_filter": r"""
            list(map(str, [1, 2]))
            list(map(lambda a, b: a + b, [1, 2], [3, 4, 5]))
            list(map(None, [1]))
            list(filter(None, [0, 1, '', 'a']))
            list(filter(lambda v: v > 1, [1, 2, 3]))
            list(filter(str.isalpha, 'a1b'))
            map()
            map(str)
            filter(None)
            list(map(len, ['a', 5]))
            list(map(int, '123'))
            next(map(abs, [-1]))
            list(filter(None, []))
            list(map(pow, [2, 3], [3, 2]))""",
        "reversed_sorted": r"""
            list(reversed([1, 2, 3]))
            list(reversed('abc'))
            list(reversed((1, 2)))
            list(reversed(range(3)))
            list(reversed({'a': 1, 'b': 2}))
            reversed({1, 2})
            reversed(5)
            list(reversed([]))
            sorted('bca')
            sorted([3, 1], key=lambda v: -v)
            sorted([3, 1, 2], reverse=True)
            sorted(5)
            sorted([1], [2])
            ''.join(reversed('abc'))""",
        "any_all": r"""
            any([])
            all([])
            any([0, 1])
            all([1, 0])
            any('')
            all('a')
            any(x > 2 for x in [1, 2, 3])
            all(x > 0 for x in [1, 2, 3])
            any(5)
            all(None)
            any([[], {}])
            all([[1], {1: 2}])""",
        "isinstance_issubclass": r"""
            isinstance(1, int)
            isinstance(1, float)
            isinstance(True, int)
            isinstance('a', (int, str))
            isinstance([], list)
            isinstance(None, type(None))
            isinstance(int, type)
            isinstance(1, object)
            isinstance(1, 'int')
            isinstance(1, (int, 'x'))
            issubclass(bool, int)
            issubclass(int, object)
            issubclass(int, (str, int))
            issubclass(1, int)
            issubclass(int, 1)
            isinstance(1, ())
            isinstance(1, int | str)""",
        "getattr_hasattr": (r'''
class A:
    x = 1
    def f(self): return 2
a = A()''', r"""
            getattr(a, 'x')
            getattr(a, 'y')
            getattr(a, 'y', 5)
            getattr(a, 'f')()
            hasattr(a, 'x')
            hasattr(a, 'y')
            hasattr(5, 'real')
            getattr(a, 5)
            hasattr(a, 5)
            setattr(a, 'z', 3)
            a.z
            delattr(a, 'z')
            delattr(a, 'z')
            setattr(a, 5, 1)
            getattr('abc', 'upper')()
            getattr(a)
            getattr(a, 'x', 1, 2)
            callable(a.f)
            callable(a)"""),
        "iter_next": (r"it = iter([1, 2])", r"""
            next(it)
            next(it)
            next(it)
            next(it, 'end')
            next(iter([]))
            iter(5)
            next(5)
            list(iter('ab'))
            iter(it) is it
            next(iter({'k': 1}))
            next(iter({5}))
            list(iter(range(2)))
            next(it, None)
            iter()
            next()
            list(iter(int, 1))[:0] if False else 0"""),
        "len_bool": r"""
            len([])
            len('abc')
            len({1: 2})
            len({1, 2})
            len(range(10))
            len(b'ab')
            len(5)
            len(None)
            len(x for x in [])
            len(int)
            len([1], [2])
            len()
            bool([])
            bool(0)
            bool(' ')""",
        "print_like": r"""
            repr(1)
            repr('a')
            str('a')
            repr(None)
            repr([1, 'a'])
            repr(...)
            repr(NotImplemented)
            repr(int)
            repr(type)
            repr(range(1, 5, 2))
            repr(slice(1, 2))
            repr(True)
            repr(b'x')
            repr(Exception('a', 1))
            repr(KeyError)
            repr(object) == str(object)""",
        "ternary_and_logic": r"""
            1 if True else 2
            1 if [] else 2
            'a' or 'b'
            '' or 'b'
            'a' and 'b'
            0 and 1 / 0
            1 or 1 / 0
            not 1
            not not 'a'
            None is None
            1 is not None
            1 if 0 else 2 if 0 else 3
            (1 and 0) or 5
            [] or {} or 0
            1 and [] and 2
            1 < 2 and 2 < 3
            not (1 in [1])""",
        "lambda_and_calls": r"""
            (lambda: 5)()
            (lambda x, y=2: x + y)(1)
            (lambda *a, **k: (a, k))(1, 2, z=3)
            (lambda x: (lambda y: x + y))(1)(2)
            (lambda: (yield))().__class__.__name__
            (lambda *, k=1: k)(k=5)
            (lambda a, /, b: (a, b))(1, b=2)
            (lambda a, /: a)(a=1)
            (lambda x: x)()
            (lambda x, y: 0)(1)
            [f(2) for f in (lambda v: v + 1, lambda v: v * 3)]
            list(map(lambda p: p[0], [(1, 2)]))
            max([1, 2], key=lambda v: -v)
            (lambda: None)()
            print.__name__
            (lambda: 0).__name__
            (lambda a=1, *b, c=2: 0).__defaults__""",
        "identity": r"""
            None is None
            () is ()
            'abc' is 'abc'
            [] is []
            {} is {}
            True is True
            ... is Ellipsis
            int is int
            type(1) is int
            type(None) is type(None)
            type('') is str
            NotImplemented is NotImplemented""",
    },
}
