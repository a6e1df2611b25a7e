import TenderModel

/// The pages about the journal.
extension Explanation {
  static let journal: [Explanation] = errors(
    """
    reference_elsewhere conflict: another provider has the reference in the same env; nothing was sent | after that payment succeeded: name the provider with --provider
    reference_reused conflict: the reference belongs to a payment with other content | use another reference; nothing was sent
    attempt_stands conflict: the payment under this reference has not ended without effect | --new-attempt is for declined, cancelled and expired payments
    other_merchant conflict: the payment under this reference was made with another merchant's credentials | use that merchant's credentials, or another --reference
    in_progress conflict: another process is working on the reference | wait for it to end, then run the same command again
    ambiguous_reference conflict: several providers or envs know the reference | choose with --provider and --env
    capture_differs conflict: the payment was captured with another amount; nothing was sent | see: tender journal show REF
    capture_exceeds conflict: less is authorized than is to be captured; nothing was sent | name at most what is held
    nothing_to_cancel conflict: the payment is in a state that cannot be undone | see: tender journal show REF
    refund_not_made provider_error: a refund whose answer was lost turned out not to have been made | run the same command again to send it
    payment_not_found not_found: neither provider nor journal knows it | check the id
    code_not_found not_found: there is no such error code | see: tender explain
    state_unusable state: journal or simulator file cannot be used; nothing was sent | make room or access, or choose another --state-dir
    journal_newer state: the journal comes from a newer version; nothing was sent | use that version
    journal_forgot state: the journal is an old copy, is damaged, or was removed: it may not know a payment that was made; nothing was sent | put the newest journal back, or look up the missing payments; then: tender journal accept
    journal_copy state: the journal is a copy: payments made since may be missing in it; nothing was sent | use the original, or look up the missing payments; then: tender journal accept
    journal_damaged state: a row of the journal does not match its checksum | see: tender journal verify; put the newest copy back
    journal_moved state: the journal's files were moved, removed or replaced while they were in use | put them back, then run the same command again
    journal_conflict state: another command changed the payment meanwhile | run the same command again
    bad_journal usage: the journal's address cannot be used; nothing was sent | such as TENDER_JOURNAL=postgres://tender@db1,db2/payments
    bad_import usage: a line is not a payment that tender journal export printed | export it again with this version
    import_conflict conflict: the journal has another payment under the same reference; it was not changed | compare both: tender journal show REF
    journal_unmigrated state: the PostgreSQL journal has no tables of this version; nothing was sent | as the owner of its tables: tender journal migrate
    journal_unconfirmed state: the journal's server did not confirm a write in time; its standby may be stalled | look at the server's standby, then run the same command again
    journal_unreachable state: the PostgreSQL journal cannot be reached or does not answer; nothing was sent | run the same command again once it is back; see tender doctor
    journal_elsewhere state: the state folder's payments are in a shared journal, whose address is not set; nothing was sent | set TENDER_JOURNAL, or "journal" in the profile
    journal_denied state: the PostgreSQL journal does not let this user do that; nothing was sent | give the role its rights: tender journal grants
    journal_key state: what a payment needs later is sealed under a key that is not here; nothing was sent | set TENDER_JOURNAL_KEY_FILE to the file that the fleet shares
    journal_unsupported unsupported: this journal cannot do that: its server does | see tender help journal
    journal_unsafe state: the PostgreSQL journal acknowledges what a crash can lose: that a payment was sent | set synchronous_commit to on for the role that pays
    lease_lost conflict: another machine has taken the reference over while this one was held up; nothing was sent | run the same command again: it finds out first
    lease_over not_sent: this process was held up for longer than the journal lends it a reference; nothing was sent | run the same command again
    takeover_not_confirmed refused: another machine has worked on this sale a short while ago, or it is live: nobody said that it may be taken over; nothing was sent | make sure that the other is not at work on it, then add --yes
    nothing_forgotten conflict: the journal is whole and no copy: there is nothing to accept | to resolve one operation: tender journal resolve REF
    nothing_to_resolve conflict: the payment has no unknown operation | only an unknown operation can be resolved
    ambiguous_operation conflict: the payment has several unknown operations | choose one by its place in tender journal show REF: --operation N
    not_confirmed refused: it was not confirmed | add --yes, or type yes
    read_only refused: the profile refuses writes | use another --profile
    live_not_named refused: a live write needs --env live on its command line | add --env live
    live_not_confirmed refused: a live write was not confirmed | add --yes, or type yes
    prune_not_confirmed refused: deleting payments of the last 24 hours was not confirmed | add --yes, or type yes
    no_instrument refused: there is no instrument and nobody to ask | see: tender help instruments
    not_asked refused: a question was not answered | answer it, or use options
    """
  )
}
