import Lanes
import Stores

/// Lets requests that bring the same name and password from the same address at once share one
/// verification: a sync client opens several connections with Basic credentials in one breath.
actor SharedVerifications {
  /// What is verified, and where it comes from.
  struct Key: Sendable, Hashable {
    /// Name and password.
    let proof: ProofKey
    /// Where from.
    let address: ClientAddress
  }

  /// A verification's outcome.
  typealias Outcome = Result<VerifiedUser, AccountError>

  private var running: [Key: Task<Outcome, Never>] = [:]

  /// Joins the verification under way, or begins one. It goes on when its first caller is cancelled, for
  /// those that have joined.
  func outcome(
    of key: Key, _ verify: @escaping @Sendable () async -> Outcome
  ) async -> Outcome {
    if let task = running[key] { return await task.value }
    // On the account of who asks first.
    let task = Task(executorPreference: WorkExecutor.current) { await verify() }
    running[key] = task
    defer { running[key] = nil }
    return await task.value
  }
}

/// Somebody whose name and password were right.
struct VerifiedUser: Sendable {
  /// A user, or the administrator.
  let kind: Principal.Kind
  /// The account.
  let id: AccountID
  /// The name as signed up.
  let name: UserName
  /// The account's epoch.
  let epoch: Int
  /// Guests whose bookmarks are on their way.
  let adopting: [AccountID]

  /// Who that is to a request.
  var principal: Principal {
    Principal(kind: kind, id: id, username: name.text, store: .user(id), epoch: epoch)
  }
}
