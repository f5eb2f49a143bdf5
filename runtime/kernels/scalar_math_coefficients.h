#pragma once
// Polynomial coefficients of the scalar math functions, lowest order first.
// Written by tests/support/minimax.py, which says what each approximates: do not edit.
namespace tsc::scalar_math::coefficients {
// weighted error 2^-28.2 (before rounding 2^-28.2)
inline constexpr float kExpTailF32[] = {
    0x1.0000000000000p-1f, 0x1.55548e0000000p-3f, 0x1.5554d80000000p-5f, 0x1.123be80000000p-7f, 0x1.6d5efc0000000p-10f,
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
    0x1.5555ca0000000p-3f, 0x1.3301680000000p-4f, 0x1.748a680000000p-5f, 0x1.8bb2e20000000p-6f, 0x1.59ce7c0000000p-5f,
};
// weighted error 2^-31.8 (before rounding 2^-31.9)
inline constexpr float kAtanTailF32[] = {
    -0x1.5555520000000p-2f, 0x1.9997480000000p-3f,  -0x1.2450a00000000p-3f,
    0x1.c07ae40000000p-4f,  -0x1.482fb40000000p-4f, 0x1.4039860000000p-5f,
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
// weighted error 2^-24.9 (before rounding 2^-26.7)
inline constexpr float kErfinvCentralF32[] = {
    0x1.c5bf880000000p-1f,   0x1.db2a460000000p-3f,   0x1.7a5fa20000000p-7f,  -0x1.31981c0000000p-9f,
    -0x1.10c2460000000p-13f, 0x1.8167c00000000p-15f,  0x1.db69e20000000p-19f, -0x1.fc30060000000p-20f,
    0x1.c846040000000p-23f,  -0x1.2160f00000000p-27f,
};
// weighted error 2^-25.6 (before rounding 2^-28.0)
inline constexpr float kErfinvTailF32[] = {
    0x1.6a9efc0000000p+1f,   0x1.006dca0000000p+0f,  0x1.357e1a0000000p-7f,   -0x1.f4e2600000000p-8f,
    0x1.74dfb00000000p-8f,   -0x1.d384b20000000p-9f, 0x1.8198900000000p-10f,  -0x1.f5e09a0000000p-14f,
    -0x1.1f42140000000p-12f, 0x1.4f1e740000000p-13f, -0x1.fa78aa0000000p-16f,
};
// weighted error 2^-37.9 (before rounding 2^-37.9)
inline constexpr double kPowLog2[] = {
    0x1.71547652bc257p+0,  -0x1.71547653263c4p-1, 0x1.ec709d8d71a97p-2,  -0x1.715475564d1c6p-2, 0x1.2776e33909c22p-2,
    -0x1.ec7147b4a5d79p-3, 0x1.a60ad73113208p-3,  -0x1.713b074298842p-3, 0x1.4986de1da6c5ap-3,  -0x1.296c23694e0b7p-3,
    0x1.f9c4bf882e1d4p-4,  -0x1.c36506596a312p-4, 0x1.43296bc6bd7cdp-3,  -0x1.3d04f7af36a90p-3,
};
// weighted error 2^-73.3 (before rounding 2^-73.3)
inline constexpr double kPowTail[] = {
    0x1.9999999999997p-3, 0x1.2492492492d5ap-3, 0x1.c71c71c5c7310p-4, 0x1.745d1815cf977p-4,
    0x1.3b13693cade9bp-4, 0x1.111fda695b58bp-4, 0x1.de5230b87198cp-5, 0x1.ea2c40b13e958p-5,
};
// weighted error 2^-58.0 (before rounding 2^-58.0)
inline constexpr double kExpTailF64[] = {
    0x1.000000000000bp-1,  0x1.5555555555561p-3,  0x1.555555555022ep-5,  0x1.111111110d633p-7,  0x1.6c16c1854e773p-10,
    0x1.a01a01bae6c69p-13, 0x1.a019975e7a566p-16, 0x1.71dddfbe30062p-19, 0x1.28afa5f19e59fp-22, 0x1.af85a2643754ap-26,
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
    0x1.5555555555578p-3, 0x1.333333332df3ep-4,  0x1.6db6db7228643p-5, 0x1.f1c71a8d09b53p-6, 0x1.6e8bdfb7efb8cp-6,
    0x1.1c49e1a565a30p-6, 0x1.ca20e5ad3ec9ep-7,  0x1.757ac7202a357p-7, 0x1.6177a3f7c6cf2p-7, 0x1.e2895e39b36b7p-9,
    0x1.64a24a8890de1p-6, -0x1.596a02027ea74p-6, 0x1.0bb6f9aea93a0p-5,
};
// weighted error 2^-65.3 (before rounding 2^-70.6)
inline constexpr double kAtanTailF64[] = {
    -0x1.5555555555555p-2, 0x1.99999999998e0p-3,  -0x1.249249248d738p-3, 0x1.c71c71c4f6430p-4,  -0x1.745d16fa95923p-4,
    0x1.3b13aa6150600p-4,  -0x1.1110a1724fc94p-4, 0x1.e1d7a4bdce9dfp-5,  -0x1.aed02c6aed3bep-5, 0x1.83e4c3e975d0dp-5,
    -0x1.59bc057a30181p-5, 0x1.2319994901199p-5,  -0x1.a33485dcb141ep-6, 0x1.b0a7e3c3efa4dp-7,  -0x1.c0fda1554d009p-9,
};
// weighted error 2^-56.1 (before rounding 2^-62.4)
inline constexpr double kErfTailF64[] = {
    0x1.06eba8214db69p-3,  -0x1.812746b037a01p-2,  0x1.ce2f21a043a09p-4,  -0x1.b82ce312c0872p-6,
    0x1.565bcd15efd2bp-8,  -0x1.c02db534e06d8p-11, 0x1.f9a3453eb9ed9p-14, -0x1.f4d41df6becd6p-17,
    0x1.b9f35168b5c0fp-20, -0x1.5f5b3daa7247cp-23, 0x1.f31e4c788779dp-27, -0x1.09310fda11988p-30,
};
// weighted error 2^-61.0 (before rounding 2^-61.1)
inline constexpr double kErfcxF64[] = {
    0x1.058671b52c776p-2,  -0x1.b57034efd3f60p-2,  0x1.eeea7dc8a79b7p-3,   -0x1.437f0b68c6a7cp-4, 0x1.e947158f10d26p-9,
    0x1.ca95ed5eff8b8p-8,  -0x1.bc259a319c391p-11, -0x1.016b4e63b541fp-10, 0x1.6d53f9af5b0a3p-15, 0x1.6d986e7481507p-13,
    0x1.cd7cbcd61ca2ap-16, -0x1.cacde3c2fe33cp-16, -0x1.c34b9193bf5f1p-17, 0x1.3cb0b85e3760ep-20, 0x1.1f3777d000a50p-19,
};
// weighted error 2^-54.5 (before rounding 2^-58.9)
inline constexpr double kErfinvCentralF64[] = {
    0x1.c5bf891b4ef6bp-1,   0x1.db29fb2fee58ep-3,   0x1.7a72e72c24e8fp-7,   -0x1.3211025ec25dap-9,
    -0x1.0c86b824d705bp-13, 0x1.87014c15fa2d9p-15,  0x1.0f1e7cf6592cbp-19,  -0x1.0fce4ddcb341bp-20,
    -0x1.4077cb573e5d6p-25, 0x1.8819392b11ff5p-26,  0x1.888aab0771e0dp-31,  -0x1.0afe59f27d1ddp-31,
    -0x1.82bc07a04d8f5p-35, 0x1.e6ec8e3c342f1p-36,  -0x1.be27c773b8731p-38, 0x1.186fddc509d8cp-39,
    -0x1.58d454269866ap-41, 0x1.20715b3dd5b71p-43,  -0x1.34078227c33f4p-46, 0x1.75ee2e673373ep-50,
    -0x1.f58f09fccdd95p-57, -0x1.4ba3085f8b3d1p-57, 0x1.4713975dafef8p-60,  -0x1.40e20f8841646p-64,
    0x1.57554b40edca6p-69,  -0x1.4112a2e863c8ap-75,
};
// weighted error 2^-53.3 (before rounding 2^-58.1)
inline constexpr double kErfinvMiddleF64[] = {
    0x1.8abcc380d5a48p+1,   0x1.0158a6d641d55p+0,   0x1.5ffcfe5b69ae7p-8,   -0x1.ebadabba05392p-9,
    0x1.468eecaa32b88p-9,   -0x1.ba9240d80600ep-10, 0x1.f3cc541cfff81p-11,  -0x1.7448bcdca2f13p-12,
    0x1.932edd172837fp-16,  0x1.1e6abdde1bfd8p-14,  -0x1.8cf541ba22f8cp-15, 0x1.a24189f3fddbfp-17,
    0x1.89ccd832e76f5p-19,  -0x1.0b78c3b8c6879p-18, 0x1.8cd15536227e3p-20,  -0x1.dc1d6236ff7acp-26,
    -0x1.02953839dccf6p-22, 0x1.1abf1405d7ab3p-23,  -0x1.a64eec42b11bdp-26, -0x1.076641f835955p-26,
    0x1.3247a29e5bd6cp-27,
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
