import Accounts
import Documents
import HTTPTypes
import Hummingbird
import Lists
import Stores

/// A person's own remote: a database on another server with which the person's own store is kept equal.
struct RemoteController: Sendable {
  let replications: any Replications
  /// The streams of progress that are being written.
  let feeds: Feeds
  /// Gives each person their own store.
  let databases: CouchDatabaseAccess

  var routes: [Route] {
    [
      Route(.get, "/v1/sync", access: .person, answer: .uncached) { call, person in
        guard call.accepts("text/event-stream") else { return try await status(call, person) }
        return try await events(call, person)
      },
      Route(.put, "/v1/sync", access: .person, answer: .uncached) { call, person in
        guard person.kind == .user, let name = person.username else { throw Self.guestRefused }
        try await replications.setRemote(try await call.json(.small), of: person.id, named: name)
        return try await status(call, person)
      },
      Route(.delete, "/v1/sync", access: .person, answer: .uncached) { _, person in
        guard try await replications.removeRemote(of: person.id) else { throw Problem.notFound }
        return .empty(.noContent)
      },
      Route(.post, "/v1/sync/now", access: .person, answer: .uncached) { call, person in
        guard try await replications.startRemote(of: person.id) else { throw Problem.notFound }
        return try await status(call, person)
      },
    ]
  }

  private func status(_ call: Call, _ person: Principal) async throws -> Response {
    guard let remote = try await replications.remoteStatus(of: person.id) else {
      throw Problem.notFound
    }
    return .json { writer in
      for (name, value) in remote.members { writer.member(name, value) }
    }
  }

  /// The progress as events.
  private func events(_ call: Call, _ person: Principal) async throws -> Response {
    guard try await replications.remoteStatus(of: person.id) != nil else { throw Problem.notFound }
    return try feeds.response(
      RemoteEvents(of: person.id, replications), to: call,
      from: databases.own(of: person, as: call.writeContext), as: .person(reading: []), waits: true,
      [.contentType: "text/event-stream"])
  }

  private static let guestRefused = ServiceError(
    .accountNeeded, "A remote needs an account: sign up; the account gets the guest's bookmarks")
}

/// How far a person's remote has come, as an event whenever that has changed, until the remote is forgotten.
struct RemoteEvents: LongAnswerForm {
  private let person: AccountID
  private let replications: any Replications
  private var last: JSONObject?

  /// Looks once a second while something is copied, else every five: one store keeps everybody's remotes.
  var rhythm: LongAnswerRhythm {
    LongAnswerRhythm(
      heartbeat: .seconds(15), beat: Array(": heartbeat\n\n".utf8),
      look: .seconds(isCopying ? 1 : 5))
  }

  private var isCopying: Bool {
    ["push", "pull"].contains { direction in
      guard let progress = last?[direction], let state = progress["state"]?.string else {
        return false
      }
      return state == "running"
        ? progress["done"] == nil || progress["done"] != progress["total"]
        : ["initializing", "pending"].contains(state)
    }
  }

  init(of person: AccountID, _ replications: any Replications) {
    (self.person, self.replications) = (person, replications)
  }

  mutating func next(after news: Subscription.News) async throws -> LongAnswerPart {
    guard let status = try await replications.remoteStatus(of: person) else {
      return LongAnswerPart(following: .nothing, closing: [])
    }
    guard status != last else { return LongAnswerPart(following: .news, closing: []) }
    last = status
    let event =
      Array("event: remote\ndata: ".utf8) + JSONValue.object(status).bytes + Array("\n\n".utf8)
    return LongAnswerPart(pieces: [event], following: .news, closing: [])
  }
}
