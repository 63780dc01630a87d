import Documents
import HTTPTypes
import Hummingbird
import JSON
import Stores

/// What the administrator sees of the running server.
struct ServerStateController: Sendable {
  let administration: any ServerAdministration
  let stores: DatabaseManager
  /// The streams that are being written.
  let feeds: Feeds

  var routes: [Route] {
    [
      .administrator(.get, "/v1/admin/server", showServer),
      .administrator(.get, "/v1/admin/upstreams", showUpstreams),
      .administrator(.get, "/v1/admin/connections", showConnections),
      .administrator(.get, "/v1/admin/history", showHistory),
    ]
  }

  private func showServer(_ call: Call) async throws -> Response {
    _ = try call.query()
    let server = try await administration.server()
    return .json { writer in
      writer.member("version", server.version)
      writer.member("startedAt", server.startedAt.rfc3339)
      writer.member("diskBytes", Int(clamping: server.diskBytes))
      writer.member("freeBytes", Int(clamping: server.freeBytes))
      if let backups = server.backups { writer.member("backups", backups) }
    }
  }

  private func showUpstreams(_ call: Call) async throws -> Response {
    _ = try call.query()
    let cache = await administration.cache()
    return .json { writer in
      writer.objects("upstreams", of: administration.upstreams) { upstream, writer in
        writer.member("name", upstream.name)
        if let breaker = upstream.breaker { writer.member("breaker", breaker) }
        writer.member("isRecovering", upstream.isRecovering)
        writer.object("calls") { writer in
          for (outcome, count) in upstream.calls { writer.member(outcome, count) }
        }
      }
      guard let cache else { return }
      writer.object("cache") { writer in
        writer.member("answerBytes", cache.answerBytes)
        writer.member("maximumBytes", cache.maximumBytes)
        writer.member("hotels", cache.hotels)
        writer.object("searches") { writer in
          for (result, count) in cache.searches { writer.member(result, count) }
        }
      }
    }
  }

  private func showConnections(_ call: Call) throws -> Response {
    _ = try call.query()
    let traffic = administration.traffic(addresses: AdministratorController.rows)
    return .json { writer in
      writer.member("open", traffic.connections)
      writer.member("refused", traffic.refusedConnections)
      writer.member("requests", traffic.requests)
      writer.member("refusedRequests", traffic.refusedRequests)
      writer.member("feeds", feeds.count)
      writer.member("waitingFeeds", feeds.waitingCount)
      writer.member("openStores", stores.openCount)
      writer.member("leasedStores", stores.leasedCount)
      writer.objects("addresses", of: traffic.addresses) { found, writer in
        writer.member("address", found.address)
        writer.member("connections", found.connections)
      }
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
