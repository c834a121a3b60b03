#include "hilo/version.h"

#include <elf.h>
#include <link.h>

#include <cstring>

#include "absl/strings/escaping.h"

namespace hilo {
namespace {

struct Search {
  uintptr_t inside;  // an address in the wanted object
  std::string id;
};

bool Holds(const dl_phdr_info& object, uintptr_t address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& header = object.dlpi_phdr[i];
    if (header.p_type == PT_LOAD && address - object.dlpi_addr - header.p_vaddr < header.p_memsz) return true;
  }
  return false;
}

// The description of the first build id among the notes at [note, end).
std::string FindBuildId(const char* note, const char* end) {
  const auto padded = [](size_t size) { return (size + 3) / 4 * 4; };
  while (end - note >= static_cast<ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, note, sizeof(header));
    const char* name = note + sizeof(header);
    const char* description = name + padded(header.n_namesz);
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      return std::string(description, header.n_descsz);
    }
    note = description + padded(header.n_descsz);
  }
  return "";
}

int Visit(dl_phdr_info* object, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  if (!Holds(*object, search->inside)) return 0;
  for (int i = 0; i < object->dlpi_phnum && search->id.empty(); ++i) {
    const auto& header = object->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const char* begin = reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr);
    search->id = FindBuildId(begin, begin + header.p_memsz);
  }
  return 1;
}

}  // namespace

absl::string_view Version() { return HILO_VERSION; }

const std::string& BuildId() {
  static const std::string* const id = [] {
    Search search{.inside = reinterpret_cast<uintptr_t>(&Visit)};
    dl_iterate_phdr(&Visit, &search);
    return new std::string(absl::BytesToHexString(search.id));
  }();
  return *id;
}

}  // namespace hilo
