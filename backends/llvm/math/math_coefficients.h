// The polynomials of vector_math, lowest coefficient first. Written by fit_polynomials.py; the forms stand beside their
// uses.
// clang-format off
#ifndef HILO_BACKENDS_LLVM_MATH_MATH_COEFFICIENTS_H_
#define HILO_BACKENDS_LLVM_MATH_MATH_COEFFICIENTS_H_

namespace hilo::codegen {

// Error 2^-25.82 (2^-26.18 before the coefficients were rounded).
inline constexpr double kExpF32[] = {
    0x1.fffffe0000000p-2,
    0x1.5554b00000000p-3,
    0x1.5556740000000p-5,
    0x1.1227760000000p-7,
    0x1.6bebd80000000p-10,
};

// Error 2^-59.94 (2^-61.74 before the coefficients were rounded).
inline constexpr double kExpF64[] = {
    0x1.0000000000000p-1,
    0x1.5555555555559p-3,
    0x1.555555555553fp-5,
    0x1.111111110f6dap-7,
    0x1.6c16c16c1f090p-10,
    0x1.a01a01afd3f03p-13,
    0x1.a01a017bbf64dp-16,
    0x1.71ddf87e7e850p-19,
    0x1.27e53639dfc97p-22,
    0x1.af5e75791a2aep-26,
    0x1.1ee87517b91acp-29,
};

// Error 2^-27.23 (2^-27.35 before the coefficients were rounded).
inline constexpr double kLogF32[] = {
    0x1.5555540000000p-2,
    -0x1.0002260000000p-2,
    0x1.99a0080000000p-3,
    -0x1.5472480000000p-3,
    0x1.22da3c0000000p-3,
    -0x1.0d85400000000p-3,
    0x1.055a780000000p-3,
    -0x1.38b30a0000000p-4,
};

// Error 2^-59.5 (2^-59.5 before the coefficients were rounded).
inline constexpr double kAtanhF64[] = {
    0x1.5555555555592p-1,
    0x1.999999997ff52p-2,
    0x1.24924941dce54p-2,
    0x1.c71c52185d68fp-3,
    0x1.74663c10ddadcp-3,
    0x1.39a1fefe408f5p-3,
    0x1.2f02df5f23082p-3,
};

// Error 2^-44.95 (2^-44.95 before the coefficients were rounded).
inline constexpr double kAtanhPowF32[] = {
    0x1.555555561d8bfp-1,
    0x1.999996ab1de7ap-2,
    0x1.24941132e7704p-2,
    0x1.c62b4fea2ea76p-3,
    0x1.911252c650fa3p-3,
};

// Error 2^-34.53 (2^-34.53 before the coefficients were rounded).
inline constexpr double kExp2PowF32[] = {
    0x1.ffffffffabbdfp-1,
    0x1.62e42ff1160bcp-1,
    0x1.ebfbe0a4b91c7p-3,
    0x1.c6b08aaf502bcp-5,
    0x1.3b29dc4479f00p-7,
    0x1.5d8a706a543c7p-10,
    0x1.446a1d7062d52p-13,
    0x1.fe17a52ebd43ep-17,
};

// Error 2^-27.27 (2^-27.3 before the coefficients were rounded).
inline constexpr double kSinF32[] = {
    -0x1.55554c0000000p-3,
    0x1.110eda0000000p-7,
    -0x1.9f70ee0000000p-13,
    0x1.5dc8cc0000000p-19,
};

// Error 2^-61.8 (2^-71.07 before the coefficients were rounded).
inline constexpr double kSinF64[] = {
    -0x1.5555555555555p-3,
    0x1.11111111110cdp-7,
    -0x1.a01a01a0155a1p-13,
    0x1.71de3a52f3a94p-19,
    -0x1.ae64550a43917p-26,
    0x1.6123e0a964371p-33,
    -0x1.ae4bac31cb1a1p-41,
    0x1.89ffba63c67e3p-49,
    -0x1.5059addfa3fe5p-60,
};

// Error 2^-27.9 (2^-27.97 before the coefficients were rounded).
inline constexpr double kSinQuarterF32[] = {
    -0x1.5555460000000p-3,
    0x1.1107780000000p-7,
    -0x1.9953ec0000000p-13,
};

// Error 2^-57.89 (2^-57.94 before the coefficients were rounded).
inline constexpr double kSinQuarterF64[] = {
    -0x1.5555555555548p-3,
    0x1.111111110f731p-7,
    -0x1.a01a019be9538p-13,
    0x1.71de355560cebp-19,
    -0x1.ae5e4bb350b19p-26,
    0x1.5d8b6485ba4dfp-33,
};

// Error 2^-32.92 (2^-33.01 before the coefficients were rounded).
inline constexpr double kCosQuarterF32[] = {
    0x1.55554a0000000p-5,
    -0x1.6c0c280000000p-10,
    0x1.99e8780000000p-16,
};

// Error 2^-63.93 (2^-63.96 before the coefficients were rounded).
inline constexpr double kCosQuarterF64[] = {
    0x1.555555555554bp-5,
    -0x1.6c16c16c15014p-10,
    0x1.a01a019c8efb0p-16,
    -0x1.27e4f7f1695aep-22,
    0x1.1ee9dbaec0b18p-29,
    -0x1.8fa671a574684p-37,
};

// Error 2^-28.39 (2^-28.53 before the coefficients were rounded).
inline constexpr double kAtanF32[] = {
    -0x1.55553e0000000p-2,
    0x1.9991e40000000p-3,
    -0x1.2420840000000p-3,
    0x1.c08c1a0000000p-4,
    -0x1.5808160000000p-4,
    0x1.da24e00000000p-5,
    -0x1.fd70140000000p-6,
    0x1.64117e0000000p-7,
    -0x1.d32f380000000p-10,
};

// Error 2^-57.22 (2^-57.59 before the coefficients were rounded).
inline constexpr double kAtanF64[] = {
    -0x1.5555555555526p-2,
    0x1.99999999955b1p-3,
    -0x1.249249237f4aap-3,
    0x1.c71c717fcc619p-4,
    -0x1.745d11ae3ff01p-4,
    0x1.3b136697dd633p-4,
    -0x1.110e51151e50fp-4,
    0x1.e1bba5a179e62p-5,
    -0x1.ae5e6f61cdbc0p-5,
    0x1.82dacc9c6cbe3p-5,
    -0x1.59a3e350f17aap-5,
    0x1.2c2e25c644482p-5,
    -0x1.e9f963a5c3ddep-6,
    0x1.683bfd3cbf235p-6,
    -0x1.c78e53917c6d6p-7,
    0x1.d7b718dac84b8p-8,
    -0x1.7a3782f6e8efdp-9,
    0x1.b3f7de0483436p-11,
    -0x1.3f33c8523c814p-13,
    0x1.bbe99b3d9ddfep-17,
};

// Error 2^-27.62 (2^-27.62 before the coefficients were rounded).
inline constexpr double kAsinF32[] = {
    0x1.5555c80000000p-3,
    0x1.3302040000000p-4,
    0x1.747bb60000000p-5,
    0x1.8c3e720000000p-6,
    0x1.595c3c0000000p-5,
};

// Error 2^-55.9 (2^-55.9 before the coefficients were rounded).
inline constexpr double kAsinF64[] = {
    0x1.5555555555390p-3,
    0x1.333333336e826p-4,
    0x1.6db6db4279588p-5,
    0x1.f1c72c3940974p-6,
    0x1.6e89f43aa7260p-6,
    0x1.1c6be1ead2538p-6,
    0x1.c6fdbd4874929p-7,
    0x1.8ec3149fc3f51p-7,
    0x1.abceb0222a788p-8,
    0x1.3ff50ba282090p-6,
    -0x1.09d3a6f242489p-6,
    0x1.056d8fcd743c7p-5,
};

// Error 2^-27.6 (2^-27.84 before the coefficients were rounded).
inline constexpr double kLogErfcF32[] = {
    -0x1.45f2fe0000000p-1,
    -0x1.a4f95e0000000p-4,
    0x1.39c0a80000000p-6,
    0x1.5c083e0000000p-13,
    -0x1.b688b60000000p-10,
    0x1.4dab7e0000000p-11,
    -0x1.f241e20000000p-14,
    0x1.3b820a0000000p-17,
};

// Error 2^-53.59 (2^-53.6 before the coefficients were rounded).
inline constexpr double kLogErfcF64[] = {
    -0x1.45f306dc9c936p-1,
    -0x1.a4f4e2a19a301p-4,
    0x1.3966858a00903p-6,
    0x1.b6b6cd8396fcdp-13,
    -0x1.bca6bd0dbe633p-10,
    0x1.3567f9cd28e70p-11,
    -0x1.b36349d3ac4f2p-16,
    -0x1.0db039560deabp-14,
    0x1.ec344769201fdp-16,
    -0x1.799fba9eee16ap-19,
    -0x1.dc213ec1319cfp-19,
    0x1.4457843f0ff00p-19,
    -0x1.c60059c2ccc59p-21,
    0x1.6d824d690bdcdp-23,
    -0x1.d98a1578bfb67p-28,
    -0x1.1a913591eb4e9p-27,
    0x1.bf5657fe020c5p-29,
    -0x1.802c439b36cd0p-31,
    0x1.add65908fc865p-34,
    -0x1.39c4a16f6da94p-37,
    0x1.119e507e0cb40p-41,
    -0x1.b293896319788p-47,
};

inline constexpr double kErfStep = 0x1.1000000000000p-1;
// Error 2^-24.2.
inline constexpr double kErfF32[][8] = {
    {0x0.0p+0, 0x1.1855a60000000p-1, 0x1.bbef100000000p-1, 0x1.f39bc20000000p-1, 0x1.fea4220000000p-1, 0x1.ffe96a0000000p-1, 0x1.ffff240000000p-1, 0x1.fffffc0000000p-1},
    {0x1.20dd760000000p+0, 0x1.b3ab060000000p-1, 0x1.75a93a0000000p-2, 0x1.6c7e2a0000000p-4, 0x1.9461b20000000p-7, 0x1.fe453c0000000p-11, 0x1.6e35640000000p-15, 0x1.2af4ec0000000p-20},
    {-0x1.85f0a00000000p-17, -0x1.cee5a80000000p-2, -0x1.8d04020000000p-2, -0x1.2274c40000000p-3, -0x1.ada7a80000000p-6, -0x1.52d7ac0000000p-9, -0x1.23cb540000000p-13, -0x1.1613f00000000p-18},
    {-0x1.80c6160000000p-2, -0x1.fa253a0000000p-4, 0x1.3938200000000p-3, 0x1.efd31c0000000p-4, 0x1.0eb5d20000000p-5, 0x1.1690c20000000p-8, 0x1.25c0800000000p-12, 0x1.49954c0000000p-17},
    {-0x1.152a9a0000000p-8, 0x1.77bdc40000000p-3, 0x1.8968860000000p-5, -0x1.92bac40000000p-5, -0x1.b014140000000p-6, -0x1.39c0660000000p-8, -0x1.a44e100000000p-12, -0x1.197ca40000000p-16},
    {0x1.11b43a0000000p-3, -0x1.03a5360000000p-10, -0x1.0931740000000p-4, -0x1.74a7f60000000p-8, 0x1.91ca4a0000000p-7, 0x1.fe58340000000p-9, 0x1.dc97320000000p-12, 0x1.9b31660000000p-16},
    {-0x1.5ff7c80000000p-5, -0x1.857bdc0000000p-5, 0x1.3b370c0000000p-7, 0x1.ff60c40000000p-7, -0x1.a436900000000p-10, -0x1.12daa20000000p-9, -0x1.7c4e560000000p-12, -0x1.c309ac0000000p-16},
};

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_MATH_MATH_COEFFICIENTS_H_
