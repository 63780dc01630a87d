import Accounts
import Documents
import StoreTesting
import Stores
import Synchronization
import TestSupport
import Testing

@testable import Lists

/// Lists that are offered to members.
@Suite(.timeLimit(.minutes(60))) struct ListOfferTests {
  /// What ends an offer.
  enum End: CaseIterable {
    case otherOffer, decline, withdrawal, removal, departure, erasure, acceptance
    case otherOwner, listsEnd
  }

  private let fixture: ListFixture
  private let owner, ben, cid: AccountID
  private let list: AccountID

  init() async throws {
    fixture = try ListFixture()
    owner = try await fixture.account("ann")
    ben = try await fixture.account("ben")
    cid = try await fixture.account("cid")
    list = try await fixture.list(of: owner, "ann")
    try await fixture.join(list, ben, "ben", as: .reader, by: owner)
    try await fixture.join(list, cid, "cid", by: owner)
  }

  @Test(arguments: End.allCases) func nothingIsLeftOfAnOfferThatHasEnded(_ end: End) async throws {
    let offer = try await offer("ben")
    #expect(try await fixture.lists.list(list, for: owner).role == .owner)
    try await run(end, offer)
    let left = try await fixture.records(of: list).filter {
      $0.contains("invited") || $0.contains("list-offer")
    }
    #expect(left.count == (end == .otherOffer ? 3 : 0), "\(left)")
    let seen = try await fixture.lists.invitations(of: ben)
    #expect(seen.allSatisfy { $0.id != offer.id } && seen.isEmpty == (end != .otherOwner))
    await #expect(throws: ServiceError.self) {
      _ = try await fixture.lists.accept(offer.id.text, by: ben, "ben", as: .server)
    }
  }

  @Test func memberWhoAcceptsIsTheOwner() async throws {
    let offer = try await offer("ben")
    let accepted = try await fixture.lists.accept(offer.id.text, by: ben, "ben", as: .server)
    #expect(accepted.role == .owner && accepted.members.owner?.username == "ben")
    #expect(accepted.members.member(owner)?.role == .editor)
    #expect(try await fixture.document(list)?.members["owner_id"]?.string == "ben")
  }

  /// Regression: the former owner could withdraw an invitation of the next one, who had got the list between the check of
  /// the owner and the update.
  @Test func formerOwnerWithdrawsNoInvitation() async throws {
    var refusals: Set<ServiceError.Code> = []
    for handover in 1...6 {
      // The call before which the list is handed on, and what is handed on.
      let left = Mutex<Int?>(nil)
      let people = Mutex<(list: AccountID, owner: AccountID, next: AccountID)?>(nil)
      let fixture = try ListFixture { _, storage in
        let isDue = left.withLock { left in
          defer { left = left.map { $0 - 1 } }
          return left == 1
        }
        guard isDue, let (list, owner, next) = people.withLock({ $0 }) else { return }
        try? await storage.update(loading: [], at: Timestamp(milliseconds: 0)) { changes in
          try changes.handOn(list, from: owner, to: next, within: .max)
        }
      }
      let (owner, ben) = (try await fixture.account("ann"), try await fixture.account("ben"))
      let list = try await fixture.list(of: owner, "ann")
      try await fixture.join(list, ben, "ben", by: owner)
      let id = try await fixture.lists.invite(
        to: list, as: .reader, until: nil, by: owner, as: .server
      ).invitation.id
      people.withLock { $0 = (list, owner, ben) }
      left.withLock { $0 = handover }
      do {
        try await fixture.lists.withdraw(id, to: list, by: owner, as: .server)
      } catch { if let code = ServiceError(error)?.code { refusals.insert(code) } }
      left.withLock { $0 = nil }
      if try await fixture.lists.role(of: ben, in: list) == .owner {
        let open = try await fixture.lists.invitations(to: list, for: ben).links
        #expect(open.map(\.id) == [id], "\(handover)")
      }
    }
    // Behind the first check only the update itself finds it.
    #expect(refusals.contains(.absent), "\(refusals)")
  }

  /// An owner can make and withdraw invitations all day, and each was known for weeks.
  @Test(.bug(id: "35/30")) func aListsEndedInvitationsAreKnownUpToALimit() async throws {
    let fixture = try ListFixture()
    let (owner, ben) = (try await fixture.account("ann"), try await fixture.account("ben"))
    let list = try await fixture.list(of: owner, "ann")
    var tokens: [String] = []
    for number in 0...ListLimits.endedInvitations {
      let issued = try await fixture.lists.invite(
        to: list, as: .reader, until: fixture.clock.now.adding(seconds: 1), by: owner, as: .server)
      tokens.append(issued.token)
      if number.isMultiple(of: 2) {
        let id = issued.invitation.id
        try await fixture.lists.withdraw(id, to: list, by: owner, as: .server)
      }
      fixture.clock.advance(seconds: 2)
    }
    let last = try await fixture.lists.invite(
      to: list, as: .reader, until: nil, by: owner, as: .server)
    var codes: [ServiceError.Code?] = []
    for token in tokens {
      do {
        _ = try await fixture.lists.accept(token, by: ben, "ben", as: .server)
        codes.append(nil)
      } catch { codes.append(ServiceError(error)?.code) }
    }
    #expect(codes[0] == .missing)
    #expect(codes.dropFirst().allSatisfy { $0 == .invitationGone })
    _ = try await fixture.lists.accept(last.token, by: ben, "ben", as: .server)
    #expect(try await fixture.lists.role(of: ben, in: list) == .reader)
  }

  @Test func offerIsThereForMembersAlone() async throws {
    _ = try await fixture.account("dan")
    for name in ["dan", "nobody"] {
      await #expect(throws: ServiceError.noMember) { _ = try await offer(name) }
    }
    #expect(try await fixture.lists.offer(list, to: "Ann", by: owner, as: .server) == nil)
    await #expect(throws: ServiceError.ownersOnly) {
      _ = try await fixture.lists.offer(list, to: "ben", by: cid, as: .server)
    }
  }

  @Test func roleOfAMemberChangesBesideAnOffer() async throws {
    let offer = try await offer("ben")
    try await fixture.lists.putMember("ben", role: .editor, on: list, by: owner, as: .server)
    #expect(try await fixture.lists.invitations(of: ben).map(\.id) == [offer.id])
  }

  @Test func blockedOwnersOfferIsNotSeen() async throws {
    try await fixture.lists.block(try await offer("ben").id, by: ben, as: .server)
    #expect(try await fixture.lists.invitations(of: ben).isEmpty)
    _ = try await offer("ben")
    #expect(try await fixture.lists.invitations(of: ben).isEmpty)
  }

  @Test func erasedOwnersListStaysForThirtyDays() async throws {
    _ = try await offer("cid")
    try await settle()
    let seen = try await fixture.lists.list(list, for: cid)
    #expect(seen.members.owner == nil && Set(seen.members.all.map(\.username)) == ["ben", "cid"])
    #expect(try await fixture.document(list)?.members["owner_id"]?.string == "")
    try await fixture.lists.change(list, by: cid, title: "Paris", markdown: nil, as: .server)
    await #expect(throws: ServiceError.ownersOnly) {
      try await fixture.lists.removeMember("ben", from: list, by: cid, as: .server)
    }
    for member in [ben, cid] {
      let offers = try await fixture.lists.invitations(of: member)
      #expect(offers.map(\.id) == [list] && offers.map(\.title) == ["Rome"])
    }
    fixture.clock.advance(seconds: ListLimits.ownerlessSeconds - 1)
    #expect(try await fixture.lists.catchUp().isEmpty)
    #expect(try await fixture.lists.list(list, for: ben).role == .reader)
    fixture.clock.advance(seconds: 1)
    #expect(try await fixture.lists.catchUp().isEmpty)
    #expect(try await fixture.lists.role(of: ben, in: list) == nil)
    let records = try await fixture.records(of: list)
    #expect(records.allSatisfy { $0.contains("left/") }, "\(records)")
    #expect(try await fixture.engine.names(in: "list", after: nil, limit: 1).isEmpty)
  }

  @Test func unreadableListKeepsNoOtherFromItsEnd() async throws {
    let other = try await fixture.list(of: owner, "ann")
    try await fixture.join(other, ben, "ben", by: owner)
    try await settle()
    let unreadable = list.text.precedesBytes(of: other.text) ? (list, other) : (other, list)
    try await fixture.stores.update(.system, as: .server) { changes in
      let head = LocalDocument(revision: 1, body: Array("no list".utf8))
      changes.write(LocalEdit(ListKeys.list(unreadable.0), head))
    }
    fixture.clock.advance(seconds: ListLimits.ownerlessSeconds)
    for _ in 0..<2 { #expect(try await fixture.lists.catchUp().count == 1) }
    #expect(try await fixture.lists.role(of: ben, in: unreadable.1) == nil)
    #expect(try await fixture.lists.role(of: ben, in: unreadable.0) != nil)
  }

  @Test func firstMemberWhoAcceptsAnOwnerlessListHasIt() async throws {
    try await settle()
    try await fixture.lists.decline(list, by: cid, as: .server)
    #expect(try await fixture.lists.invitations(of: cid).isEmpty)
    let dan = try await fixture.account("dan")
    for accept in [(dan, "dan", false), (ben, "ben", true), (cid, "cid", false)] {
      let list = try? await fixture.lists.accept(list.text, by: accept.0, accept.1, as: .server)
      #expect((list?.role == .owner) == accept.2)
    }
    #expect(try await fixture.lists.invitations(of: ben).isEmpty)
    fixture.clock.advance(seconds: ListLimits.ownerlessSeconds)
    #expect(try await fixture.lists.catchUp().isEmpty)
    #expect(try await fixture.lists.list(list, for: ben).members.owner?.username == "ben")
    #expect(try await !fixture.records(of: list).contains { $0.contains("list-ends") })
  }

  @Test func ownerlessListEndsWithItsLastMember() async throws {
    try await settle()
    try await fixture.lists.removeMember("ben", from: list, by: ben, as: .server)
    #expect(try await fixture.lists.catchUp().isEmpty)
    #expect(try await fixture.lists.role(of: cid, in: list) == .editor)
    try await leave(cid)
    #expect(try await fixture.lists.catchUp().isEmpty)
    #expect(try await fixture.engine.names(in: "list", after: nil, limit: 1).isEmpty)
  }

  /// Erases the owner's part of the lists as `DELETE /v1/me` does.
  private func settle() async throws {
    try await fixture.lists.settleOwned(by: owner, handingOn: true, as: .server)
    try await leave(owner)
    #expect(try await fixture.lists.catchUp().isEmpty)
  }

  private func offer(_ name: String) async throws -> PersonalInvitation {
    try #require(try await fixture.lists.offer(list, to: name, by: owner, as: .server))
  }

  private func run(_ end: End, _ offer: PersonalInvitation) async throws {
    let lists = fixture.lists
    switch end {
    case .otherOffer: _ = try await self.offer("cid")
    case .decline: try await lists.decline(offer.id, by: ben, as: .server)
    case .withdrawal: try await lists.withdraw(offer.id, to: list, by: owner, as: .server)
    case .removal: try await lists.removeMember("ben", from: list, by: owner, as: .server)
    case .departure: try await lists.removeMember("ben", from: list, by: ben, as: .server)
    case .erasure: try await leave(ben)
    case .acceptance: _ = try await lists.accept(offer.id.text, by: ben, "ben", as: .server)
    case .otherOwner: try await leave(owner)
    case .listsEnd: try await lists.end(list, by: owner, as: .server)
    }
  }

  /// The lists' part of an erasure.
  private func leave(_ account: AccountID) async throws {
    let now = fixture.clock.now
    try await fixture.lists.stores.update(.system, as: .server) { changes in
      _ = try changes.leaveLists(account, ownedListsAreHandedOn: true, at: now)
    }
  }
}
