struct SeenRequest: Sendable {
  let method: String
  /// The target exactly as sent, not decoded.
  let target: String
  /// The field lines, names in lower case.
  let fields: [String: String]

  /// Parses the lines before the content; nil if the first one is no request line.
  init?(head: [UInt8]) {
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
    let parts = (lines.first ?? "").split(separator: " ")
    guard parts.count == 3 else { return nil }
    method = String(parts[0])
    target = String(parts[1])
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      fields[line[..<colon].lowercased()] = String(value)
    }
    self.fields = fields
  }
}
