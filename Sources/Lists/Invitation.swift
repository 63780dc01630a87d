package import Documents
package import Stores

/// A new invitation with the token of its link, which is answered only once.
package typealias IssuedInvitation = (invitation: Invitation, token: String)

/// A link that adds the first account that follows it to a list.
///
/// The system store has two local documents for it: `invitation/<SHA-256 of the token>`,
/// `{"id","list","role","createdAt","expiresAt","usedBy"?,"isWithdrawn"?}`, and `invitations/<list>/<id>`, `{"hash"}`. The
/// token itself is not stored. Both are kept for some time after the invitation expires, so that the service can tell a
/// late visitor, but of one list no more than ``ListLimits/endedInvitations``, the newest.
package struct Invitation: Sendable, Equatable {
  /// How long an invitation is kept after it expires, in seconds: 7 days.
  private static let memorySeconds: Int64 = 7 * 86_400

  /// The invitation's id, with which the owner withdraws it.
  package let id: AccountID
  package let list: AccountID
  /// The role of the account that accepts it.
  package let role: ListRole
  package let createdAt: Timestamp
  package let expiresAt: Timestamp
  /// The account that accepted it; nil for none.
  var usedBy: AccountID?
  var isWithdrawn = false
  /// The SHA-256 of the token in hexadecimal.
  let hash: String

  init(
    to list: AccountID, as role: ListRole, token: String, at now: Timestamp, expiresAt: Timestamp
  ) {
    id = .random()
    self.list = list
    self.role = role
    createdAt = now
    self.expiresAt = expiresAt
    hash = Self.hash(of: token)
  }

  init?(_ note: LocalDocument, hash: String) throws {
    let root = try ListDirectory.root(of: note)
    guard let id = root["id"]?.string.flatMap(AccountID.init),
      let list = root["list"]?.string.flatMap(AccountID.init),
      let role = root["role"]?.string.flatMap(ListRole.init)
    else { return nil }
    (self.id, self.list, self.role, self.hash) = (id, list, role, hash)
    createdAt = ListDirectory.time("createdAt", in: root)
    expiresAt = ListDirectory.time("expiresAt", in: root)
    usedBy = root["usedBy"]?.string.flatMap(AccountID.init)
    isWithdrawn = root["isWithdrawn"]?.bool ?? false
  }

  func isOpen(at now: Timestamp) -> Bool { usedBy == nil && !isWithdrawn && now < expiresAt }

  var value: JSONValue {
    var object: JSONObject = [
      "id": .string(id.text), "list": .string(list.text), "role": .string(role.rawValue),
      "createdAt": .time(createdAt), "expiresAt": .time(expiresAt),
    ]
    if let usedBy { object.append("usedBy", .string(usedBy.text)) }
    if isWithdrawn { object.append("isWithdrawn", true) }
    return .object(object)
  }

  /// When its local document expires.
  var forgottenAt: Timestamp { expiresAt.adding(seconds: Self.memorySeconds) }

  static func hash(of token: String) -> String { Hex.digest(of: token, digits: 64) }

  /// The invitation of a token; nil for an unknown one.
  static func stored(token: String, in view: any StoreView) throws -> Invitation? {
    let hash = hash(of: token)
    return try view.local(ListKeys.invitation(hash)).flatMap { try Invitation($0, hash: hash) }
  }

  /// The invitations to a list that are known, also those that are not open any more, in the order of their ids.
  static func all(of list: AccountID, in view: any StoreView) throws -> [Invitation] {
    let hashes = try view.localValues(ListKeys.range(ListKeys.invitations(to: list))) { _, note in
      try ListDirectory.root(of: note)["hash"]?.string
    }
    return try hashes.compactMap { hash in
      try view.local(ListKeys.invitation(hash)).flatMap { try Invitation($0, hash: hash) }
    }
  }
}

extension StoreChanges {
  /// Stores an open invitation.
  /// - Throws: `absent` for an absent list; `quotaExceeded` when too many are open.
  mutating func invite(_ invitation: Invitation, at now: Timestamp) throws {
    guard try view.local(ListKeys.list(invitation.list)) != nil else { throw ServiceError.absent }
    let open = try Invitation.all(of: invitation.list, in: view).filter { $0.isOpen(at: now) }
    guard open.count < ListLimits.openInvitations else {
      throw ServiceError(
        .quotaExceeded,
        "At most \(ListLimits.openInvitations) invitations to a list are open at once: withdraw one"
      )
    }
    try write(invitation, at: now)
  }

  /// Accepts an invitation for an account. A member keeps their role, and the invitation stays open. An account
  /// that has accepted it before gets the same answer again.
  /// - Returns: the list.
  /// - Throws: `missing` for an unknown token; `invitationGone`; `quotaExceeded`.
  mutating func accept(
    token: String, by account: AccountID, _ username: String, at now: Timestamp
  ) throws -> AccountID {
    guard var invitation = try Invitation.stored(token: token, in: view) else {
      throw ServiceError(.missing, "No such invitation")
    }
    let list = invitation.list
    guard try ListDirectory.head(of: list, in: view) != nil else {
      throw ServiceError.invitationGone
    }
    let isMember = try role(of: account, in: list) != nil
    if isMember, invitation.usedBy == account || invitation.isOpen(at: now) { return list }
    guard invitation.isOpen(at: now) else { throw ServiceError.invitationGone }
    _ = try putMember(account, username, role: invitation.role, on: list, at: now)
    invitation.usedBy = account
    try write(invitation, at: now)
    return list
  }

  /// Withdraws an open invitation.
  /// - Throws: `missing` for an invitation that is not open.
  mutating func withdraw(_ id: AccountID, to list: AccountID, at now: Timestamp) throws {
    let all = try Invitation.all(of: list, in: view)
    guard var invitation = all.first(where: { $0.id == id && $0.isOpen(at: now) }) else {
      throw ServiceError(.missing, "No such invitation")
    }
    invitation.isWithdrawn = true
    try write(invitation, at: now)
  }

  mutating func erase(_ invitation: Invitation) {
    write(LocalEdit(ListKeys.invitation(invitation.hash), nil))
    write(LocalEdit(ListKeys.invitation(invitation.id, to: invitation.list), nil))
  }

  /// Writes an invitation, and forgets the oldest of those of its list that are not open any more.
  private mutating func write(_ invitation: Invitation, at now: Timestamp) throws {
    let list = invitation.list
    let known = try unlessDamaged { try Invitation.all(of: list, in: view) } ?? []
    let ended = known.filter { $0.id != invitation.id && !$0.isOpen(at: now) }
    let excess = ended.count - ListLimits.endedInvitations + (invitation.isOpen(at: now) ? 0 : 1)
    for old in ended.sorted(by: { $0.createdAt < $1.createdAt }).prefix(max(0, excess)) {
      erase(old)
    }
    let end = invitation.forgottenAt
    note(
      ListKeys.invitation(invitation.id, to: list), ["hash": .string(invitation.hash)],
      expires: end)
    note(ListKeys.invitation(invitation.hash), invitation.value, expires: end)
  }
}

extension ServiceError {
  static let invitationGone = ServiceError(
    .invitationGone, "This invitation was used, withdrawn or has expired: ask for another")
}
