// The kernels of golden_kernels_test.cc: what their PTX has, and what they ask of a multiprocessor at most.
#ifndef HILO_TESTS_UNIT_BACKENDS_GPU_GOLDEN_KERNELS_H_
#define HILO_TESTS_UNIT_BACKENDS_GPU_GOLDEN_KERNELS_H_

#include <vector>

namespace hilo::gpu {

struct Golden {
  const char* name;
  const char* text;
  int kernels;
  int registers;                     // at most, a thread
  std::vector<const char*> ptx;      // is there
  std::vector<const char*> not_ptx;  // is not
  bool for_sm_80_alone = false;      // later architectures have other instructions for it

  std::vector<const char*> architectures(std::vector<const char*> all) const {
    return for_sm_80_alone ? std::vector<const char*>{"sm_80"} : all;
  }
};

inline const Golden kGoldens[] = {
    {"elementwise_f32",
     R"(
HloModule m
ENTRY main { x = f32[1024,1024] parameter(0)  y = f32[1024,1024] parameter(1)  e = f32[1024,1024] exponential(x)  ROOT m = f32[1024,1024] multiply(e, y) }
)",
     1,
     40,
     {"ld.global.nc.v4.f32", "st.global.v4.f32"},
     {"div.s64", "rem.u64", ".local"}},
    {"elementwise_bf16",
     R"(
HloModule m
ENTRY main { x = bf16[4096,512] parameter(0)  y = bf16[4096,512] parameter(1)  ROOT m = bf16[4096,512] add(x, y) }
)",
     1,
     40,
     {"ld.global.nc.v4", "st.global.v4", "cvt.rn.bf16.f32"},
     {".local", "bfe"}},
    {"elementwise_f16",
     R"(
HloModule m
ENTRY main { x = f16[4096,512] parameter(0)  y = f16[4096,512] parameter(1)  ROOT m = f16[4096,512] add(x, y) }
)",
     1,
     40,
     {"ld.global.nc.v4", "st.global.v4", "cvt.rn.f16.f32", "cvt.f32.f16"},
     {".local", "bfe"}},
    {"elementwise_f64",
     R"(
HloModule m
ENTRY main { x = f64[8192,128] parameter(0)  ROOT m = f64[8192,128] multiply(x, x) }
)",
     1,
     40,
     {"ld.global.nc.v2.f64", "st.global.v2.f64"},
     {".local"}},
    {"bias_and_relu",
     R"(
HloModule m
ENTRY main {
  x = f32[512,1024] parameter(0)
  bias = f32[1024] parameter(1)
  b = f32[512,1024] broadcast(bias), dimensions={1}
  s = f32[512,1024] add(x, b)
  zero = f32[] constant(0)
  z = f32[512,1024] broadcast(zero), dimensions={}
  ROOT r = f32[512,1024] maximum(s, z)
}
)",
     1,
     40,
     {"ld.global.nc.v4.f32", "st.global.v4.f32"},
     {"div.s64", "rem.u64", ".local"}},
    {"row_sums",
     R"(
HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main { x = f32[4096,4096] parameter(0)  zero = f32[] constant(0)  ROOT r = f32[4096] reduce(x, zero), dimensions={1}, to_apply=add }
)",
     1,
     40,
     {"ld.global.nc.v4.f32", "shfl.sync.bfly", "bar.sync"},
     {"atom.", ".local"}},
    {"short_rows",
     R"(
HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main { x = f32[65536,64] parameter(0)  zero = f32[] constant(0)  ROOT r = f32[65536] reduce(x, zero), dimensions={1}, to_apply=add }
)",
     1,
     40,
     {"ld.global.nc.v4.f32", "shfl.sync.bfly"},
     {"bar.sync", "atom.", ".local"}},
    {"sum_of_all",
     R"(
HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main { x = f32[1048576] parameter(0)  zero = f32[] constant(0)  ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=add }
)",
     2,
     40,
     {"ld.global.nc.v4.f32", "shfl.sync.bfly"},
     {"atom.", ".local"}},
    {"column_sums",
     R"(
HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main { x = f32[4096,1024] parameter(0)  zero = f32[] constant(0)  ROOT r = f32[1024] reduce(x, zero), dimensions={0}, to_apply=add }
)",
     2,
     80,
     {"ld.global.nc.v4.f32"},
     {"atom.", ".local"}},
    {"softmax",
     R"(
HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] maximum(a, b) }
ENTRY main {
  x = f32[4096,1024] parameter(0)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[4096] reduce(x, low), dimensions={1}, to_apply=max
  mb = f32[4096,1024] broadcast(m), dimensions={0}
  d = f32[4096,1024] subtract(x, mb)
  e = f32[4096,1024] exponential(d)
  s = f32[4096] reduce(e, zero), dimensions={1}, to_apply=add
  sb = f32[4096,1024] broadcast(s), dimensions={0}
  ROOT r = f32[4096,1024] divide(e, sb)
}
)",
     1,
     88,
     {"ld.global.nc.v4.f32", "st.global.v4.f32", "shfl.sync.bfly", "bar.sync"},
     {"ld.global.nc.f32", "ld.global.f32", ".local"}},
    {"transpose",
     R"(
HloModule m
ENTRY main { x = f32[2048,1024] parameter(0)  ROOT t = f32[1024,2048] transpose(x), dimensions={1,0} }
)",
     1,
     48,
     {"ld.global.nc.v4.f32", "st.global.v4.f32", "st.shared", "ld.shared", "bar.sync"},
     {".local", "ld.global.nc.f32"}},
    // Narrow floats are moved, not decoded, and fit the static shared memory.
    {"transpose_f8",
     R"(
HloModule m
ENTRY main { x = f8e4m3fn[1024,2048] parameter(0)  ROOT y = f8e4m3fn[2048,1024] transpose(x), dimensions={1,0} }
)",
     1,
     40,
     {"ld.global.nc.u32", "st.global.u32", "bar.sync"},
     {".local", "st.global.u8", "f32"}},
    {"transpose_f8_of_uneven_sides",
     R"(
HloModule m
ENTRY main { x = f8e5m2[1028,2052] parameter(0)  ROOT y = f8e5m2[2052,1028] transpose(x), dimensions={1,0} }
)",
     1,
     48,
     {"bar.sync"},
     {".local", "f32"}},
    {"dot",
     R"(
HloModule m
ENTRY main { x = f32[512,512] parameter(0)  y = f32[512,512] parameter(1)  ROOT d = f32[512,512] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest} }
)",
     2,
     96,
     {"ld.global.nc.v4.f32", "ld.shared", "fma.rn.f32", "bar.sync"},
     {".local"}},
    {"tf32",
     R"(
HloModule m
ENTRY main { x = f32[512,512] parameter(0)  y = f32[512,512] parameter(1)  ROOT d = f32[512,512] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
)",
     1,
     128,
     {"cp.async.cg.shared.global", "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "cvt.rna.tf32.f32",
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"},
     {".local", "fma.rn.f32"}},
    {"tensor_cores",
     R"(
HloModule m
ENTRY main {
  x = bf16[2048,1024] parameter(0)
  w = bf16[1024,4096] parameter(1)
  bias = f32[4096] parameter(2)
  residual = bf16[2048,4096] parameter(3)
  d = f32[2048,4096] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[2048,4096] broadcast(bias), dimensions={1}
  h = f32[2048,4096] add(d, b)
  r = f32[2048,4096] convert(residual)
  s = f32[2048,4096] add(h, r)
  ROOT c = bf16[2048,4096] convert(s)
}
)",
     1,
     192,
     {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "cp.async.cg.shared.global", "cp.async.wait_group 1"},
     {".local", "fma.rn.f32", "ld.global.nc.v4", "st.shared"},
     true},
    {"weights_of_8_bits",
     R"(
HloModule m
ENTRY main {
  x = bf16[16,4096] parameter(0)
  q = s8[4096,4096] parameter(1)
  scale = bf16[4096] parameter(2)
  w = bf16[4096,4096] convert(q)
  b = bf16[4096,4096] broadcast(scale), dimensions={1}
  s = bf16[4096,4096] multiply(w, b)
  ROOT d = bf16[16,4096] dot(x, s), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)",
     2,
     160,
     {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "st.shared.v4"},
     {".local"}},
    {"dot_s8",
     R"(
HloModule m
ENTRY main { x = s8[512,512] parameter(0)  y = s8[512,512] parameter(1)  ROOT d = s32[512,512] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1} }
)",
     1,
     128,
     {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "cp.async.cg.shared.global", "cp.async.wait_group 2"},
     {".local", "st.shared"}},
    {"top_k",
     R"(
HloModule m
ENTRY main { x = f32[64,65536] parameter(0)  ROOT t = (f32[64,16], s32[64,16]) topk(x), k=16, largest=true }
)",
     2,
     48,
     {"bar.sync", "min.u64", "max.u64"},
     {".local", "div.s64"}},
    {"layer_norm_gradient",
     R"(
HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main {
  xb = bf16[8192,1024] parameter(0)
  gb = bf16[8192,1024] parameter(1)
  x = f32[8192,1024] convert(xb)
  g = f32[8192,1024] convert(gb)
  zero = f32[] constant(0)
  s = f32[8192] reduce(x, zero), dimensions={1}, to_apply=add
  means = f32[8192,1024] broadcast(s), dimensions={0}
  y = f32[8192,1024] subtract(x, means)
  gy = f32[8192,1024] multiply(g, y)
  t = f32[8192] reduce(gy, zero), dimensions={1}, to_apply=add
  ts = f32[8192,1024] broadcast(t), dimensions={0}
  d = f32[8192,1024] subtract(g, ts)
  dx = bf16[8192,1024] convert(d)
  dgamma = f32[1024] reduce(gy, zero), dimensions={0}, to_apply=add
  dbeta = f32[1024] reduce(g, zero), dimensions={0}, to_apply=add
  ROOT all = (bf16[8192,1024], f32[1024], f32[1024]) tuple(dx, dgamma, dbeta)
}
)",
     2,
     72,
     {"ld.global.nc.v4.u32", "bar.sync"},
     {".local"}},
    {"radix_sort",
     R"(
HloModule m
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT l = pred[] compare(a, b), direction=LT, type=TOTALORDER }
ENTRY main { x = f32[1048576] parameter(0)  ROOT s = f32[1048576] sort(x), dimensions={0}, to_apply=less }
)",
     3,
     64,
     {"bar.sync", "match.any.sync.b32", "ld.volatile.global.u32", "atom.shared.add.u32"},
     {".local"}},
    {"scan_lines",
     R"(
HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main { x = f32[4,262144] parameter(0)  z = f32[] constant(0)  ROOT r = f32[4,262144] reduce-window(x, z), window={size=1x262144 pad=0_0x262143_0}, to_apply=add }
)",
     2,
     72,
     {"ld.global.nc.v4.f32", "st.global.v4.f32", "ld.volatile.global.u64", "st.volatile.global.u64"},
     {".local"}},
    {"scan_columns",
     R"(
HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main { x = f32[65536,512] parameter(0)  z = f32[] constant(0)  ROOT r = f32[65536,512] reduce-window(x, z), window={size=65536x1 pad=65535_0x0_0}, to_apply=add }
)",
     2,
     104,
     {"ld.global.nc.v4.f32", "st.global.v4.f32", "ld.volatile.global.u64", "st.volatile.global.u64"},
     {".local"}},
    {"concatenate",
     R"(
HloModule m
ENTRY main { x = f32[1024,256] parameter(0)  y = f32[1024,512] parameter(1)  ROOT c = f32[1024,768] concatenate(x, y), dimensions={1} }
)",
     1,
     40,
     {"ld.global.nc.v4.f32", "st.global.v4.f32"},
     {"ld.global.nc.f32", "st.global.f32", ".local"}},
    {"scatter_rows",
     R"(
HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main {
  rows = f32[4096,128] parameter(0)
  at = s32[1024,1] parameter(1)
  updates = f32[1024,128] parameter(2)
  ROOT r = f32[4096,128] scatter(rows, at, updates), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=add
}
)",
     1,
     40,
     {"ld.global.nc.v4.f32", "ld.global.v4.f32", "st.global.v4.f32"},
     {"st.global.f32", ".local"}},
    // 128 features of f32.
    {"attention_in_tf32",
     R"(
HloModule m
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] maximum(a, b) }
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY main {
  q = f32[8,256,128] parameter(0)
  k = f32[8,256,128] parameter(1)
  v = f32[8,256,128] parameter(2)
  s = f32[8,256,256] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[8,256] reduce(s, low), dimensions={2}, to_apply=max
  mb = f32[8,256,256] broadcast(m), dimensions={0,1}
  x = f32[8,256,256] subtract(s, mb)
  e = f32[8,256,256] exponential(x)
  l = f32[8,256] reduce(e, zero), dimensions={2}, to_apply=add
  lb = f32[8,256,256] broadcast(l), dimensions={0,1}
  p = f32[8,256,256] divide(e, lb)
  ROOT o = f32[8,256,128] dot(p, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
}
)",
     1,
     250,
     {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "cvt.rna.tf32.f32", "ex2.approx", "ld.shared.v2."},
     {".local"}},
    // All digits of f32 count.
    {"attention_by_threads",
     R"(
HloModule m
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] maximum(a, b) }
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY main {
  q = f32[8,256,64] parameter(0)
  k = f32[8,256,64] parameter(1)
  v = f32[8,256,64] parameter(2)
  s = f32[8,256,256] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}, operand_precision={highest,highest}
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[8,256] reduce(s, low), dimensions={2}, to_apply=max
  mb = f32[8,256,256] broadcast(m), dimensions={0,1}
  x = f32[8,256,256] subtract(s, mb)
  e = f32[8,256,256] exponential(x)
  l = f32[8,256] reduce(e, zero), dimensions={2}, to_apply=add
  lb = f32[8,256,256] broadcast(l), dimensions={0,1}
  p = f32[8,256,256] divide(e, lb)
  ROOT o = f32[8,256,64] dot(p, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}, operand_precision={highest,highest}
}
)",
     1,
     176,
     {"fma.rn.f32", "ld.shared.v4.f32", "ex2.approx"},
     {"mma.sync", ".local"}},
    // One query of each head: parts of the keys, and a kernel that merges them.
    {"attention_of_one_query",
     R"(
HloModule m
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] maximum(a, b) }
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY main {
  q = bf16[2,8,128] parameter(0)
  k = bf16[2,4096,8,128] parameter(1)
  v = bf16[2,4096,8,128] parameter(2)
  position = s32[] parameter(3)
  s = f32[2,8,4096] dot(q, k), lhs_batch_dims={0,1}, rhs_batch_dims={0,2}, lhs_contracting_dims={2}, rhs_contracting_dims={3}
  i = s32[4096] iota(), iota_dimension=0
  p = s32[4096] broadcast(position), dimensions={}
  seen = pred[4096] compare(i, p), direction=LE
  mask = pred[2,8,4096] broadcast(seen), dimensions={2}
  hidden = f32[] constant(-1e30)
  h = f32[2,8,4096] broadcast(hidden), dimensions={}
  x = f32[2,8,4096] select(mask, s, h)
  low = f32[] constant(-inf)
  m = f32[2,8] reduce(x, low), dimensions={2}, to_apply=max
  mb = f32[2,8,4096] broadcast(m), dimensions={0,1}
  d = f32[2,8,4096] subtract(x, mb)
  e = f32[2,8,4096] exponential(d)
  zero = f32[] constant(0)
  t = f32[2,8] reduce(e, zero), dimensions={2}, to_apply=add
  tb = f32[2,8,4096] broadcast(t), dimensions={0,1}
  w = f32[2,8,4096] divide(e, tb)
  w16 = bf16[2,8,4096] convert(w)
  o = f32[2,8,128] dot(w16, v), lhs_batch_dims={0,1}, rhs_batch_dims={0,2}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  ROOT r = bf16[2,8,128] convert(o)
}
)",
     2,
     255,
     {"cp.async.cg.shared.global", "mma.sync.aligned.m16n8k16", "ex2.approx"},
     {".local", "atom."}},
    // Two products of 64 features, and no scores in memory.
    {"attention_gradient",
     R"(
HloModule m
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] maximum(a, b) }
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY main {
  q = bf16[4,128,64] parameter(0)
  k = bf16[4,128,64] parameter(1)
  v = bf16[4,128,64] parameter(2)
  do = bf16[4,128,64] parameter(3)
  s = f32[4,128,128] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[4,128] reduce(s, low), dimensions={2}, to_apply=max
  mb = f32[4,128,128] broadcast(m), dimensions={0,1}
  x = f32[4,128,128] subtract(s, mb)
  e = f32[4,128,128] exponential(x)
  l = f32[4,128] reduce(e, zero), dimensions={2}, to_apply=add
  lb = f32[4,128,128] broadcast(l), dimensions={0,1}
  p = f32[4,128,128] divide(e, lb)
  w = bf16[4,128,128] convert(p)
  g = f32[4,128,128] dot(do, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  gp = f32[4,128,128] multiply(g, p)
  r = f32[4,128] reduce(gp, zero), dimensions={2}, to_apply=add
  rb = f32[4,128,128] broadcast(r), dimensions={0,1}
  h = f32[4,128,128] subtract(g, rb)
  d = f32[4,128,128] multiply(h, p)
  ds = bf16[4,128,128] convert(d)
  dq = bf16[4,128,64] dot(ds, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  dk = bf16[4,128,64] dot(ds, q), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}
  dv = bf16[4,128,64] dot(w, do), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT t = (bf16[4,128,64], bf16[4,128,64], bf16[4,128,64]) tuple(dq, dk, dv)
}
)",
     2,
     224,
     {"mma.sync.aligned.m16n8k16", "ldmatrix", "ex2.approx"},
     {"atom.", ".local"}},
    {"histogram",
     R"(
HloModule m
add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT s = s32[] add(a, b) }
ENTRY main {
  bins = s32[256] parameter(0)
  at = s32[100000,1] parameter(1)
  one = s32[] constant(1)
  ones = s32[100000] broadcast(one), dimensions={}
  ROOT r = s32[256] scatter(bins, at, ones), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
}
)",
     1,
     32,
     {"atom"},
     {".local"}},
    // Three sums across the rows are running values of each column of a thread.
    {"layer_norm_gradient_and_sum",
     R"(
HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x16 = bf16[25088,768] parameter(0)
  dy16 = bf16[25088,768] parameter(1)
  r16 = bf16[25088,768] parameter(2)
  g = f32[768] parameter(3)
  zero = f32[] constant(0)
  n = f32[] constant(0.0013020834)
  e = f32[] constant(1e-05)
  x = f32[25088,768] convert(x16)
  dy = f32[25088,768] convert(dy16)
  r = f32[25088,768] convert(r16)
  s = f32[25088] reduce(x, zero), dimensions={1}, to_apply=add
  ns = f32[25088] broadcast(n), dimensions={}
  mean = f32[25088] multiply(s, ns)
  means = f32[25088,768] broadcast(mean), dimensions={0}
  d = f32[25088,768] subtract(x, means)
  dd = f32[25088,768] multiply(d, d)
  v = f32[25088] reduce(dd, zero), dimensions={1}, to_apply=add
  vn = f32[25088] multiply(v, ns)
  es = f32[25088] broadcast(e), dimensions={}
  ve = f32[25088] add(vn, es)
  i = f32[25088] rsqrt(ve)
  is = f32[25088,768] broadcast(i), dimensions={0}
  h = f32[25088,768] multiply(d, is)
  gs = f32[25088,768] broadcast(g), dimensions={1}
  dh = f32[25088,768] multiply(dy, gs)
  dg_terms = f32[25088,768] multiply(dy, h)
  dg = f32[768] reduce(dg_terms, zero), dimensions={0}, to_apply=add
  db = f32[768] reduce(dy, zero), dimensions={0}, to_apply=add
  dr = f32[768] reduce(r, zero), dimensions={0}, to_apply=add
  p = f32[25088,768] multiply(dh, h)
  a = f32[25088] reduce(p, zero), dimensions={1}, to_apply=add
  b = f32[25088] reduce(dh, zero), dimensions={1}, to_apply=add
  an = f32[25088] multiply(a, ns)
  bn = f32[25088] multiply(b, ns)
  as = f32[25088,768] broadcast(an), dimensions={0}
  bs = f32[25088,768] broadcast(bn), dimensions={0}
  ha = f32[25088,768] multiply(h, as)
  t = f32[25088,768] subtract(dh, ha)
  u = f32[25088,768] subtract(t, bs)
  w = f32[25088,768] multiply(u, is)
  dx = f32[25088,768] add(w, r)
  dx16 = bf16[25088,768] convert(dx)
  ROOT result = (bf16[25088,768], f32[768], f32[768], f32[768]) tuple(dx16, dg, db, dr)
}
)",
     2,
     128,
     {"ld.global.nc.v4.u16", "st.global.v4.b16"},
     {".local"}},
    // Neither waits for the other: one launch.
    {"slices",
     R"(
HloModule m
ENTRY main {
  x = f32[64,2048] parameter(0)
  a = f32[64,512] slice(x), slice={[0:64], [0:512]}
  b = f32[64,1536] slice(x), slice={[0:64], [512:2048]}
  ROOT r = (f32[64,512], f32[64,1536]) tuple(a, b)
}
)",
     1,
     40,
     {"ld.global.nc.v4.f32", "st.global.v4.f32"},
     {".local"}},
};

}  // namespace hilo::gpu

#endif  // HILO_TESTS_UNIT_BACKENDS_GPU_GOLDEN_KERNELS_H_
