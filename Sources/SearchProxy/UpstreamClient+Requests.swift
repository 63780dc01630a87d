import AsyncHTTPClient
import Hotels
import NIOCore
import NIOHTTP1

extension UpstreamClient {
  /// Asks for a URL and reads the answer, whatever its status; redirects are answers too.
  /// - Throws: ``SearchError``; `unavailable` when nobody answers, `timeout`, `badAnswer` for one
  ///   that is no HTTP, breaks off or is too large.
  func get(_ url: String) async throws(SearchError) -> UpstreamAnswer {
    try await answer(to: Self.request(url))
  }

  /// Sends JSON to a URL and reads the answer; see ``get(_:)``.
  /// - Parameter authorization: the upstream's own credentials, from the configuration; nil for none.
  func post(
    _ json: [UInt8], to url: String, authorization: String?
  ) async throws(SearchError) -> UpstreamAnswer {
    var request = Self.request(url)
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/json")
    if let authorization { request.headers.add(name: "authorization", value: authorization) }
    request.body = .bytes(ByteBuffer(bytes: json))
    return try await answer(to: request)
  }

  /// Asks for a URL and gives the status; the content is not read.
  /// - Throws: as ``get(_:)``.
  func status(of url: String) async throws(SearchError) -> Int {
    Int(try await head(of: Self.request(url)).status.code)
  }

  /// A request that carries nothing of the person who searches.
  private static func request(_ url: String) -> HTTPClientRequest {
    var request = HTTPClientRequest(url: url)
    request.headers = [
      "user-agent": userAgent, "accept": "application/json", "accept-encoding": "identity",
    ]
    return request
  }

  private func answer(to request: HTTPClientRequest) async throws(SearchError) -> UpstreamAnswer {
    let response = try await head(of: request)
    let status = Int(response.status.code)
    return UpstreamAnswer(
      status: status,
      mediaType: response.headers.first(name: "content-type").map(Self.mediaType),
      location: response.headers.first(name: "location"),
      namesRetryTime: response.headers.contains(name: "retry-after"),
      // Content that nobody reads makes the client close the connection: an error page of any
      // length costs no memory.
      body: (200..<300).contains(status) ? try await content(of: response) : [])
  }

  private func head(
    of request: HTTPClientRequest
  ) async throws(SearchError) -> HTTPClientResponse {
    do {
      return try await http.execute(
        request, deadline: .now() + TimeAmount(timeouts.firstByte))
    } catch {
      throw .beforeHead(error)
    }
  }

  private func content(of response: HTTPClientResponse) async throws(SearchError) -> [UInt8] {
    let codings = response.headers[canonicalForm: "content-encoding"]
    guard codings.allSatisfy({ $0.lowercased().utf8.elementsEqual("identity".utf8) }) else {
      throw .badAnswer("the answer is compressed, which was not asked for")
    }
    if let length = response.headers.first(name: "content-length").flatMap(Int.init),
      length > maximumAnswerBytes
    {
      throw .badAnswer("answer of \(length) bytes is too large")
    }
    var bytes: [UInt8] = []
    do {
      for try await chunk in response.body {
        guard chunk.readableBytes <= maximumAnswerBytes - bytes.count else {
          throw SearchError.badAnswer("answer is longer than \(maximumAnswerBytes) bytes")
        }
        bytes.append(contentsOf: chunk.readableBytesView)
      }
    } catch let error as SearchError {
      throw error
    } catch {
      throw .afterHead(error)
    }
    return bytes
  }

  private static func mediaType(_ header: String) -> String {
    let type = header.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 > 0x20 }
    return String(decoding: type, as: UTF8.self).lowercased()
  }
}
