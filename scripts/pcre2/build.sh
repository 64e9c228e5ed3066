#!/bin/sh
# Compiles PCRE2 and shim.c to src/pattern/pcre2.wasm, and checks source and result against SHA256SUMS.
#
#   scripts/pcre2/build.sh pcre2_10.42.orig.tar.gz            build, and fail unless the result is the recorded one
#   scripts/pcre2/build.sh pcre2_10.42.orig.tar.gz --record   build, and record the hash of a new result
#
# README.md says where the source archive and the toolchain come from.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
sums="$here/SHA256SUMS"
wasm="$here/../../src/pattern/pcre2.wasm"
archive=${1:?give the path of pcre2_10.42.orig.tar.gz}
mode=${2:-check}

recorded() { awk -v name="$1" '$2 == name { print $1 }' "$sums"; }
hash_of() { sha256sum "$1" | cut -d ' ' -f 1; }

if [ "$(hash_of "$archive")" != "$(recorded pcre2_10.42.orig.tar.gz)" ]; then
  echo "build.sh: $archive is not the source archive that SHA256SUMS records" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xzf "$archive" -C "$work" --strip-components 1
patch --quiet --directory "$work" --strip 1 < "$here/total-match-limit.patch"
cp "$here/shim.c" "$work/src/shim.c"
cd "$work/src"
cp config.h.generic config.h
cp pcre2.h.generic pcre2.h
cp pcre2_chartables.c.dist pcre2_chartables.c

# What pcre2_compile and pcre2_match need and nothing else. No JIT: WebAssembly cannot make code at run time.
units="auto_possess chartables compile context error extuni find_bracket match match_data newline ord2utf
  script_run string_utils study tables ucd valid_utf xclass"
sources=shim.c
for unit in $units; do sources="$sources pcre2_$unit.c"; done

# Paths are relative and there is no debug information, so that the result does not depend on where it was built.
# The stack lies below the data (--stack-first): running out of it traps instead of overwriting.
# shellcheck disable=SC2086
clang --target=wasm32-wasi -mexec-model=reactor -Os -g0 -DNDEBUG \
  -DHAVE_CONFIG_H -DPCRE2_CODE_UNIT_WIDTH=8 -DPCRE2_STATIC -DSUPPORT_UNICODE \
  -I. $sources -o pcre2.wasm \
  -Wl,--strip-all -Wl,--stack-first -Wl,-z,stack-size=1048576 -Wl,--max-memory=33554432

built=$(hash_of pcre2.wasm)
if [ "$mode" = --record ]; then
  grep -v ' pcre2\.wasm$' "$sums" > sums
  echo "$built  pcre2.wasm" >> sums
  cp sums "$sums"
elif [ "$built" != "$(recorded pcre2.wasm)" ]; then
  echo "build.sh: the result $built is not the one that SHA256SUMS records; see README.md on toolchain versions" >&2
  exit 1
fi
cp pcre2.wasm "$wasm"
chmod 644 "$wasm"
echo "$built  src/pattern/pcre2.wasm"
