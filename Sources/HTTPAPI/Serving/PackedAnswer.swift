import HTTPServer
import HTTPTypes
import Hummingbird
import Scheduling

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
