import Accounts
import Documents
import HTTPTypes
import Hummingbird
import JSON
import Lists
import Stores

/// The members of a list, and invitations to it.
extension HTTPService {
  /// `…/members/{username}`.
  var memberRoutes: [Route] {
    [
      Route(
        .put, "/v1/lists/{listID}/members/{username}", access: .person, answer: .kept,
        completion: .always
      ) { call, person in
        let id = try await listID(call, person)
        let role = try ListBody(try await call.json(.small), known: ["role"]).role()
        return try await .written(as: Self.answer(to:)) {
          try await lists.putMember(
            try call.parameter("username"), role: role, on: id, by: person.id)
        }
      },
      Route(
        .delete, "/v1/lists/{listID}/members/{username}", access: .person, answer: .kept,
        completion: .always
      ) { call, person in
        let id = try await listID(call, person)
        return try await .noContent(in: .system) {
          try await lists.removeMember(
            try call.parameter("username"), from: id, by: person.id)
        }
      },
    ]
  }

  /// The answer to a user who was put on a list, or to whom it is offered.
  @Sendable static func answer(to outcome: ListService.MemberOutcome) -> WriteAnswer {
    guard case .invited(let invitation) = outcome else { return WriteAnswer(.noContent) }
    return .json(.accepted, headers: [.cacheControl: Response.uncached]) { writer in
      writer.member("id", invitation.id.text)
      writer.member("status", "invited")
      writer.member("username", invitation.username)
      writer.member("role", invitation.role.rawValue)
      writer.member("createdAt", invitation.createdAt.rfc3339)
      writer.member("expiresAt", invitation.expiresAt.rfc3339)
    }
  }

  /// Invitations of a list: creating, listing and withdrawing them.
  var invitationRoutes: [Route] {
    [
      Route(.get, "/v1/lists/{listID}/invitations", access: .person, answer: .uncached) {
        call, person in
        let id = try await listID(call, person)
        let open = try await lists.invitations(to: id, for: person.id)
        return .json { writer in
          writer.name("invitations")
          writer.beginArray()
          for invitation in open.links {
            writer.beginObject()
            Self.write(invitation, to: &writer)
            writer.endObject()
          }
          for user in open.users {
            writer.beginObject()
            Self.write(user, to: &writer)
            writer.endObject()
          }
          writer.endArray()
        }
      },
      Route(
        .post, "/v1/lists/{listID}/invitations", access: .person, answer: .secret,
        completion: .always, run: invite),
      Route(
        .delete, "/v1/lists/{listID}/invitations/{invitationID}", access: .person, answer: .kept,
        completion: .always
      ) { call, person in
        let id = try await listID(call, person)
        guard let invitation = AccountID(try call.parameter("invitationID")) else {
          throw Problem.notFound
        }
        return try await .noContent(in: .system) {
          try await lists.withdraw(invitation, to: id, by: person.id)
        }
      },
    ] + receivedInvitationRoutes
  }

  /// Invitations as the invited see them.
  private var receivedInvitationRoutes: [Route] {
    [
      Route(.get, "/v1/invitations", access: .person, answer: .uncached) { call, person in
        let known = person.kind == .user ? try await lists.invitations(of: person.id) : []
        return .json { writer in
          writer.array("invitations", of: known) { received, writer in
            writer.beginObject()
            Self.write(received, to: &writer)
            writer.endObject()
          }
        }
      },
      Route(
        .post, "/v1/invitations/{token}/accept", access: .person, answer: .kept, completion: .always
      ) { call, person in
        guard person.kind == .user, let username = person.username else {
          throw ServiceError.accountNeeded
        }
        let list = try await lists.accept(
          try call.parameter("token"), by: person.id, username)
        return answer(list, .ok, headers: .tagged(list.tag), call)
      },
      Route(
        .post, "/v1/invitations/{invitationID}/decline", access: .person, answer: .kept,
        completion: .always
      ) { call, person in
        let id = try Self.invitationID(call, person)
        return try await .noContent(in: .system) {
          try await lists.decline(id, by: person.id)
        }
      },
      Route(
        .post, "/v1/invitations/{invitationID}/block", access: .person, answer: .kept,
        completion: .always
      ) { call, person in
        let id = try Self.invitationID(call, person)
        return try await .noContent(in: .system) { try await lists.block(id, by: person.id) }
      },
      Route(.get, "/v1/blocked", access: .person, answer: .uncached) { call, person in
        let names = person.kind == .user ? try await lists.blockedInviters(of: person.id) : []
        return .json { writer in
          writer.array("blocked", of: names) { name, writer in
            writer.beginObject()
            writer.person(name)
            writer.endObject()
          }
        }
      },
      Route(.delete, "/v1/blocked/{username}", access: .person, answer: .kept) { call, person in
        let name = try call.parameter("username")
        return try await .noContent(in: .system) { try await lists.unblock(name, by: person.id) }
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
    let id = try await listID(call, person)
    let body = try ListBody(try await call.json(.small), known: ["role", "expiresAt"])
    let (role, end) = (try body.role(), try body.moment("expiresAt"))
    let address = address.url(for: call)
    let answer = { @Sendable (issued: IssuedInvitation) in
      let path = "/v1/lists/\(id.text)/invitations/\(issued.invitation.id.text)"
      return WriteAnswer.json(.created, headers: [.location: path]) { writer in
        Self.write(issued.invitation, to: &writer)
        writer.member("token", issued.token)
        writer.member("accept", address + "/v1/invitations/\(issued.token)/accept")
      }
    }
    return try await .written(as: answer) {
      try await lists.invite(to: id, as: role, until: end, by: person.id)
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
