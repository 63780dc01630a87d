package import Accounts
import HTTPTypes
import IPAddresses
import NIOConcurrencyHelpers
package import Scheduling
package import Stores

/// The accounts for the processor time of requests. There is one for each recently active address, and for each guest and
/// user at an address. The accounts of one user share what they spend.
package final class ProcessorAccounts: Sendable {
  /// Where requests wait until they may compute.
  package let seats: Seats
  private let table = NIOLockedValueBox(Table())

  fileprivate enum Key: Hashable {
    /// Unauthenticated requests from an address.
    case address(ClientAddress)
    /// A guest or a user, below the account of an address.
    case caller(ObjectIdentifier, AccountID)
    /// What a user has below all addresses; for the administrator the only account.
    case user(AccountID)
  }

  fileprivate struct Table {
    var accounts: [Key: ProcessorAccount] = [:]
    /// The number of accounts at which full ones are removed.
    var threshold = 1_024
  }

  package init(_ seats: Seats) { self.seats = seats }

  /// The account of an address. It pays for a request until its caller is known.
  func account(of address: ClientAddress) -> ProcessorAccount {
    account(.address(address)) { ProcessorAccount(below: ProcessorAccount()) }
  }

  /// The account of a caller. The administrator has one that doesn't depend on others at the same address.
  /// - Parameter address: the account of the caller's address.
  package func account(of principal: Principal, at address: ProcessorAccount) -> ProcessorAccount {
    guard principal.kind != .administrator, let parent = address.parent else {
      return account(.user(principal.id)) { ProcessorAccount() }
    }
    let user: ProcessorAccount? =
      principal.kind == .user ? account(.user(principal.id)) { ProcessorAccount() } : nil
    return account(.caller(ObjectIdentifier(parent), principal.id)) {
      user.map { ProcessorAccount(below: parent, of: $0) } ?? ProcessorAccount(below: parent)
    }
  }

  /// The account of the replications' connections, which have no address. It has no limit: a person's remote is limited by
  /// the account of the person, and delays neither other persons' nor the administrator's.
  func localAccount() -> ProcessorAccount {
    account(.address(ClientAddress("local"))) {
      ProcessorAccount(below: ProcessorAccount(isLimited: false), isLimited: false)
    }
  }

  /// Work of a user that goes on without a request, such as a remote's. It has the account of the user's requests over the
  /// socket of replications, which has no address.
  package func work(of user: AccountID) -> Work {
    let address = localAccount()
    let parent = address.parent ?? address
    let shared = account(.user(user)) { ProcessorAccount() }
    let own = account(.caller(ObjectIdentifier(parent), user)) {
      ProcessorAccount(below: parent, of: shared)
    }
    return Work(own, in: seats, isCounted: false)
  }

  private func account(_ key: Key, _ make: () -> ProcessorAccount) -> ProcessorAccount {
    table.withLockedValue { table in
      if let known = table.accounts[key] { return known }
      if table.accounts.count >= table.threshold { sweep(&table) }
      let account = make()
      table.accounts[key] = account
      return account
    }
  }

  /// Removes accounts that are full and not in use: a new account is full as well.
  private func sweep(_ table: inout Table) {
    let full = seats.full(of: table.accounts)
    var used: Set<ObjectIdentifier> = []
    // A user's account is in use as long as one of the user's callers is.
    for case .caller(let parent, let id) in full { table.remove(.caller(parent, id)) }
    for case .user(let id) in full { table.remove(.user(id)) }
    for (key, account) in table.accounts {
      if case .caller = key, let parent = account.parent { used.insert(ObjectIdentifier(parent)) }
    }
    for case .address(let address) in full {
      let key = Key.address(address)
      // A caller's account refers to this account.
      guard let parent = table.accounts[key]?.parent, !used.contains(ObjectIdentifier(parent))
      else { continue }
      table.remove(key)
    }
    table.threshold = max(1_024, table.accounts.count * 2)
  }
}

extension ProcessorAccounts.Table {
  /// Removes an account, unless a connection or a request refers to it.
  fileprivate mutating func remove(_ key: ProcessorAccounts.Key) {
    guard var account = accounts.removeValue(forKey: key) else { return }
    if !isKnownUniquelyReferenced(&account) { accounts[key] = account }
  }
}

/// The answers to requests that were ended early.
enum EndedWork {
  /// The problem that a client gets.
  /// - Parameter work: the request's work.
  static func problem(_ reason: Work.Ending, _ work: Work) -> Problem {
    switch reason {
    case .overdrawn:
      Problem(
        .tooManyRequests, "overdrawn",
        "You have used more than your share of the server's time, and others wait; try again later",
        retryAfter: work.secondsUntilPaid)
    case .costly:
      Problem(
        .badRequest, "request_too_costly",
        "The request takes too long to answer; ask for less at a time. What was stored is stored")
    case .gone:
      Problem(
        .serviceUnavailable, "unavailable", "The request was ended before it was answered",
        retryAfter: 1)
    }
  }

  /// The cost of a request in milliseconds, for `Server-Timing` (W3C Server Timing, section 2).
  static func timing(_ work: Work) -> String {
    work.settle()
    return "cpu;dur=\(milliseconds(work.nanoseconds)), slice;dur=\(milliseconds(work.longestSlice))"
  }

  private static func milliseconds(_ nanoseconds: Int64) -> String {
    let microseconds = nanoseconds / 1_000
    let fraction = String(microseconds % 1_000)
    return "\(microseconds / 1_000)."
      + String(repeating: "0", count: 3 - fraction.utf8.count) + fraction
  }
}
