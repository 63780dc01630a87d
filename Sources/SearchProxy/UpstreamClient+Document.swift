package import Hotels

extension UpstreamClient {
  /// Gets one JSON document with a client of its own, which is not used again: for what is asked for every few
  /// minutes at most.
  /// - Parameter url: checked by ``UpstreamURL``, perhaps with a query.
  /// - Parameter addresses: where the connection may lead.
  /// - Parameter timeouts: how long it may take, to the last byte.
  /// - Parameter name: what metrics call the place.
  /// - Throws: ``SearchError``; `badAnswer` for any answer but 200 with JSON, a redirect too.
  package static func document(
    at url: String, addresses: AddressRule, timeouts: UpstreamTimeouts, maximumBytes: Int,
    name: String
  ) async throws(SearchError) -> [UInt8] {
    let client = UpstreamClient(
      timeouts: timeouts, maximumAnswerBytes: maximumBytes, addresses: addresses, upstream: name)
    let (meter, started) = (UpstreamMeter(upstream: name), ContinuousClock.now)
    let outcome: Result<[UInt8], SearchError>
    do throws(SearchError) {
      let answer = try await Deadline.within(timeouts.total) { () throws(SearchError) in
        try await client.get(url)
      }
      guard answer.status == 200, answer.mayBeJSON else {
        throw .badAnswer("status \(answer.status), of type \(answer.mediaType ?? "none")")
      }
      outcome = .success(answer.body)
      meter.count(.ok, started: started)
    } catch {
      outcome = .failure(error)
      meter.count(UpstreamMeter.Outcome(error), started: started)
    }
    await client.shutdown()
    return try outcome.get()
  }
}
