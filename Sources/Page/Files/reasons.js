import { t } from "./texts.js"

/**
 * Why something did not work, in words for people. The server's own reasons are for developers. The page sends no wrong
 * title or parameter but one that is too long.
 */
const plain = {
  unauthorized: t.loggedOut, invalid_token: t.loggedOut,
  guest_spent: t.guestSpent, forbidden: t.mayRead, account_needed: t.accountNeeded,
  not_found: t.notThere, precondition_failed: t.changedElsewhere,
  conflict: t.changedElsewhere, idempotency_key_reused: t.changedElsewhere, bad_request: t.notUnderstood,
  invalid_json: t.notUnderstood, invalid_export: t.badFile, document_too_large: t.tooLong, doc_validation: t.tooLong,
  invalid_parameter: t.tooLong, too_large: t.tooMuch,
  attachment_too_large: t.photoTooLarge, unsupported_photo: t.noPhoto, malformed_photo: t.noPhoto, too_many_photos: t.tooManyPhotos,
  invalid_password: t.eight, quota_exceeded: t.noRoom,
  insufficient_storage: t.diskFull, too_many_requests: t.tooOften,
  overloaded: t.overloaded, overdrawn: t.overloaded, unavailable: t.unavailable, request_timeout: t.unavailable,
  search_unavailable: t.unavailable, search_timeout: t.unavailable, search_bad_answer: t.unavailable,
  storage_error: t.unavailable, read_only: t.unavailable, account_not_empty: t.readRule, invalid_username: t.oddName,
  stores_moved: t.moving, outcome_unknown: t.unknown,
  integrity_error: t.damaged, store_damaged: t.storeDamaged,
  internal_error: t.mistake, invitation_gone: t.invitationGone,
  undo_over: t.undoOver, not_supported_by_upstream: t.noSuchSearch,
  offline: t.unreachable, intercepted: t.elseAnswers, storage_unavailable: t.noStorage, storage_blocked: t.otherTab, storage_newer: t.newer,
  storage_full: t.browserFull, storage_failed: t.failed, not_stored: t.notThere, in_transit: t.inTransit
}

/** The reason of an error, or of an entry of the outbox, as a sentence for the user. */
export function reason(error) {
  return (plain[error?.code ?? error?.error] ?? (error?.reason || error?.message || String(error))).replace(/[^.!?。]$/, "$&.")
}
