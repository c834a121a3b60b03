// Builds y = 2 x + 1 on three numbers, compiles it to native code and runs it.
#include <iostream>

#include "hilo/client.h"
#include "hilo/xla_builder.h"

absl::Status Run() {
  hilo::XlaBuilder builder("line");
  const hilo::XlaOp x = hilo::Parameter(&builder, 0, hilo::ShapeUtil::MakeShape(hilo::F32, {3}), "x");
  hilo::Add(hilo::Mul(x, hilo::ConstantR0<float>(&builder, 2)), hilo::ConstantR0<float>(&builder, 1));
  absl::StatusOr<hilo::XlaComputation> computation = builder.Build();
  if (!computation.ok()) return computation.status();
  auto client = hilo::Client::Create({});
  if (!client.ok()) return client.status();
  auto executable = (*client)->Compile(*computation);
  if (!executable.ok()) return executable.status();
  const hilo::Literal input = hilo::LiteralUtil::CreateR1<float>({1, 2, 3});
  absl::StatusOr<hilo::Literal> result = (*executable)->ExecuteLiterals({&input});
  if (result.ok()) std::cout << result->ToString() << "\n";
  return result.status();
}

int main() {
  const absl::Status status = Run();
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
