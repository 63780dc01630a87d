import Accounts
import Documents
import HTTPTypes
import Hummingbird
import Lists
import Stores

/// A stream of changes: one for the caller's own store and all of the caller's lists.
///
/// Source: the HTML standard, "Server-sent events".
struct ObserverController: Sendable {
  let lists: ListService
  /// The streams that are being written.
  let feeds: Feeds
  /// Gives each person their own store.
  let databases: CouchDatabaseAccess

  var routes: [Route] {
    [Route(.get, "/v1/changes", access: .person, run: observe)]
  }

  private func observe(_ call: Call, _ person: Principal) async throws -> Response {
    let query = try call.query("id", "type", "list", "since", "timeout")
    let timeout = try query["timeout"].map { _ in
      Duration.milliseconds(try query.int("timeout", in: 0...86_400_000, default: 0))
    }
    let observer = try await observer(query, call, person)
    return try feeds.response(
      ObserverForm(observer, timeout: timeout), to: call,
      from: databases.own(of: person, as: call.writeContext),
      as: .person(reading: Set(observer.stores)), waits: true,
      [.contentType: "text/event-stream", .cacheControl: "no-cache", .accelBuffering: "no"])
  }

  private func observer(
    _ query: QueryParameters, _ call: Call, _ person: Principal
  ) async throws -> Observer {
    var list: AccountID?
    if let text = query["list"] {
      guard person.kind == .user, let id = AccountID(text) else { throw Problem.notFound }
      list = id
    }
    let filter = Observer.Filter(
      id: try query["id"].map { try DocumentID($0) },
      type: try query.text("type", maximumBytes: DocumentID.maximumBytes), list: list)
    let account = person.kind == .user ? person.id : nil
    let since = call[.lastEventID].flatMap { $0.isEmpty ? nil : $0 } ?? query["since"] ?? "now"
    switch since {
    case "now":
      return try await .fromNow(lists, account: account, own: person.store, filter)
    case "0":
      return try await .fromStart(lists, account: account, own: person.store, filter)
    default:
      guard let token = ObserverToken(since) else {
        throw Problem.invalidParameter(
          "Last-Event-ID or since must be the id of an event of this stream, 0 or now")
      }
      return try await .going(
        on: token, lists, account: account, own: person.store, filter)
    }
  }
}
