/* The only door into PCRE2 for the WebAssembly module.
   It owns the match context, the match data and the fixed compile options; it never keeps a pattern or a text.
   One thread, one match at a time: the caller is single-threaded JavaScript. */

#include <stdint.h>
#include <stdlib.h>

#include "pcre2.h"

#define EXPORT(name) __attribute__((export_name(name)))

/* \C matches one byte in the middle of a character, which could end a match inside a code point. */
static const uint32_t COMPILE_OPTIONS = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C;

static pcre2_match_context *match_context = NULL;
static pcre2_match_data *match_data = NULL;
static int error_code = 0;
static PCRE2_SIZE error_offset = 0;

EXPORT("allocate") void *allocate(uint32_t size_bytes) { return malloc(size_bytes); }

EXPORT("release") void release(void *memory) { free(memory); }

/* Returns the compiled pattern, or 0; then compile_error_code and compile_error_offset tell why and where. */
EXPORT("compile") pcre2_code *compile(const uint8_t *pattern, uint32_t length_bytes) {
  return pcre2_compile(pattern, length_bytes, COMPILE_OPTIONS, &error_code, &error_offset, NULL);
}

EXPORT("compile_error_code") int compile_error_code(void) { return error_code; }

/* In bytes of the pattern's UTF-8. */
EXPORT("compile_error_offset") uint32_t compile_error_offset(void) { return error_offset; }

EXPORT("release_code") void release_code(pcre2_code *code) { pcre2_code_free(code); }

/* Writes PCRE2's text for a compile or match error, and returns its length in bytes, or a negative number. */
EXPORT("error_message") int error_message(int code, uint8_t *buffer, uint32_t size_bytes) {
  return pcre2_get_error_message(code, buffer, size_bytes);
}

/* Makes what every match shares. Returns 1, or 0 when there is no memory for it. */
EXPORT("prepare") int prepare(uint32_t match_limit, uint32_t depth_limit, uint32_t heap_limit_kib) {
  match_context = pcre2_match_context_create(NULL);
  match_data = pcre2_match_data_create(1, NULL);
  if (match_context == NULL || match_data == NULL) return 0;
  pcre2_set_match_limit(match_context, match_limit);
  pcre2_set_depth_limit(match_context, depth_limit);
  pcre2_set_heap_limit(match_context, heap_limit_kib);
  return 1;
}

/* Returns 0 or more for a match, -1 for none, and another PCRE2 error code when the match was given up. */
EXPORT("match") int match(const pcre2_code *code, const uint8_t *text, uint32_t length_bytes) {
  return pcre2_match(code, text, length_bytes, 0, 0, match_data, match_context);
}

/* Major version times 100 plus minor version. */
EXPORT("version") int version(void) { return PCRE2_MAJOR * 100 + PCRE2_MINOR; }
