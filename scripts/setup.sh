# Installs what building Hilo needs and this machine lacks. Sourced by ./check and ./demo, from the repository root.
#
# On Debian 12 these are packages of the distribution, installed with apt-get; root rights come from being root or from
# sudo. A machine that has them all is not touched.

readonly HILO_PACKAGES=(
  g++ cmake ninja-build ccache lld
  llvm-19-dev libabsl-dev zlib1g-dev libdnnl-dev libgtest-dev libbenchmark-dev
  libopenblas0-pthread libxml2-dev libzstd-dev pkgconf
  python3 python3-dev python3-venv python3-pip
)

hilo_step_name=""
hilo_step_start=0

# step NAME: ends the step before, with the seconds that it took, and announces the next one.
step() {
  if [[ -n "$hilo_step_name" ]]; then
    echo "== $hilo_step_name: $((SECONDS - hilo_step_start)) s"
  fi
  hilo_step_name="$1"
  hilo_step_start=$SECONDS
  if [[ -n "$1" ]]; then
    echo "== $1 ..."
  fi
}

# hilo_missing_packages PACKAGE...: those of them that are not installed.
hilo_missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || echo "$package"
  done
}

# hilo_setup [PACKAGE...]: installs what is missing of HILO_PACKAGES and of these.
hilo_setup() {
  local needed=("${HILO_PACKAGES[@]}" "$@")
  if ! command -v dpkg-query >/dev/null; then
    echo "This is no Debian; what Hilo needs must be installed already: ${needed[*]}"
    return 0
  fi
  local missing=()
  mapfile -t missing < <(hilo_missing_packages "${needed[@]}")
  if ((${#missing[@]} == 0)); then
    echo "nothing to install"
    return 0
  fi
  echo "installing with apt-get: ${missing[*]}"
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || { echo "not root, and there is no sudo: install them by hand"; return 1; }
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" |
    sed -n 's/^Setting up /  set up /p'
}

# hilo_jax_environment: a virtual environment build/venv-jax with the packages of tests/pjrt/requirements.txt, for the
# tests of JAX. Sets HILO_JAX_VENV, unless the caller has. Without a network it stays unset, and these tests are skipped.
hilo_jax_environment() {
  if [[ -n "${HILO_JAX_VENV:-}" ]]; then
    echo "the tests of JAX run in $HILO_JAX_VENV"
    return 0
  fi
  local wanted=tests/pjrt/requirements.txt venv="$PWD/build/venv-jax" python
  if ! cmp -s "$wanted" "$venv/installed.txt"; then
    rm -rf "$venv"
    # A python3.13 on the PATH may be pyenv's, which runs only where that version is selected.
    for python in python3.13 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.13.*/bin/python3 python3; do
      "$python" -m venv "$venv" >/dev/null 2>&1 && break
    done
    if ! "$venv/bin/python3" -m pip install -q --retries 1 --timeout 20 --disable-pip-version-check -r "$wanted"; then
      rm -rf "$venv"
      echo "JAX cannot be installed: ITS TESTS ARE SKIPPED (tests/pjrt/jax and tests/pjrt/packages)"
      return 0
    fi
    cp "$wanted" "$venv/installed.txt"
  fi
  "$venv/bin/python3" -c 'import jax, sys; print("JAX", jax.__version__, "on Python", sys.version.split()[0])'
  export HILO_JAX_VENV="$venv"
}

# hilo_build [TARGET...]: builds these targets, or everything, into build/.
hilo_build() {
  cmake --preset release
  NINJA_STATUS='[%f of %t, %e s] ' cmake --build --preset release ${1:+--target "$@"}
}
