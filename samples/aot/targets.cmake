# Two hosts in plain C whose programs are compiled ahead of time; used by the samples here and in a prefix.
set(aot_folder ${CMAKE_CURRENT_LIST_DIR})
ricci_add_aot(rocket ${aot_folder}/rocket.ricci OPTIONS --derivatives grad)
add_executable(rocket_host ${aot_folder}/rocket_host.c)
target_link_libraries(rocket_host PRIVATE rocket)
add_test(NAME sample_aot_rocket COMMAND sh -c "ulimit -s 64 && exec $<TARGET_FILE:rocket_host>")
set_tests_properties(sample_aot_rocket PROPERTIES PASS_REGULAR_EXPRESSION "after 40 steps: height 100\\.00, cost 0\\.00")

ricci_add_aot(digit_scores ${aot_folder}/digit_scores.ricci OPTIONS --cpu x86-64-v2)
add_executable(digit_scores_host ${aot_folder}/digit_scores_host.c)
target_link_libraries(digit_scores_host PRIVATE digit_scores)
add_test(NAME sample_aot_digit_scores COMMAND digit_scores_host)
set_tests_properties(sample_aot_digit_scores PROPERTIES PASS_REGULAR_EXPRESSION "class 3, score 1\\.000")
