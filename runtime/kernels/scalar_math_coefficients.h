#pragma once
// Polynomial coefficients of the scalar math functions, lowest order first.
// Written by tests/support/minimax.py, which says what each one approximates: do not edit.
namespace tsc::scalar_math::coefficients {
// weighted error 2^-28.2 (before rounding 2^-28.2)
inline constexpr float kExpTailF32[] = {
    0x1.0000000000000p-1f, 0x1.55548e0000000p-3f,  0x1.5554d80000000p-5f,
    0x1.123be80000000p-7f, 0x1.6d5efc0000000p-10f,
};
// weighted error 2^-28.2 (before rounding 2^-29.0)
inline constexpr float kExp2TailF32[] = {
    0x1.62e4300000000p-1f, 0x1.ebfbe00000000p-3f,  0x1.c6af720000000p-5f,
    0x1.3b2a460000000p-7f, 0x1.5f0dcc0000000p-10f, 0x1.4426fc0000000p-13f,
};
// weighted error 2^-27.6 (before rounding 2^-27.6)
inline constexpr float kLogTailF32[] = {
    0x1.55550c0000000p-2f, -0x1.fffe5e0000000p-3f, 0x1.99ce340000000p-3f, -0x1.55b7f00000000p-3f,
    0x1.1ef2540000000p-3f, -0x1.f03b160000000p-4f, 0x1.1df05a0000000p-3f, -0x1.0e2d0e0000000p-3f,
};
// weighted error 2^-28.0 (before rounding 2^-28.1)
inline constexpr float kSinTailF32[] = {
    -0x1.5555460000000p-3f,
    0x1.11077e0000000p-7f,
    -0x1.9956b40000000p-13f,
};
// weighted error 2^-33.1 (before rounding 2^-33.3)
inline constexpr float kCosTailF32[] = {
    0x1.55554a0000000p-5f,
    -0x1.6c0c2e0000000p-10f,
    0x1.99ead00000000p-16f,
};
// weighted error 2^-27.6 (before rounding 2^-27.6)
inline constexpr float kAsinTailF32[] = {
    0x1.5555ca0000000p-3f, 0x1.3301680000000p-4f, 0x1.748a680000000p-5f,
    0x1.8bb2e20000000p-6f, 0x1.59ce7c0000000p-5f,
};
// weighted error 2^-30.5 (before rounding 2^-30.5)
inline constexpr float kAtanTailF32[] = {
    -0x1.55554a0000000p-2f, 0x1.9991ea0000000p-3f,  -0x1.23ba760000000p-3f,
    0x1.b232200000000p-4f,  -0x1.f32ee20000000p-5f,
};
// weighted error 2^-29.9 (before rounding 2^-31.2)
inline constexpr float kErfTailF32[] = {
    0x1.06eba80000000p-3f, -0x1.8127420000000p-2f,  0x1.ce2df20000000p-4f,  -0x1.b80db80000000p-6f,
    0x1.54c62a0000000p-8f, -0x1.aa55c60000000p-11f, 0x1.5d7cac0000000p-14f,
};
// weighted error 2^-29.3 (before rounding 2^-29.3)
inline constexpr float kErfLogF32[] = {
    -0x1.928c580000000p-13f, -0x1.20b0420000000p+0f, -0x1.463a080000000p-1f, -0x1.a9c4f40000000p-4f,
    0x1.6c467a0000000p-6f,   -0x1.8f11680000000p-9f, 0x1.9b2abc0000000p-13f,
};
// weighted error 2^-28.5 (before rounding 2^-28.5)
inline constexpr float kTanhTailF32[] = {
    -0x1.55553e0000000p-2f, 0x1.1109c60000000p-3f,  -0x1.b89c580000000p-5f,
    0x1.54d0cc0000000p-6f,  -0x1.82ca2e0000000p-8f,
};
// weighted error 2^-24.0 (before rounding 2^-26.7)
inline constexpr float kErfinvCentralF32[] = {
    0x1.805c5e0000000p+0f,   0x1.f91e8c0000000p-3f,  -0x1.11c6c20000000p-8f,
    -0x1.48676c0000000p-10f, 0x1.ca08440000000p-13f, -0x1.4c48600000000p-18f,
    -0x1.d286f60000000p-19f, 0x1.f1bd580000000p-22f, 0x1.9f253a0000000p-26f,
    -0x1.278e660000000p-27f,
};
// weighted error 2^-24.7 (before rounding 2^-24.9)
inline constexpr float kErfinvTailF32[] = {
    0x1.6a9efc0000000p+1f,  0x1.006dc60000000p+0f,   0x1.357b320000000p-7f,
    -0x1.f487580000000p-8f, 0x1.75093c0000000p-8f,   -0x1.d7b2b80000000p-9f,
    0x1.81e9f00000000p-10f, -0x1.a33ba00000000p-15f, -0x1.39a5640000000p-12f,
    0x1.c6e1460000000p-14f,
};
// weighted error 2^-37.9 (before rounding 2^-37.9)
inline constexpr double kPowLog2[] = {
    0x1.71547652b620cp+0, -0x1.71547651960e3p-1, 0x1.ec709ddd04b11p-2, -0x1.715478c0afd40p-2,
    0x1.2776b9ae94cc8p-2, -0x1.ec6f14f2c12aep-3, 0x1.a61a793b21b20p-3, -0x1.718acaf0ede01p-3,
    0x1.48352dd0af183p-3, -0x1.23cd253892c7ap-3, 0x1.09f77a21c677ap-3, -0x1.133c3c6f4a672p-3,
    0x1.1291b3d0b65efp-3, -0x1.25bd08711ec16p-4,
};
// weighted error 2^-73.3 (before rounding 2^-73.3)
inline constexpr double kPowTail[] = {
    0x1.9999999999997p-3, 0x1.2492492492d5ap-3, 0x1.c71c71c5c7310p-4, 0x1.745d1815cf977p-4,
    0x1.3b13693cade9bp-4, 0x1.111fda695b58bp-4, 0x1.de5230b87198cp-5, 0x1.ea2c40b13e958p-5,
};
// weighted error 2^-58.0 (before rounding 2^-58.0)
inline constexpr double kExpTailF64[] = {
    0x1.000000000000bp-1,  0x1.5555555555561p-3,  0x1.555555555022ep-5,  0x1.111111110d633p-7,
    0x1.6c16c1854e773p-10, 0x1.a01a01bae6c69p-13, 0x1.a019975e7a566p-16, 0x1.71dddfbe30062p-19,
    0x1.28afa5f19e59fp-22, 0x1.af85a2643754ap-26,
};
// weighted error 2^-59.4 (before rounding 2^-64.4)
inline constexpr double kExp2TailF64[] = {
    0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58fp-3,  0x1.c6b08d704a183p-5,  0x1.3b2ab6fba4d80p-7,
    0x1.5d87fe7888b63p-10, 0x1.430912f8a935ep-13, 0x1.ffcbfcdbaffe7p-17, 0x1.62c021638d3b1p-20,
    0x1.b524225116ec0p-24, 0x1.e4d20088bf744p-28, 0x1.eafe861b9eedcp-32, 0x1.c0e482e82ff8bp-36,
};
// weighted error 2^-58.5 (before rounding 2^-58.5)
inline constexpr double kLogTailF64[] = {
    0x1.5555555555593p-1, 0x1.999999997f98ap-2, 0x1.24924942354b2p-2, 0x1.c71c51cb89dd7p-3,
    0x1.74664cc9b554dp-3, 0x1.39a0383a59ae8p-3, 0x1.2f15a2f9ff213p-3,
};
// weighted error 2^-62.9 (before rounding 2^-68.8)
inline constexpr double kSinTailF64[] = {
    -0x1.5555555555555p-3,  0x1.1111111111089p-7,  -0x1.a01a01a0065c9p-13, 0x1.71de3a3f68614p-19,
    -0x1.ae643c56ca0e8p-26, 0x1.61140f184153bp-33, -0x1.a513068c20b6ep-41,
};
// weighted error 2^-64.0 (before rounding 2^-64.0)
inline constexpr double kCosTailF64[] = {
    0x1.555555555554ep-5,   -0x1.6c16c16c155bep-10, 0x1.a01a019d0ddeep-16,
    -0x1.27e4f84521327p-22, 0x1.1eea10587c88fp-29,  -0x1.8fbfeda9ea062p-37,
};
// weighted error 2^-59.8 (before rounding 2^-59.8)
inline constexpr double kAsinTailF64[] = {
    0x1.5555555555578p-3, 0x1.333333332df3ep-4, 0x1.6db6db7228643p-5, 0x1.f1c71a8d09b53p-6,
    0x1.6e8bdfb7efb8cp-6, 0x1.1c49e1a565a30p-6, 0x1.ca20e5ad3ec9ep-7, 0x1.757ac7202a357p-7,
    0x1.6177a3f7c6cf2p-7, 0x1.e2895e39b36b7p-9, 0x1.64a24a8890de1p-6, -0x1.596a02027ea74p-6,
    0x1.0bb6f9aea93a0p-5,
};
// weighted error 2^-63.6 (before rounding 2^-64.2)
inline constexpr double kAtanTailF64[] = {
    -0x1.5555555555554p-2, 0x1.99999999995bdp-3, -0x1.24924924720e5p-3, 0x1.c71c71b5f4e70p-4,
    -0x1.745d149154d2bp-4, 0x1.3b136b1cc8d36p-4, -0x1.110c4b30f4231p-4, 0x1.e16f4fb1d7613p-5,
    -0x1.ab6df89252ee3p-5, 0x1.70b417197002fp-5, -0x1.11be3a525b39fp-5, 0x1.f0233272ef45fp-7,
};
// weighted error 2^-56.1 (before rounding 2^-62.4)
inline constexpr double kErfTailF64[] = {
    0x1.06eba8214db69p-3,  -0x1.812746b037a01p-2,  0x1.ce2f21a043a09p-4,  -0x1.b82ce312c0872p-6,
    0x1.565bcd15efd2bp-8,  -0x1.c02db534e06d8p-11, 0x1.f9a3453eb9ed9p-14, -0x1.f4d41df6becd6p-17,
    0x1.b9f35168b5c0fp-20, -0x1.5f5b3daa7247cp-23, 0x1.f31e4c788779dp-27, -0x1.09310fda11988p-30,
};
// weighted error 2^-61.0 (before rounding 2^-61.1)
inline constexpr double kErfcxF64[] = {
    0x1.058671b52c776p-2,   -0x1.b57034efd3f60p-2, 0x1.eeea7dc8a79b7p-3,   -0x1.437f0b68c6a7cp-4,
    0x1.e947158f10d26p-9,   0x1.ca95ed5eff8b8p-8,  -0x1.bc259a319c391p-11, -0x1.016b4e63b541fp-10,
    0x1.6d53f9af5b0a3p-15,  0x1.6d986e7481507p-13, 0x1.cd7cbcd61ca2ap-16,  -0x1.cacde3c2fe33cp-16,
    -0x1.c34b9193bf5f1p-17, 0x1.3cb0b85e3760ep-20, 0x1.1f3777d000a50p-19,
};
// weighted error 2^-62.7 (before rounding 2^-62.7)
inline constexpr double kTanhTailF64[] = {
    -0x1.5555555555554p-2,  0x1.1111111110f07p-3,  -0x1.ba1ba1b9f92bcp-5,  0x1.664f4879a9457p-6,
    -0x1.226e33f6caefap-7,  0x1.d6d38a10201e2p-9,  -0x1.7d9ebaa61d0b4p-10, 0x1.35223a5dc160fp-11,
    -0x1.f21f1ae32ecb8p-13, 0x1.8401c1502c7eap-14, -0x1.05b611234695fp-15, 0x1.b50dffc3ac2a4p-18,
};
// weighted error 2^-52.1 (before rounding 2^-52.2)
inline constexpr double kErfinvCentralF64[] = {
    0x1.a755e7c99ae86p+0,   0x1.ebd80d9b13e29p-3,   -0x1.8b6c33114f026p-8,  -0x1.84576948502a5p-11,
    0x1.879c2a20eaa86p-13,  -0x1.d1d1f7b83e2a2p-17, -0x1.6e8a53ff9d7e6p-20, 0x1.c6b4f5c94ec4fp-22,
    -0x1.f36ce1861caf4p-26, -0x1.1a9e37dd3dc95p-28, 0x1.20f4cdc868f67p-30,  -0x1.dc58696490153p-35,
    -0x1.c891977a1409fp-37, 0x1.72a2c6aa2f620p-39,  -0x1.6dfd5bbe5fb45p-44, -0x1.6d393e9948b3dp-45,
    0x1.dc0e6e3bd6729p-48,  0x1.8675c5ade3ab8p-56,  -0x1.2df618411b7e6p-53, 0x1.9b50c7bb79989p-57,
    0x1.5d7f3b8e3ac15p-60,  -0x1.8d7001a6df21ep-63, -0x1.08d623fa4f315p-69,
};
// weighted error 2^-51.3 (before rounding 2^-51.8)
inline constexpr double kErfinvMiddleF64[] = {
    0x1.8abcc380d5a48p+1,   0x1.0158a6d641d39p+0,   0x1.5ffcfe5b6fcaap-8,   -0x1.ebadabb8909e2p-9,
    0x1.468eeca715a49p-9,   -0x1.ba9241332d657p-10, 0x1.f3cc5538a1da5p-11,  -0x1.7448a893c5f30p-12,
    0x1.932d4d9239e9fp-16,  0x1.1e684be0e6840p-14,  -0x1.8cf03f815d043p-15, 0x1.a29a2ff211371p-17,
    0x1.889474287b94ap-19,  -0x1.0d5e4ef4df436p-18, 0x1.92b48783d54c6p-20,  0x1.3a04af4482ed1p-26,
    -0x1.24f20d5002d48p-22, 0x1.85b8570162cf8p-24,  0x1.671f1fcdae3efp-30,
};
// weighted error 2^-53.2 (before rounding 2^-54.8)
inline constexpr double kErfinvTailF64[] = {
    0x1.3664ddd1ad7fbp+2,  0x1.02a30d1fba10ep+0,   -0x1.22ea5df1f7d9ep-13, -0x1.c2f36aa2950dep-13,
    0x1.3ebf4f0131342p-14, -0x1.4a348fa0180ecp-16, 0x1.2fbcfa7854f76p-18,  -0x1.0a9081fc72184p-20,
    0x1.ebe4c5a65b7d6p-23, -0x1.22240df8cdb93p-24, 0x1.f267ae4b327b4p-26,  -0x1.062b31abaf20bp-26,
    0x1.0d25bd84e74b6p-27, -0x1.dc4561c800fc6p-29, 0x1.66c714de2b955p-30,  -0x1.e526273636574p-32,
    0x1.4996b6c861e56p-34, 0x1.812e1b7431cebp-35,  -0x1.7a8995590c73ep-36,
};
// 2/pi in pieces of 28 bits, times 2^0
inline constexpr double kTwoOverPi28[] = {
    0x1.45f306c000000p-1,   0x1.c9c882a000000p-29,  0x1.4fe13a8000000p-59,  0x1.f47d4d0000000p-86,
    0x1.bb81b6c000000p-113, 0x1.4acc9e0000000p-143, 0x1.0e4107c000000p-170,
};
// 2/pi in pieces of 53 bits, times 2^600
inline constexpr double kTwoOverPi53[] = {
    0x1.45f306dc9c882p+599, 0x1.4a7f09d5f47d4p+546, 0x1.a6ee06db14accp+493, 0x1.3c439041fe516p+440,
    0x1.d5ef5de2b0db8p+385, 0x1.2371d2126e970p+333, 0x1.924bba8274600p+274, 0x1.21cfe1deb1cb1p+228,
    0x1.4d39f74411af8p+173, 0x1.4baed1213a671p+122, 0x1.8135a2fbf209cp+69,  0x1.91d639835339fp+16,
    0x1.272117e2ef7e4p-38,  0x1.41d8ffc4bffeep-91,  0x1.02cc07f79788cp-143, 0x1.6b414da3eda6cp-197,
    0x1.fb3c9f2c26dd2p-250, 0x1.d18fd9a797fa8p-302, 0x1.6ba93dd63f5f2p-355, 0x1.f17b3d0739f78p-408,
    0x1.4a525d4d7f6bfp-461, 0x1.88fc6ae842b00p-515, 0x1.98237e3db5d5fp-567,
};
}  // namespace tsc::scalar_math::coefficients
