import Hotels
package import Logging
import Stores

/// Who finds out how the server is.
extension HTTPService {
  /// Finds everything out; before the server listens, so that there is an answer from the first question on.
  /// - Parameter logger: is told of a failure of the stores.
  package func findHealth(_ logger: Logger) async {
    await renewUpstreamHealth()
    renewHealth(isDue: true, logger)
  }

  /// Tries the stores and puts the metrics together. Blocks for as long as the disk takes: for a thread that does
  /// nothing else.
  package func renewHealth(_ logger: Logger) { renewHealth(isDue: health.isDue, logger) }

  /// Asks the upstream.
  package func renewUpstreamHealth() async {
    do {
      try await search.checkReady()
      health.note(upstream: nil)
    } catch {
      health.note(upstream: error.reason)
    }
  }

  private func renewHealth(isDue: Bool, _ logger: Logger) {
    health.beginRenewal()
    if isDue {
      var failure: StoreError?
      do { try engine.checkWritable() } catch { failure = error }
      if let name = health.note(stores: failure), let failure {
        logger.error(
          "the stores take no writes",
          metadata: [
            LogKey.request: "\(name)", LogKey.error: "\(failure.code)",
            LogKey.detail: "\(failure.detail)",
          ])
      }
    }
    health.note(metrics: metricsText())
  }
}
