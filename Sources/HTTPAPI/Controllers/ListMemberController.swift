import Accounts
import Documents
import HTTPTypes
import Hummingbird
import JSON
import Lists
import Stores

/// The members of a list.
struct ListMemberController: Sendable {
  let lists: ListService

  var routes: [Route] {
    [
      Route(
        .put, "/v1/lists/{listID}/members/{username}", access: .person, answer: .kept,
        completion: .always
      ) { call, person in
        let id = try await call.listID(for: person, in: lists)
        let role = try ListBody(try await call.json(.small), known: ["role"]).role()
        return try await .written(as: WriteAnswer.member) { answer in
          try await lists.putMember(
            try call.parameter("username"), role: role, on: id, by: person.id,
            as: call.writeContext, answer: answer)
        }
      },
      Route(
        .delete, "/v1/lists/{listID}/members/{username}", access: .person, answer: .kept,
        completion: .always
      ) { call, person in
        let id = try await call.listID(for: person, in: lists)
        return try await .written(as: WriteAnswer.noContent) { answer in
          try await lists.removeMember(
            try call.parameter("username"), from: id, by: person.id, as: call.writeContext,
            answer: answer)
        }
      },
    ]
  }
}

extension WriteAnswer {
  /// The answer to a user who was put on a list, or to whom it is offered.
  @Sendable static func member(_ outcome: ListService.MemberOutcome) -> WriteAnswer {
    guard case .invited(let invitation) = outcome else { return WriteAnswer(.noContent) }
    return .json(.accepted, headers: [.cacheControl: Response.uncached]) { writer in
      writer.invited(invitation)
    }
  }
}

extension JSONWriter {
  /// Writes the members of an invitation by name.
  mutating func invited(_ invitation: PersonalInvitation) {
    member("id", invitation.id.text)
    member("status", "invited")
    member("username", invitation.username)
    member("role", invitation.role.rawValue)
    member("createdAt", invitation.createdAt.rfc3339)
    member("expiresAt", invitation.expiresAt.rfc3339)
  }
}
