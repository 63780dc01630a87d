/**
 * A failure. `code` is the server's `error`, or one of this module's: `offline` (the server could not be reached),
 * `intercepted` (something between answers in its place, such as a network's log-in page),
 * `storage_unavailable`, `storage_blocked`, `storage_newer`, `storage_full`, `storage_failed`, `outbox_not_empty`,
 * `signed_in`, `not_stored` (not in this browser's copy), `in_transit`, `other_server`.
 */
export class OfflineError extends Error {
  /**
   * @param {string} code
   * @param {string} reason A text for the user.
   * @param {{status?: number, retryAfter?: number, problem?: object}} [more] `status` is 0 if there was no answer;
   *   `retryAfter` is in milliseconds.
   */
  constructor(code, reason, { status = 0, retryAfter, problem } = {}) {
    super(reason)
    this.name = "OfflineError"
    this.code = code
    this.reason = reason
    this.status = status
    this.retryAfter = retryAfter
    this.problem = problem
  }

  /** Whether the server could not be reached. */
  get isOffline() { return ["offline", "intercepted"].includes(this.code) }

  /** Whether the same request may succeed later. */
  get mayPass() {
    return this.isOffline || [408, 425, 429].includes(this.status) || (this.status >= 500 && ![501, 507].includes(this.status))
  }

  /** Whether the server no longer knows the session. */
  get isSessionEnd() {
    return !this.isOffline && (this.status === 401 || (this.status === 410 && this.code === "guest_spent"))
  }
}
