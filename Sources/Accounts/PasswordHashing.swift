import Lanes

/// Hashes passwords with scrypt (RFC 7914), a few at once, off Swift's own threads.
struct PasswordHashing: Sendable {
  private let run: AccountService.BlockingRun
  private let gate: FairGate
  private let parameters: ScryptParameters

  /// Hashing with these parameters from now on.
  init(
    run: @escaping AccountService.BlockingRun, atOnce: Int, waiting: Int,
    parameters: ScryptParameters
  ) {
    self.run = run
    gate = FairGate(places: atOnce, seats: waiting)
    self.parameters = parameters
  }

  /// The hash of a password under a new salt.
  /// - Parameter password: as ``PasswordRule`` prepares it.
  /// - Throws: `hashingBusy`.
  func hash(_ password: [UInt8]) async throws(AccountError) -> PasswordHash {
    let salt = PasswordHash.randomSalt()
    let key = try await derive(password, salt: salt, parameters)
    return PasswordHash(parameters: parameters, salt: salt, key: key)
  }

  /// Whether a password is the one that was hashed. Without a hash, as for a name that nobody has, the
  /// same work is done for nothing, so that the time taken does not tell which names exist.
  /// - Throws: `hashingBusy`.
  func verify(_ password: [UInt8], against hash: PasswordHash?) async throws(AccountError) -> Bool {
    let parameters = hash?.parameters ?? parameters
    let salt = hash?.salt ?? [UInt8](repeating: 0, count: ScryptParameters.saltBytes)
    let key = try await derive(password, salt: salt, parameters)
    guard let hash else { return false }
    return Secret.constantTimeEqual(key, hash.key)
  }

  /// Whether a hash was made with other parameters than are used now.
  func isOutdated(_ hash: PasswordHash) -> Bool { hash.parameters != parameters }

  private func derive(
    _ password: [UInt8], salt: [UInt8], _ parameters: ScryptParameters
  ) async throws(AccountError) -> [UInt8] {
    let key = await gate.pass { _ in
      try? await run { PasswordHash.key(of: password, salt: salt, parameters) }
    }
    // Without a place, at the end of the service, or of the memory that the system gives.
    guard let key = key ?? nil, key.count == ScryptParameters.keyBytes else { throw .hashingBusy }
    return key
  }
}
