import Stores

extension AccountService {
  /// Erases somebody: the name and the password are gone and every token and session has ended before the
  /// store is erased. What a failure leaves to be done is noted and done by ``finishErasures()``.
  ///
  /// There is nothing to erase of the administrator, who has neither documents nor a store.
  /// - Throws: the store's errors; `guestSpent` for a guest who has become a user meanwhile.
  package func erase(_ principal: Principal) async throws(AccountError) {
    let ended: [StoreName]
    switch principal.kind {
    case .guest:
      ended = try await accounts.endGuest(principal.id)
      if ended.isEmpty { throw .guestSpent }
    case .user:
      let name = try UserName(given: principal.username ?? "")
      ended = try await accounts.endUser(name, id: principal.id)
    case .administrator:
      return
    }
    proofs.end { $0.id == principal.id }
    for store in ended { try await accounts.erase(store) }
  }

  /// Erases the store of somebody erased once more: a write that had been let in before may have made it
  /// anew. Nothing for anybody else.
  /// - Throws: the store's errors.
  package func sweepUp(after principal: Principal) async throws(AccountError) {
    guard try await accounts.isErased(principal) else { return }
    try await accounts.noteErasure(of: principal.store)
    try await accounts.erase(principal.store)
  }

  /// Sees to it that no new name equals one of before; once at every start, before requests are taken. The first
  /// time it looks at every account.
  /// - Throws: the system store's errors.
  package func prepareNames() async throws(AccountError) {
    try await accounts.noteFormerNames()
  }

  /// Erases the stores that were to be erased when the service stopped; once at every start, before
  /// requests are taken. Reads one index. A store that can't be erased is left for the next start.
  /// - Returns: why stores could not be erased.
  /// - Throws: the system store's errors.
  package func finishErasures() async throws(AccountError) -> [AccountError] {
    var failures: [AccountError] = []
    for store in try await accounts.pendingErasures() {
      do throws(AccountError) { try await accounts.erase(store) } catch { failures.append(error) }
    }
    return failures
  }
}
