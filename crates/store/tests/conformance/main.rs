//! What every store does, tried on each of them, and what only the one in SQLite does.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bed;
mod commits;
mod crash;
mod leases;
mod lists;
mod records;
mod sqlite;
mod text;

/// Makes a test for each store of each of these behaviours.
macro_rules! every_store {
    ($($module:ident { $($behaviour:ident,)* })*) => {
        mod memory {
            $($(
                #[tokio::test]
                async fn $behaviour() {
                    crate::$module::$behaviour(crate::bed::Bed::memory()).await;
                }
            )*)*
        }

        mod sqlite_file {
            $($(
                #[tokio::test]
                async fn $behaviour() {
                    crate::$module::$behaviour(crate::bed::Bed::sqlite().await).await;
                }
            )*)*
        }
    };
}

every_store! {
    leases {
        a_free_thread_is_claimed_and_comes_empty,
        a_held_thread_is_busy_with_its_run,
        one_thread_id_of_two_users_is_two_threads,
        a_released_thread_is_free_again,
        a_lapsed_lease_is_taken_over,
        a_renewed_lease_lasts_from_the_renewal_on,
        a_lapsed_or_lost_lease_is_not_renewed,
        tokens_grow_with_every_claim,
        a_writer_that_was_replaced_changes_nothing,
        a_writer_whose_lease_lapsed_changes_nothing,
        a_writer_that_released_changes_nothing,
        releasing_a_lost_lease_leaves_the_new_holder_alone,
        a_thread_that_was_only_claimed_is_not_there,
        one_of_twenty_claims_wins,
    }
    commits {
        the_first_commit_stores_the_thread,
        a_commit_is_read_back_whole,
        what_a_commit_leaves_out_stays,
        rows_are_replaced_by_their_ids,
        what_came_too_soon_is_kept_once_whoever_writes_the_thread,
        messages_come_in_the_order_of_their_places,
        a_cut_branch_is_never_loaded_again,
        a_run_can_cut_twice,
        only_calls_that_are_not_settled_are_loaded,
        only_open_interactions_are_loaded,
        a_commit_that_fails_leaves_nothing,
        null_is_a_state,
        numbers_come_back_to_the_bit,
        hundreds_of_messages_are_one_commit,
    }
    records {
        a_claim_brings_the_newest_attempt_of_its_run,
        a_run_is_found_in_its_thread_or_in_any,
        a_response_is_found_by_its_user_alone,
        a_response_names_the_newest_run_that_continues_it,
        an_interaction_is_found_by_its_id_alone,
        decisions_come_in_the_order_they_were_taken,
        runs_at_work_without_a_holder_are_orphans,
    }
    lists {
        threads_are_listed_with_the_one_changed_last_first,
        pages_follow_each_other_without_a_gap,
        a_page_after_a_thread_that_is_gone_is_empty,
        users_see_their_own_threads_only,
        a_deleted_thread_is_gone_with_all_that_belongs_to_it,
        a_held_thread_is_not_deleted,
        a_deleted_thread_begins_anew,
        a_store_answers,
    }
    text {
        any_text_comes_back_as_it_was,
        texts_that_differ_after_a_nul_differ,
    }
}
