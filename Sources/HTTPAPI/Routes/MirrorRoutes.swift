import Accounts
import HTTPServer
import HTTPTypes
import Hotels
import Hummingbird
import Lanes
import Stores

extension HTTPService {
  /// A complete offline copy in one request.
  var mirrorRoutes: [Route] {
    [
      Route(.get, "/v1/mirror", access: .person) { call, person in
        try await mirror(call, of: person.store)
      }
    ]
  }

  func mirror(_ call: Call, of store: StoreName) async throws -> Response {
    let query = try call.query("since")
    var since: MirrorToken?
    if let text = query["since"] {
      guard let token = MirrorToken(text) else {
        throw Problem(
          .badRequest, "invalid_parameter", "since must be the token of an earlier answer")
      }
      since = token
    }
    guard let page = try await hotels.mirror(of: store, since: since) else {
      throw Problem(
        .gone, "resync_required",
        "This copy can't be brought up to date: forget it and ask without since")
    }
    var fields = HTTPFields.tagged(page.token.description)
    fields[.vary] = "Accept-Encoding"
    if let known = try EntityTags(call, .ifNoneMatch, strong: false),
      known.matches(page.token.description)
    {
      return .empty(.notModified, headers: fields)
    }
    return try await .packed(page.json, headers: fields, for: call)
  }
}

extension Response {
  /// Shorter answers, in bytes, are sent without compression, because one packet holds them.
  private static let shortestPacked = 1_024

  /// A JSON answer, as gzip if the client accepts it (RFC 9110, section 12.5.3). The gzip form has a weak entity tag,
  /// because its bytes differ while its content is the same.
  static func packed(
    _ bytes: [UInt8], headers: HTTPFields, for call: Call
  ) async throws -> Response {
    var varied = headers
    varied[.vary] = "Accept-Encoding"
    guard bytes.count >= shortestPacked, call.takesGzip, let writer = try? GzipWriter(level: 4)
    else { return .json(bytes, headers: varied) }
    var rest = bytes[...]
    while !rest.isEmpty {
      writer.append(rest.prefix(GzipWriter.pieceBytes))
      rest = rest.dropFirst(GzipWriter.pieceBytes)
      try await Slice.giveWay()
    }
    writer.append([UInt8(ascii: "\n")])
    var fields = varied
    fields[.contentEncoding] = "gzip"
    if let tag = fields[.eTag] { fields[.eTag] = "W/" + tag }
    return .json(writer.finish(), headers: fields)
  }
}

extension Call {
  /// Whether `Accept-Encoding` accepts gzip: by its name, or by `*` if it has no element for gzip (RFC 9110, section
  /// 12.5.3).
  var takesGzip: Bool {
    guard let field = self[.acceptEncoding] else { return false }
    var (gzip, any): (Bool?, Bool?) = (nil, nil)
    for coding in field.lowercased().utf8.split(separator: UInt8(ascii: ",")) {
      let parts = coding.split(separator: UInt8(ascii: ";")).map {
        String(decoding: $0, as: UTF8.self).trimmingSpaces
      }
      let isTaken = !parts.dropFirst().contains {
        ["q=0", "q=0.", "q=0.0", "q=0.00", "q=0.000"].contains($0)
      }
      switch parts.first {
      case "gzip", "x-gzip": gzip = isTaken
      case "*": any = isTaken
      default: break
      }
    }
    return gzip ?? any ?? false
  }
}
