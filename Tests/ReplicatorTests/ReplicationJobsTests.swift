import Documents
import IPAddresses
import Scheduling
import Stores
import Testing

@testable import Replicator

/// Whose replications wait for whose.
@Suite(.timeLimit(.minutes(10))) struct ReplicationJobsTests {
  @Test func administratorsReplicationWaitsForNoRemoteOfPeople() async throws {
    // A person's own store is reached with a token, and that never comes.
    let clients = PeerClients(socket: "/nonexistent/socket", addresses: .publicOnly) { _ in
      try await Task.sleep(for: .seconds(3600))
      return ""
    }
    let jobs = ReplicationJobs(clients) { Timestamp(milliseconds: 0) }
    for number in 0..<2 * ReplicationJobs.most {
      let id = try #require(AccountID(String(repeating: "0", count: 29) + String(100 + number)))
      let own = ReplicationEndpoint(ownOf: .init(id: id, name: "person\(number)"))
      let body = #"{"source": "own", "target": "https://other.example/db", "continuous": true}"#
      let request = try ReplicationRequest(
        ParsedJSON(Array(body.utf8), limits: .small).root, own: own)
      let reference = ReplicationJob.Reference(database: "_remotes", id: id.text)
      guard case .begun = jobs.begin(request, on: "server", of: reference, { _ in })
      else {
        Issue.record("\(number) has not begun")
        return
      }
    }
    while jobs.jobs.count(where: { $0.state == .running }) < 100 { await Task.yield() }
    let body = Array(#"{"source": "one", "target": "two"}"#.utf8)
    let reply = try jobs.replicate(ParsedJSON(body, limits: .small).root, on: "server")
    guard case .once(_, let task) = reply, case .failure(let failure) = await task.value else {
      Issue.record("It has not tried")
      return
    }
    #expect(failure.error != "cancelled")
    #expect(jobs.jobs.count(where: { $0.state == .running }) == 100)
    // A request ends what documents describe, but no person's remote.
    let remote = try #require(jobs.jobs.first { $0.request.person != nil }).id
    let cancellation = Array(#"{"id": "\#(remote)", "cancel": true}"#.utf8)
    let answer = try jobs.replicate(
      ParsedJSON(cancellation, limits: .small).root, on: "server")
    guard case .absent = answer else {
      Issue.record("A person's remote was ended")
      return
    }
    await jobs.stop()
  }

  /// A server that answered slowly enough once kept a turn for a day.
  @Test func personsReplicationThatHangsEndsWhenOthersWait() async throws {
    let (asked, continuation) = AsyncStream<Void>.makeStream()
    let clients = PeerClients(socket: "/nonexistent/socket", addresses: .publicOnly) { _ in
      continuation.yield()
      try await Task.sleep(for: .seconds(3600))
      return ""
    }
    let id = try #require(AccountID(String(repeating: "0", count: 32)))
    let body = #"{"source": "own", "target": "https://other.example/db"}"#
    let request = try ReplicationRequest(
      ParsedJSON(Array(body.utf8), limits: .small).root,
      own: ReplicationEndpoint(ownOf: .init(id: id, name: "ann")))
    let turns = ReplicationTurns(atOnce: 1, length: .milliseconds(1))
    let replication = Replication(
      request: request, id: "x", source: clients.peer(request.source, of: id),
      target: clients.peer(request.target, of: id), now: { Timestamp(milliseconds: 0) },
      report: { _ in }, openings: turns, turns: ReplicationTurns(atOnce: 1),
      place: try await ReplicationTurns(atOnce: 1).take())
    let run = Task { try await replication.run() }
    for await _ in asked { break }
    try await turns.take().give()
    await #expect(throws: ReplicationFailure.self) { try await run.value }
    await clients.shutdown()
  }

  @Test func failedConnectionsAreNamedInWords() async throws {
    struct HandshakeError: Error, CustomStringConvertible {
      let description = "failed([Error: 1 VERSION at /built/tls.cc:127, Error: 2 at /ssl.cc:3])"
    }
    let clients = PeerClients(socket: "/nonexistent/socket", addresses: .publicOnly) { _ in "" }
    let end = try ReplicationEndpoint(
      ParsedJSON(Array(#""https://none.invalid/db""#.utf8), limits: .small).root, as: "source")
    let person = try #require(AccountID(String(repeating: "0", count: 32)))
    let persons = clients.peer(end, of: person)
    var peer = clients.peer(end)
    peer.attempts = 1
    let name = "https://none.invalid/db/"
    var failures: [any Error] = [peer.failure(HandshakeError()), persons.failure(HandshakeError())]
    do { _ = try await peer.open() } catch { failures.append(error) }
    #expect(
      failures.map { $0 as? ReplicationFailure } == [
        .unreachable(name, "failed([Error: 1 VERSION, Error: 2])"),
        .unreachable(name, "it can't be reached"),
        ReplicationFailure("nxdomain", "could not resolve \(name)"),
      ])
    await clients.shutdown()
  }

  @Test func answersOfAPersonsRemoteAreReadOnThePersonsAccount() async throws {
    let (account, seats) = (ProcessorAccount(), Seats(stores: .forStores()))
    let clients = PeerClients(
      socket: "/nonexistent/socket", addresses: .publicOnly, token: { _ in "" },
      work: { _ in Work(account, in: seats, isCounted: false) })
    let id = try #require(AccountID(String(repeating: "0", count: 32)))
    let own = ReplicationEndpoint(ownOf: .init(id: id, name: "ann"))
    let people: [(AccountID?, isCharged: Bool)] = [(id, true), (nil, false)]
    for (person, isCharged) in people {
      let found = try await clients.peer(own, of: person).computing {
        Work.current?.account === account
      }
      #expect(found == isCharged)
    }
    await clients.shutdown()
  }
}
