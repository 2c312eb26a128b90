"""Primitives of JAX that from_jax does not import, and why; a primitive of JAX that is in no table fails a test."""

LEFT_OUT = {
    "devices exchange data in a program of several, which Ricci does not import; jax.vmap turns those over its axis into "
    "reductions, gathers and permutations": """
        all_gather all_gather_invariant all_gather_reduced all_to_all axis_index pbroadcast ppermute precv preduced psend
        psum_invariant ragged_all_to_all reduce_scatter reduced_vary_cast_p shard_map unreduced_psum
        unreduced_reduce_scatter vary_unreduced_cast_p global_array_to_host_local_array host_local_array_to_global_array
        mpmd_map all_gather_start all_gather_done all_gather_reduced_start all_to_all_start all_to_all_done
        pbroadcast_start pbroadcast_done ppermute_start ppermute_done psum_start psum_done psum_invariant_start
        reduce_scatter_start reduce_scatter_done unreduced_psum_start unreduced_reduce_scatter_start""",
    "references are values when a program is imported (discharge_state)": """
        accum_grad_in_ref addupdate create_linear empty_ref free_ref freeze get get_global masked_load masked_swap new_ref pin
        run_scoped run_state swap unpin""",
    "the body of a kernel in Pallas, which is compiled for one device": """
        core_map delay eval_jaxpr jaxpr_call multiple_of num_programs pallas_call program_id reciprocal semaphore_read
        semaphore_signal semaphore_wait""",
    "code of another library or compiler, of which nothing is known": """
        buffer_callback call_exported cudnn_fusion ffi_call spsolve""",
    "JAX lowers it for GPUs only": """
        coo_spmm coo_spmv csr_spmm csr_spmv dot_product_attention_fwd dot_product_attention_fwd_wrapper
        dot_product_attention_bwd dot_product_attention_bwd_wrapper dot_product_attention_fp8_fwd
        dot_product_attention_fp8_fwd_wrapper dot_product_attention_fp8_bwd dot_product_attention_fp8_bwd_wrapper
        scaled_matmul_wrapper""",
    "shapes have numbers": "dim_as_value dimension_size shape_assertion",
    "objects that JAX has in its own traces only, which no jaxpr of a function holds": """
        box_get box_set call_hi_primitive call_hi_primitive_linearized custom_jvp_call_jaxpr custom_lin log_extend log_read
        new_box new_log stage unreachable zeros_like""",
    "the order of effects, by tokens": "after_all create_token",
    "its numbers are those of XLA's generator, which differ from run to run": "rng_uniform",
    "with any computations; those with a maximum or minimum, which JAX makes, are other primitives": "select_and_scatter",
    "an experiment of JAX without derivatives": "to_edtype from_edtype with_memory_space_constraint",
}
