"""Wrong and missing annotations of the C headers are found: small headers with one mistake each, and the message that
names it. Correct headers pass, so that a check cannot refuse everything.
"""
import sys

import source_tree

sys.path.insert(0, str(source_tree.ROOT / "bindings/spec"))
import annotations  # noqa: E402
import function_table  # noqa: E402
import headers  # noqa: E402

STATUS = "RICCI_API RICCI_NODISCARD ricci_status* "
STRUCTS = "typedef struct ricci_list { ricci_hdr hdr; const ricci_type* in_types; } ricci_list;\n" \
          "typedef struct ricci_sums { ricci_hdr hdr; uint32_t kernels; } ricci_sums;\n" \
          "typedef struct ricci_table { ricci_hdr hdr; ricci_list op; } ricci_table;\n"

RIGHT = [
    STATUS + "ricci_f(const ricci_ctx* c, const char* name RICCI_LEN(len), size_t len, "
    "ricci_program** out RICCI_OWNED);",
    STATUS + "ricci_f(const ricci_program* f, const uint8_t* used RICCI_LEN_OF(results, f), ricci_sums* out);",
    STATUS + "ricci_f(void* sink RICCI_NULLABLE, void (*write)(void* sink, const char* p RICCI_LEN(n), size_t n));",
    STATUS + "ricci_f(const ricci_ctx* c, uint32_t* rank, const int64_t** dims RICCI_BORROWED(c) RICCI_LEN(rank));",
    STATUS + "ricci_f(ricci_call* k, void* ptr RICCI_LEN(bytes) RICCI_KEPT(k), uint64_t bytes);",
    STATUS + "ricci_f(ricci_ctx* c, uint32_t n, ricci_val v) RICCI_ANY_THREAD;",
    STATUS + "ricci_f(const int32_t* in_axes RICCI_LEN(n_in), uint32_t n_in, const int32_t* out_axes RICCI_LEN(n_out), "
    "uint32_t n_out, ricci_program** out RICCI_OWNED);",
    "RICCI_KFN ricci_f(ricci_kernel_builder* k, const ricci_sval* in RICCI_LEN(n), uint32_t n, ricci_sval* out);",
    "RICCI_API ricci_device* ricci_f(const ricci_ctx* c RICCI_NULLABLE) RICCI_BORROWED(c) RICCI_NULLABLE;",
    "RICCI_API ricci_ctx* ricci_c_retain(ricci_ctx* c RICCI_NULLABLE) RICCI_OWNED RICCI_ANY_THREAD;\n"
    "RICCI_API void ricci_c_release(ricci_ctx* c RICCI_NULLABLE RICCI_OWNED) RICCI_ANY_THREAD;",
    "RICCI_API void ricci_call_release(ricci_call* k RICCI_NULLABLE RICCI_OWNED);",
    "RICCI_API const char* ricci_f(void) RICCI_BORROWED(static) RICCI_TEXT;",
]

# (declaration, its message after `bad.h: ricci_f: `)
WRONG = [
    # words and places
    (STATUS + "ricci_f(ricci_ctx* c RICCI_OWNS);", "line 7: expected ')'"),
    (STATUS + "ricci_f(ricci_ctx* c RICCI_NOTE(\"OWNS\"));", "c: RICCI_OWNS is not an annotation; known: "),
    (STATUS + "ricci_f(ricci_ctx* c RICCI_ANY_THREAD);", "c: RICCI_ANY_THREAD does not belong here"),
    (STATUS + "ricci_f(ricci_ctx* c) RICCI_LEN(c);", "the function: RICCI_LEN does not belong here"),
    (STATUS + "ricci_f(ricci_program** out RICCI_OWNED RICCI_OWNED);", "out: RICCI_OWNED occurs twice"),
    (STATUS + "ricci_f(const ricci_val* in RICCI_LEN, uint32_t n);", "line 7: expected ')'"),
    (STATUS + "ricci_f(const ricci_val* in RICCI_NOTE(\"LEN\"), uint32_t n);", "in: RICCI_LEN has 0 arguments, not 1"),
    (STATUS + "ricci_f(ricci_ctx* c other);", "line 7: expected ')'"),
    (STATUS + "ricci_f(uint32_t n RICCI_NULLABLE);", "n: RICCI_NULLABLE on a parameter that is not a pointer"),
    # lengths
    (STATUS + "ricci_f(const char* name, size_t name_len);", "name: needs RICCI_LEN: name_len seems to count it"),
    (STATUS + "ricci_f(const ricci_attr* attrs, uint32_t n);", "attrs: needs RICCI_LEN: n seems to count it"),
    (STATUS + "ricci_f(ricci_val* out, uint32_t n_out);", "out: needs RICCI_LEN: n_out seems to count it"),
    (STATUS + "ricci_f(void* dst, size_t bytes);", "dst: needs RICCI_LEN: bytes seems to count it"),
    (STATUS + "ricci_f(ricci_array** out RICCI_OWNED, uint32_t n_out);", "out: needs RICCI_LEN: n_out seems to"),
    (STATUS + "ricci_f(const ricci_ctx* c, uint32_t* n_params, const ricci_type** params RICCI_BORROWED(c));",
     "params: needs RICCI_LEN: n_params seems to count it"),
    (STATUS + "ricci_f(const ricci_val* in RICCI_LEN(m), uint32_t n);", "in: RICCI_LEN(m) names no parameter"),
    (STATUS + "ricci_f(ricci_ctx* c, const ricci_val* in RICCI_LEN(c));", "in: RICCI_LEN(c) is not a count"),
    (STATUS + "ricci_f(ricci_val* out RICCI_LEN(n), uint32_t* n);", "out: RICCI_LEN(n) is written by the call"),
    (STATUS + "ricci_f(const uint8_t* mask);", "mask: needs RICCI_LEN: one value would be passed as such"),
    (STATUS + "ricci_f(const ricci_program* f, const uint8_t* m RICCI_LEN_OF(equations, f));",
     "m: RICCI_LEN_OF(equations, f) counts nothing known; known: params, results, bytes"),
    (STATUS + "ricci_f(const uint8_t* m RICCI_LEN_OF(results, f));", "m: RICCI_LEN_OF(results, f) names no parameter"),
    (STATUS + "ricci_f(ricci_ctx* c, const uint8_t* m RICCI_LEN_OF(results, c));",
     "m: RICCI_LEN_OF(results, c): a ricci_ctx has no results"),
    (STATUS + "ricci_f(const char* file);", "file: needs RICCI_LEN or, if it ends with a NUL, RICCI_TEXT"),
    (STATUS + "ricci_f(ricci_ctx* c RICCI_TEXT);", "c: RICCI_TEXT is for `const char*`"),
    (STATUS + "ricci_f(const void* data);", "data: needs RICCI_LEN, or RICCI_NULLABLE if it is only handed on"),
    (STATUS + "ricci_f(void* sink RICCI_NULLABLE, void (*write)(void* sink, const char* p, size_t n));",
     "write: p: needs RICCI_LEN: n seems to count it"),
    # owners
    (STATUS + "ricci_f(ricci_program** out);", "out: needs RICCI_OWNED or RICCI_BORROWED"),
    (STATUS + "ricci_f(ricci_program** out RICCI_OWNED RICCI_BORROWED(static));", "out: has two owners"),
    (STATUS + "ricci_f(ricci_list* out);", "out: needs RICCI_OWNED or RICCI_BORROWED"),
    (STATUS + "ricci_f(ricci_table* out);", "out: needs RICCI_OWNED or RICCI_BORROWED"),
    (STATUS + "ricci_f(ricci_sums* out RICCI_BORROWED(static));", "out: RICCI_BORROWED is for pointers that the call"),
    (STATUS + "ricci_f(ricci_list* out RICCI_BORROWED(f));", "out: RICCI_BORROWED(f) names no other parameter"),
    (STATUS + "ricci_f(const ricci_program* f RICCI_OWNED);", "f: RICCI_OWNED is for handles"),
    (STATUS + "ricci_f(void* p RICCI_NULLABLE RICCI_KEPT(k));", "p: RICCI_KEPT(k) names no other parameter"),
    (STATUS + "ricci_f(ricci_ctx* c) RICCI_OWNED;", "RICCI_OWNED: a status is always owned, and NULL is OK"),
    ("RICCI_API uint32_t ricci_f(void) RICCI_OWNED;", "RICCI_OWNED: the result is not a pointer"),
    ("RICCI_API ricci_device* ricci_f(void);", "the result needs RICCI_OWNED or RICCI_BORROWED"),
    ("RICCI_API ricci_device* ricci_f(void) RICCI_BORROWED(c);", "RICCI_BORROWED(c) names no parameter"),
    ("RICCI_API const char* ricci_f(void) RICCI_BORROWED(static);", "the result is text: it needs RICCI_TEXT"),
    # NULL and threads
    ("RICCI_API uint32_t ricci_f(const ricci_ctx* c);", "c: needs RICCI_NULLABLE: the function cannot report"),
    (STATUS + "ricci_f(const ricci_ctx* c) RICCI_ANY_THREAD;", "RICCI_ANY_THREAD: all handles are const"),
    ("RICCI_API ricci_ctx* ricci_c_retain(ricci_ctx* c RICCI_NULLABLE) RICCI_BORROWED(c) RICCI_ANY_THREAD;",
     "the result needs RICCI_OWNED: it is a reference of its own"),
    ("RICCI_API ricci_ctx* ricci_c_retain(ricci_ctx* c RICCI_NULLABLE) RICCI_OWNED;", "needs RICCI_ANY_THREAD"),
    ("RICCI_API ricci_ctx* ricci_c_retain(ricci_ctx* c RICCI_NULLABLE) RICCI_OWNED RICCI_ANY_THREAD;\n"
     "RICCI_API void ricci_c_release(ricci_ctx* c RICCI_NULLABLE RICCI_OWNED);", "needs RICCI_ANY_THREAD"),
    (STATUS + "ricci_f(ricci_ctx* c);", "needs RICCI_ANY_THREAD: contexts and devices are for many threads at once"),
    ("RICCI_API void ricci_f(ricci_val* out RICCI_LEN(n), uint32_t n);", "out: needs RICCI_NULLABLE"),
    (STATUS + "ricci_c_finish(ricci_builder* b);", "b: needs RICCI_OWNED: it is given up"),
    ("RICCI_API void ricci_c_free(ricci_status* s RICCI_NULLABLE);", "s: needs RICCI_OWNED: it is given up"),
]


def errors_of(declaration):
    return annotations.check(headers.read_text(STRUCTS + declaration))


def check_wrong(declaration, expected):
    """Every message says where the mistake is, and one of them is the expected one."""
    found = errors_of(declaration)
    place = "bad.h: ricci_c_" if "ricci_c_" in declaration else "bad.h: ricci_f: "
    if all(e.startswith((place, "bad.h: line")) for e in found) and any(expected in e for e in found):
        return []
    return [f"{declaration}\n  expected: {place}...{expected}\n  found: {found}"]


def check_table():
    """Annotations leave no trace in the function table."""
    table = function_table.header_text(headers.read_text(RIGHT[0]).functions)
    wanted = "ricci_status* (*f)(const ricci_ctx* c, const char* name, size_t len, ricci_program** out);"
    errors = [] if wanted in table else [f"not in the function table: {wanted}"]
    return errors + [f"{word} in the function table" for word in annotations.ANNOTATIONS if word in table]


def main():
    errors = [f"{text}: {e}" for text in RIGHT for e in errors_of(text)] + check_table()
    for declaration, expected in WRONG:
        errors += check_wrong(declaration, expected)
    return source_tree.report(errors, "annotation mistakes")


if __name__ == "__main__":
    sys.exit(main())
