import Documents
import HTTPTypes
import Hummingbird
import Stores

/// What the administrator sees of the running server.
struct ServerStateController: Sendable {
  let administration: any ServerAdministration
  let stores: DatabaseManager
  /// The streams that are being written.
  let feeds: Feeds

  var routes: [Route] {
    [
      .administrator(.get, "/v1/admin/server") { call in
        _ = try call.query()
        return .json(try await administration.server())
      },
      .administrator(.get, "/v1/admin/upstreams") { call in
        _ = try call.query()
        return .json(await administration.upstreams())
      },
      .administrator(.get, "/v1/admin/connections", showConnections),
      .administrator(.get, "/v1/admin/history", showHistory),
    ]
  }

  private func showConnections(_ call: Call) throws -> Response {
    _ = try call.query()
    return .json { writer in
      administration.writeConnections(addresses: AdministratorController.rows, to: &writer)
      writer.member("feeds", feeds.count)
      writer.member("waitingFeeds", feeds.waitingCount)
      writer.member("openStores", stores.openCount)
      writer.member("leasedStores", stores.leasedCount)
    }
  }

  private func showHistory(_ call: Call) throws -> Response {
    let query = try call.query("after")
    let after = try query.value("after", or: .invalidPageToken) { Timestamp(rfc3339: $0) }
    let samples = administration.history.samples.filter { sample in
      after.map { $0 < sample.at } ?? true
    }
    return .json { writer in
      writer.member("seconds", ServerHistory.sampleSeconds)
      writer.objects("samples", of: samples) { $0.write(to: &$1) }
    }
  }
}

extension ServerHistory.Sample {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("at", at.rfc3339)
    for (name, count) in [
      ("commits", counts.commits), ("successes", counts.successes),
      ("clientErrors", counts.clientErrors), ("serverErrors", counts.serverErrors),
      ("limited", counts.limited), ("feeds", counts.feeds), ("connections", counts.connections),
      ("memoryBytes", counts.memoryBytes),
      ("processorMilliseconds", counts.processorMilliseconds),
    ] { writer.member(name, count) }
  }
}
