// A function of one's own in an XLA program: y = Halve(x) + 1.
#include <iostream>

#include "hilo/client.h"
#include "hilo/xla_builder.h"

// Gets the addresses of its result and of its operands.
void Halve(void* out, const void** in) {
  for (int i = 0; i < 3; ++i) static_cast<float*>(out)[i] = static_cast<const float*>(in[0])[i] / 2;
}

absl::Status Run() {
  auto client = hilo::Client::Create({});
  if (!client.ok()) return client.status();
  if (absl::Status status = (*client)->custom_call_registry()->Register("halve", &Halve); !status.ok()) return status;
  const hilo::Shape shape = hilo::ShapeUtil::MakeShape(hilo::F32, {3});
  hilo::XlaBuilder builder("program");
  const hilo::XlaOp x = hilo::Parameter(&builder, 0, shape, "x");
  hilo::Add(hilo::CustomCall(&builder, "halve", {x}, shape), hilo::ConstantR0<float>(&builder, 1));
  absl::StatusOr<hilo::XlaComputation> computation = builder.Build();
  if (!computation.ok()) return computation.status();
  auto executable = (*client)->Compile(*computation);
  if (!executable.ok()) return executable.status();
  const hilo::Literal input = hilo::LiteralUtil::CreateR1<float>({1, 2, 3});
  absl::StatusOr<hilo::Literal> result = (*executable)->ExecuteLiterals({&input});
  if (result.ok()) std::cout << result->ToString() << "\n";  // f32[3] {1.5, 2, 2.5}
  return result.status();
}

int main() {
  const absl::Status status = Run();
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
