/* ricci/callback.h: functions of the host that programs name: what they call while they run (jax.pure_callback,
 * jax.experimental.io_callback, jax.debug.callback), and what gives them their batch (jax.custom_batching.custom_vmap).
 *
 * A program refers to a callback by its name, so that it prints, parses, hashes and saves like any other; the context
 * must know the name when the program is compiled. Callbacks run on the host: on a device whose memory the host cannot
 * see they get copies. There a run is enqueued when all its callbacks have been called, and they may use the device. A
 * custom_vmap whose rule the context does not know is batched as its body.
 */
#ifndef RICCI_CALLBACK_H_
#define RICCI_CALLBACK_H_
#include "ricci/primitive.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct ricci_callback_call { /* one call; everything is valid until it returns */
  ricci_hdr hdr;
  ricci_ctx* ctx;
  uint32_t n_in, n_out;
  const ricci_type* in_types;  /* [n_in] */
  const ricci_type* out_types; /* [n_out] */
  const void* const* in;       /* [n_in] the elements in row-major order */
  void* const* out;            /* [n_out] to be filled the same way */
} ricci_callback_call;

typedef struct ricci_callback {
  ricci_hdr hdr;
  void* self;
  /* Any thread, and several at once if several programs run. A status fails the run, whose caller gets it, with the
   * location of the operation. NULL: this is only a rule for vmap. */
  ricci_status* (*call)(void* self, const ricci_callback_call* call);
  void (*drop_self)(void* self); /* when the context ends; may be NULL */
  /* The batching rule of custom_vmap operations whose `rule` is this name, as in ricci_prim_def: `op` is one, at least
   * one operand is batched, and batched operands have the batch as dimension 0; so must results (out_dims 0, or -1: the
   * result is the same for all). It is called by ricci_vmap, and when a program with a vmap equation around a
   * custom_vmap is compiled. A status fails that. NULL: this is only called by runs. */
  ricci_status* (*batch)(void* self, ricci_builder* b, const ricci_op* op, const ricci_batch_args* a);
} ricci_callback;

/* Makes `f` known as `name`; copies it, and takes over `self` on success. A name that is taken is ALREADY_EXISTS. Names
 * that begin with `ricci.` are ours: `ricci.copy` gives its operands as results. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_context_add_callback(ricci_ctx* c, const char* name RICCI_LEN(len),
                                                                   size_t len,
                                                                   const ricci_callback* f) RICCI_ANY_THREAD;
/* The callback of that name, or NULL. */
RICCI_API const ricci_callback* ricci_context_callback(const ricci_ctx* c RICCI_NULLABLE,
                                                       const char* name RICCI_LEN(len), size_t len)
    RICCI_BORROWED(c) RICCI_NULLABLE;
/* Passes a text to the log hook of the context, for plugins; nothing happens if there is none. */
RICCI_API void ricci_context_log(const ricci_ctx* c RICCI_NULLABLE, uint32_t level, const char* text RICCI_LEN(len),
                                 size_t len);

#ifdef __cplusplus
}
#endif
#endif
