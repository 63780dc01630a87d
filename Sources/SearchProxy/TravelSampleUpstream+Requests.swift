import Documents
import Hotels

extension TravelSampleUpstream {
  /// Sends one search and reads its rows; nil when the upstream has no such path (404). One
  /// redirect on the same origin is followed, as Flask sends for a missing slash.
  func answer(to path: String) async throws(SearchError) -> TravelSampleAnswer? {
    var answer = try await client.get(baseURL.url(of: path))
    if answer.isRedirect {
      guard let location = answer.location else { throw .badAnswer("redirect without a location") }
      guard let url = baseURL.origin.redirect(to: location) else {
        meter.countBlocked()
        throw .badAnswer("redirect away from the upstream")
      }
      answer = try await client.get(url)
    }
    if answer.status == 404 { return nil }
    if answer.meansUnavailable {
      throw .unavailable("status \(answer.status)", mayRetry: answer.mayBeAskedAgain)
    }
    guard (200..<300).contains(answer.status) else { throw .badAnswer("status \(answer.status)") }
    guard answer.mayBeJSON else { throw .badAnswer("the answer is no JSON") }
    return try TravelSampleAnswer(
      answer.body, limits: JSONLimits(maximumBytes: client.maximumAnswerBytes))
  }

  /// One cheap request: the second generation answers it without a search, the first says 404, and
  /// either means that somebody is there.
  static func probe(
    _ client: UpstreamClient, _ baseURL: UpstreamURL, setting: TravelSampleGeneration.Setting
  ) async -> SearchError? {
    let path = (setting.order(remembered: nil).first ?? .v2).path
    let url = baseURL.url(of: path)
    do throws(SearchError) {
      let status = try await Deadline.within(client.timeouts.firstByte) { () throws(SearchError) in
        try await client.status(of: url)
      }
      let answer = UpstreamAnswer(status: status, mediaType: nil, location: nil, body: [])
      return answer.meansUnavailable ? .unavailable("status \(status)") : nil
    } catch {
      return error
    }
  }
}
