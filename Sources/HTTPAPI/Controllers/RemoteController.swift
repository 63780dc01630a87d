import Accounts
import HTTPTypes
import Hummingbird
import JSON
import Lists
import Stores

/// A person's own remote: a database on another server with which the person's own store is kept equal.
struct RemoteController: Sendable {
  let remotes: Replications.Remotes

  var routes: [Route] {
    [
      Route(.get, "/v1/sync", access: .person, answer: .uncached, run: status),
      Route(.put, "/v1/sync", access: .person, answer: .uncached) { call, person in
        guard person.kind == .user, let name = person.username else { throw Self.guestRefused }
        try await remotes.set(try await call.json(.small), person.id, name)
        return try await status(call, person)
      },
      Route(.delete, "/v1/sync", access: .person, answer: .uncached) { _, person in
        guard try await remotes.remove(person.id) else { throw Problem.notFound }
        return .empty(.noContent)
      },
      Route(.post, "/v1/sync/now", access: .person, answer: .uncached) { call, person in
        guard try await remotes.start(person.id) else { throw Problem.notFound }
        return try await status(call, person)
      },
    ]
  }

  private func status(_ call: Call, _ person: Principal) async throws -> Response {
    guard let remote = try await remotes.status(person.id) else { throw Problem.notFound }
    return .json { writer in
      for (name, value) in remote.members { writer.member(name, value) }
    }
  }

  private static let guestRefused = ServiceError(
    .accountNeeded, "A remote needs an account: sign up; the account gets the guest's bookmarks")
}
