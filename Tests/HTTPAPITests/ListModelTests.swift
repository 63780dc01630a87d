import Documents
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import HTTPAPI

/// Ten people use shared lists at random, by REST and by sync. Every answer and everything that a person sees must be
/// that of ``ListModel``.
@Suite(.timeLimit(.minutes(60))) struct ListModelTests {
  private static let sequences = repetitions(6, nightly: 1_000)
  private static let steps = 60

  @Test(arguments: 0..<sequences) func aServiceIsAsAModel(_ seed: Int) async throws {
    try await APIFixture.open { api in
      var comparison = ListComparison(api, seed: UInt64(seed))
      for _ in 0..<10 { try await comparison.join() }
      for _ in 0..<Self.steps { try await comparison.step() }
      for person in comparison.names { try await comparison.look(person) }
      try await comparison.move()
    }
  }
}

/// Runs one sequence on a service and on a model.
private struct ListComparison {
  typealias Key = ListModel.Key

  let api: APIFixture
  var generator: SeededGenerator
  var model = ListModel()
  var tokens: [String: String] = [:]
  var names: [String] { tokens.keys.sorted() }
  private var ended: [String] = []
  private var log: [String] = []

  init(_ api: APIFixture, seed: UInt64) {
    self.api = api
    generator = SeededGenerator(seed: seed)
  }

  mutating func join() async throws {
    let name = "person\(tokens.count)"
    tokens[name] = try await api.user(name)
  }

  private mutating func pick<Value>(_ values: [Value]) throws -> Value {
    try #require(values.randomElement(using: &generator))
  }

  private mutating func call(
    _ person: String, _ method: HTTPRequest.Method, _ target: String, _ body: String? = nil
  ) async throws -> Reply {
    log.append("\(person) \(method.rawValue) \(target) \(body ?? "")")
    return try await api.call(method, target, token: tokens[person], body: body)
  }

  private func compare(_ reply: Reply, _ status: Int) {
    #expect(reply.status == status, "\(log.joined(separator: "\n")) \(reply.text)")
  }

  mutating func step() async throws {
    let person = try pick(names)
    api.clock.advance(seconds: 1)
    let choice = Int.random(in: 0..<20, using: &generator)
    if model.lists.isEmpty || choice == 0 {
      let reply = try await call(person, .post, "/v1/lists", #"{"title":"List"}"#)
      compare(reply, 201)
      model.lists[try #require(reply["id"])] = ListModel.List(owner: person)
      return
    }
    // Usually an existing list and one of its members.
    let id = try pick(model.lists.keys.sorted() + ended.suffix(1))
    let members = names.filter { model.lists[id]?.isMember($0) ?? false }
    let isMember = !members.isEmpty && Int.random(in: 0..<4, using: &generator) > 0
    let who = try isMember ? pick(members) : person
    if choice < 6 {
      try await changeMembers(choice, id, by: who)
    } else {
      try await changeItems(choice, id, by: who)
    }
    try await look(try pick(names))
  }

  private mutating func changeMembers(_ choice: Int, _ id: String, by who: String) async throws {
    let (path, name) = ("/v1/lists/" + id, try pick(names))
    switch choice {
    case 1, 2:
      let isEditor = Bool.random(using: &generator)
      let body = #"{"role":"\#(isEditor ? "editor" : "reader")"}"#
      let reply = try await call(who, .put, "\(path)/members/\(name)", body)
      compare(reply, model.putMember(name, isEditor: isEditor, on: id, by: who))
      if reply.status == 202, let invitation = reply["id"] {
        compare(try await call(name, .post, "/v1/invitations/\(invitation)/accept"), 200)
      }
    case 3:
      let target = Bool.random(using: &generator) ? who : name
      compare(
        try await call(who, .delete, "\(path)/members/\(target)"),
        model.removeMember(target, from: id, by: who))
    case 4:
      let reply = try await call(who, .patch, path, #"{"owner":"\#(name)"}"#)
      compare(reply, model.handOn(id, to: name, by: who))
      if reply.status == 202, let offer = reply["id"] {
        compare(try await call(name, .post, "/v1/invitations/\(offer)/accept"), 200)
      }
    default:
      guard Int.random(in: 0..<3, using: &generator) == 0 else { return }
      let status = model.end(id, by: who)
      compare(try await call(who, .delete, path), status)
      if status == 204 { ended.append(id) }
    }
  }

  private mutating func changeItems(_ choice: Int, _ id: String, by who: String) async throws {
    let (name, text) = (try pick(["a", "b", "c"]), try pick(["x", "y", "z"]))
    let isNote = Bool.random(using: &generator)
    let key: Key = isNote ? .note(name) : .bookmark(name)
    let path = "/v1/lists/\(id)/\(isNote ? "notes" : "bookmarks")/\(name)"
    let body = isNote ? #"{"markdown":"\#(text)"}"# : #"{"name":"\#(text)"}"#
    switch choice {
    case 6: try await putInManyWays(key, path, body, text, id, by: who)
    case 7 where isNote: try await restore(name, id, by: who)
    case 7:
      compare(
        try await call(who, .put, path, body), model.put(key, text, on: id, by: who))
    case 8: compare(try await call(who, .delete, path), model.delete(key, on: id, by: who))
    case 9, 10, 11:
      compare(
        try await call(who, .put, path + "?draft=true", body),
        model.draft(key, text, on: id, by: who))
    case 12:
      compare(
        try await call(who, .delete, path + "?draft=true"),
        model.draft(key, nil, on: id, by: who))
    case 13:
      compare(try await call(who, .delete, path + "/draft"), model.discard(key, on: id, by: who))
    case 14, 15, 16:
      compare(try await call(who, .post, path + "/publish"), model.publish(key, on: id, by: who))
    default: try await sync(name, text, id, by: who)
    }
  }

  /// A write that is sent twice with one key, or answered before it is stored: it is carried out once, and its receipt
  /// agrees with the model.
  private mutating func putInManyWays(
    _ key: Key, _ path: String, _ body: String, _ text: String, _ id: String, by who: String
  ) async throws {
    log.append("\(who) PUT \(path) \(body), twice or later")
    let token = tokens[who]
    let status = model.put(key, text, on: id, by: who)
    if Bool.random(using: &generator) {
      let field: HTTPFields = [.idempotencyKey: "key-\(log.count)"]
      let first = try await api.call(.put, path, token: token, body: body, headers: field)
      let second = try await api.call(.put, path, token: token, body: body, headers: field)
      compare(first, status)
      #expect(second.status == first.status, "\(log.joined(separator: "\n"))")
      if status < 300 { #expect(second.text == first.text, "\(log.joined(separator: "\n"))") }
      return
    }
    let reply = try await api.call(
      .put, path, token: token, body: body, headers: [.prefer: "respond-async"])
    guard reply.status == 202 else { return compare(reply, status) }
    let receipt = try await api.settled(reply, try #require(token))
    let told = receipt.json["answer"]?["status"]?.int ?? receipt.json["problem"]?["status"]?.int
    #expect(told == status, "\(log.joined(separator: "\n")) \(receipt.text)")
  }

  /// A person reads a note's history and restores one of its revisions.
  private mutating func restore(_ name: String, _ id: String, by who: String) async throws {
    let document = "/v1/lists/\(id)/documents/\(id):\(name)"
    let history = try await call(who, .get, document + "/revisions")
    guard history.status == 200 else {
      return compare(history, 404)
    }
    let revision = try pick(
      history.json["revisions"]?.array?.compactMap { $0["rev"]?.string } ?? [])
    let said = try await call(who, .get, "\(document)/revisions/\(revision)")
    compare(said, 200)
    let reply = try await call(who, .post, document + "/restore", #"{"rev":"\#(revision)"}"#)
    compare(
      reply, model.restore(.note(name), said["markdown"], on: id, by: who)
    )
  }

  /// A person moves all data to another account. The person's own lists move along, with new ids.
  mutating func move() async throws {
    let person = try pick(names)
    let export = try await call(person, .get, "/v1/me/export")
    compare(export, 200)
    let other = try await api.user("mover")
    let imported = try await api.send(
      .post, "/v1/me/import", token: other, body: ByteBuffer(bytes: export.bytes),
      headers: [.contentType: "application/x-ndjson"])
    compare(imported, 200)
    tokens["mover"] = other
    let reply = try await call("mover", .get, "/v1/lists?limit=50")
    var copies: [[Key: String]] = []
    for id in reply.json["lists"]?.array?.compactMap({ $0["id"]?.string }) ?? [] {
      copies.append(try await contents(of: id, by: "mover"))
    }
    // With the person's drafts, which move along.
    let owned = model.lists.filter { $0.value.owner == person }.map {
      model.seen($0.key, by: person)
    }
    for copy in copies { #expect(owned.contains(copy), "\(log.joined(separator: "\n"))") }
    for list in owned { #expect(copies.contains(list), "\(log.joined(separator: "\n"))") }
    #expect(copies.count == owned.count, "\(log.joined(separator: "\n"))")
  }

  /// A device writes a note: it reads the current revision and writes the next one.
  private mutating func sync(
    _ name: String, _ text: String, _ id: String, by who: String
  ) async throws {
    let target = "/couch/list-\(id)/\(id):\(name)"
    let known = try await call(who, .get, target)
    let revision = known["_rev"].map { #""_rev":"\#($0)","# } ?? ""
    let body =
      #"{\#(revision)"type":"page","wiki_id":"\#(id)","title":"\#(name)","markdown":"\#(text)"}"#
    let reply = try await call(who, .put, target, body)
    compare(reply, model.push(name, text, on: id, by: who))
  }

  /// Compares everything that a person sees.
  mutating func look(_ person: String) async throws {
    let reply = try await call(person, .get, "/v1/lists?limit=50")
    let ids = reply.json["lists"]?.array?.compactMap { $0["id"]?.string } ?? []
    let known = model.lists.filter { $0.value.isMember(person) }.keys.sorted()
    #expect(ids.sorted() == known, "\(log.joined(separator: "\n"))")
    for id in known {
      let seen = try await contents(of: id, by: person)
      #expect(seen == model.seen(id, by: person), "\(log.joined(separator: "\n"))")
      let drafts = try await call(person, .get, "/v1/lists/\(id)/drafts")
      #expect(
        drafts.json["drafts"]?.array?.count == model.lists[id]?.drafts[person]?.count ?? 0,
        "\(log.joined(separator: "\n"))")
    }
  }

  /// The contents of a list as a person sees them.
  private mutating func contents(of id: String, by person: String) async throws -> [Key: String] {
    var seen: [Key: String] = [:]
    let bookmarks = try await call(person, .get, "/v1/lists/\(id)/bookmarks")
    for item in bookmarks.json["bookmarks"]?.array ?? [] {
      if let hotel = item["id"]?.string {
        seen[.bookmark(hotel)] = item["hotel"]?["name"]?.string
      }
    }
    let notes = try await call(person, .get, "/v1/lists/\(id)/notes")
    for item in notes.json["notes"]?.array ?? [] {
      if let title = item["title"]?.string { seen[.note(title)] = item["markdown"]?.string }
    }
    return seen
  }
}
