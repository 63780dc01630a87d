/** Why something did not work, in words for people. The server's own reasons are for developers. */
const plain = {
  unauthorized: "You have been logged out here. Log in, and try again.", invalid_token: "You have been logged out here. Log in, and try again.",
  guest_spent: "This guest has become an account. Log in to it.", forbidden: "You may only read this list.", account_needed: "This needs an account. Sign up, and try again.",
  not_found: "It is not there any more.", precondition_failed: "It was changed on another device or by somebody else. Look at it, and try again.",
  conflict: "It was changed at the same time. Look at it, and try again.", answer_gone: "It was done before.",
  idempotency_key_reused: "It was sent before, and changed since. Try again.", bad_request: "The server did not understand this page. Reload the page.",
  invalid_json: "The server did not understand this page. Reload the page.", document_too_large: "This text is too long.", too_large: "This is too much at once.",
  invalid_password: "A password needs eight characters or more.", quota_exceeded: "There is no room for more. Remove something first.",
  insufficient_storage: "The server's disk is full. Nothing is lost; try again later.", too_many_requests: "That was too often. Wait a moment, and try again.",
  overloaded: "The server has too much to do. Try again in a moment.", unavailable: "The server can't do this at the moment. Try again soon.",
  storage_error: "The server can't keep this at the moment. Try again soon.", read_only: "The server can't keep this at the moment. Try again soon.",
  stores_moved: "The server moves its data. Try again in a minute.", outcome_unknown: "It is not known yet whether this was kept. Look at it, and try again.",
  integrity_error: "The server can't read this: it is damaged there. Tell whoever runs it.", store_damaged: "The server can't read your data: it is damaged there. Tell whoever runs it.",
  internal_error: "The server made a mistake. Tell whoever runs it.", invitation_gone: "This invitation was used, withdrawn, or is too old. Ask for another one.",
  undo_over: "It is too late to undo this.", not_supported_by_upstream: "Hotels can't be searched in this way here."
}

/** The reason of an error, or of an entry of the outbox, as a sentence for the user. */
export function reason(error) {
  const text = plain[error?.code ?? error?.error] ?? error?.reason ?? error?.message ?? String(error)
  return text ? text.replace(/[^.!?]$/, "$&.") : "No reason was given."
}
