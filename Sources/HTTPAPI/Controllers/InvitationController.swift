import Accounts
import Documents
import HTTPTypes
import Hummingbird
import Lists
import Stores

/// Invitations to lists: the members create, list and withdraw them, and the invited answer them.
struct InvitationController: Sendable {
  let lists: ListService
  let address: ServerAddress

  var routes: [Route] { sent + received }

  /// Invitations as the members of a list see them.
  private var sent: [Route] {
    [
      Route(.get, "/v1/lists/{listID}/invitations", access: .person, answer: .uncached) {
        call, person in
        let id = try await call.listID(for: person, in: lists)
        let open = try await lists.invitations(to: id, for: person.id)
        return .json { writer in
          let links = open.links.map { link in JSONWriter.object { Self.write(link, to: &$0) } }
          let users = open.users.map { user in JSONWriter.object { Self.write(user, to: &$0) } }
          writer.array("invitations", of: links + users) { $1.raw($0) }
        }
      },
      .completed(.post, "/v1/lists/{listID}/invitations", answer: .secret, run: invite),
      .completed(.delete, "/v1/lists/{listID}/invitations/{invitationID}") { call, person in
        let id = try await call.listID(for: person, in: lists)
        guard let invitation = AccountID(try call.parameter("invitationID")) else {
          throw Problem.notFound
        }
        return try await .written(as: WriteAnswer.noContent) { answer in
          try await lists.withdraw(
            invitation, to: id, by: person.id, as: call.writeContext, answer: answer)
        }
      },
    ]
  }

  /// Invitations as the invited see them.
  private var received: [Route] {
    [
      Route(.get, "/v1/invitations", access: .person, answer: .uncached) { call, person in
        let known = person.kind == .user ? try await lists.invitations(of: person.id) : []
        return .json { writer in
          writer.objects("invitations", of: known) { Self.write($0, to: &$1) }
        }
      },
      .completed(.post, "/v1/invitations/{token}/accept") { call, person in
        guard person.kind == .user, let username = person.username else {
          throw ServiceError.accountNeeded
        }
        let url = address.url(for: call)
        // The stored answer has no tag: the list's own document, which names the members, is written afterwards.
        let list = try await lists.accept(
          try call.parameter("token"), by: person.id, username, as: call.writeContext
        ) { list in WriteAnswer.list(list, at: url, tagged: false).kept }
        return WriteAnswer.list(list, at: url).response
      },
      .completed(.post, "/v1/invitations/{invitationID}/decline") { call, person in
        let id = try Self.invitationID(call, person)
        return try await .written(as: WriteAnswer.noContent) { answer in
          try await lists.decline(id, by: person.id, as: call.writeContext, answer: answer)
        }
      },
      .completed(.post, "/v1/invitations/{invitationID}/block") { call, person in
        let id = try Self.invitationID(call, person)
        return try await .written(as: WriteAnswer.noContent) { answer in
          try await lists.block(id, by: person.id, as: call.writeContext, answer: answer)
        }
      },
      Route(.get, "/v1/blocked", access: .person, answer: .uncached) { call, person in
        let names = person.kind == .user ? try await lists.blockedInviters(of: person.id) : []
        return .json { writer in
          writer.objects("blocked", of: names) { name, writer in writer.person(name) }
        }
      },
      Route(.delete, "/v1/blocked/{username}", access: .person, answer: .kept) { call, person in
        let name = try call.parameter("username")
        return try await .written(as: WriteAnswer.noContent) { answer in
          try await lists.unblock(name, by: person.id, as: call.writeContext, answer: answer)
        }
      },
    ]
  }

  /// The invitation in a path.
  /// - Throws: ``Problem`` 404 for a guest, who has none, and for any other text.
  private static func invitationID(_ call: Call, _ person: Principal) throws -> AccountID {
    guard person.kind == .user, let id = AccountID(try call.parameter("invitationID")) else {
      throw Problem.notFound
    }
    return id
  }

  private func invite(_ call: Call, _ person: Principal) async throws -> Response {
    let id = try await call.listID(for: person, in: lists)
    let body = try ListBody(try await call.json(.small), known: ["role", "expiresAt"])
    let (role, end) = (try body.role(), try body.moment("expiresAt"))
    let url = address.url(for: call)
    let answer = { @Sendable (issued: IssuedInvitation) in
      let path = "/v1/lists/\(id.text)/invitations/\(issued.invitation.id.text)"
      return WriteAnswer.json(.created, headers: [.location: path]) { writer in
        Self.write(issued.invitation, to: &writer)
        writer.member("token", issued.token)
        writer.member("accept", url + "/v1/invitations/\(issued.token)/accept")
      }
    }
    return try await .written(as: answer) { answer in
      try await lists.invite(
        to: id, as: role, until: end, by: person.id, as: call.writeContext, answer: answer)
    }
  }

  private static func write(_ invitation: Invitation, to writer: inout JSONWriter) {
    writer.member("id", invitation.id.text)
    writer.member("role", invitation.role.rawValue)
    writer.member("createdAt", invitation.createdAt.rfc3339)
    writer.member("expiresAt", invitation.expiresAt.rfc3339)
  }

  private static func write(_ user: InvitedUser, to writer: inout JSONWriter) {
    writer.member("id", user.id.text)
    writer.member("username", user.username)
    writer.member("role", user.role.rawValue)
    writer.member("createdAt", user.createdAt.rfc3339)
    writer.member("expiresAt", user.expiresAt.rfc3339)
  }

  private static func write(_ received: ReceivedInvitation, to writer: inout JSONWriter) {
    writer.member("id", received.id.text)
    writer.member("list", received.list.text)
    writer.member("title", received.title)
    if let inviter = received.inviter {
      writer.person(inviter, as: "inviter", displayed: "inviterDisplayName")
    }
    writer.member("role", received.role.rawValue)
    writer.member("createdAt", received.createdAt.rfc3339)
    writer.member("expiresAt", received.expiresAt.rfc3339)
  }
}
