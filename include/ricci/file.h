/* ricci/file.h: programs as files.
 *
 * The binary form of a program has everything that its text has (constants bit for bit, nested programs, attributes,
 * names) and the source locations of its equations. Programs with equal text and equal locations give equal bytes. It
 * names primitives and attributes, so a context can load it if it has the plugins that provide them. A large file is
 * mapped as long as its constants are in use: replace it, as ricci_program_save does, and do not write into it.
 *
 * Errors of loading: NOT_FOUND if there is no such file, or for primitives that the context does not have, with all
 * their names; FAILED_PRECONDITION if the system refuses, or if the file is of another version of the format or, before
 * version 1.0, of the library, with both versions; INVALID_ARGUMENT if it is not a program at all, or if a primitive
 * does not accept an equation; DATA_LOSS if it is damaged or cut short. Bytes from anywhere are safe to load. */
#ifndef RICCI_FILE_H_
#define RICCI_FILE_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Writes the binary form. The file is complete when it appears at `path`: another one there is replaced at once. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_program_save(const ricci_program* f, const char* path RICCI_LEN(len),
                                                           size_t len);
/* Reads a file that ricci_program_save wrote; messages begin with `path`. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_program_load(ricci_ctx* c, const char* path RICCI_LEN(len), size_t len,
                                                           ricci_program** out RICCI_OWNED) RICCI_ANY_THREAD;
/* The same bytes, in memory: `write` is called once. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_program_serialize(const ricci_program* f, void* sink RICCI_NULLABLE,
                                                                void (*write)(void* sink, const char* p RICCI_LEN(n),
                                                                              size_t n));
/* `data` may have any alignment and may be freed after the call. `origin` names it in messages and may be empty. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_program_deserialize(ricci_ctx* c, const void* data RICCI_LEN(bytes),
                                                                  size_t bytes,
                                                                  const char* origin RICCI_LEN(origin_len),
                                                                  size_t origin_len,
                                                                  ricci_program** out RICCI_OWNED) RICCI_ANY_THREAD;
/* 1 if `data` begins like the binary form (its first 8 bytes are enough), else 0: so a tool can take both forms. */
RICCI_API uint32_t ricci_program_is_binary(const void* data RICCI_NULLABLE RICCI_LEN(bytes), size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
