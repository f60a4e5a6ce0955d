#!/usr/bin/env bash
# Builds the native module with cargo alone and puts it beside the Python files: no wheel, no maturin. Then
# `PYTHONPATH=bindings/python/python python3` imports it. More arguments go to cargo: `dev.sh --release`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
cargo build -q -p toolfold-python "$@"
profile=debug
for ((at = 1; at <= $#; at++)); do
    case "${!at}" in
    --release) profile=release ;;
    --profile) at=$((at + 1)) && profile="${!at}" ;;
    --profile=*) profile="${!at#*=}" ;;
    esac
done
built="$target/$profile/lib_toolfold.so"
[[ -e "$built" ]] || built="$target/$profile/lib_toolfold.dylib"
ln -sf "$built" bindings/python/python/toolfold/_toolfold.abi3.so
