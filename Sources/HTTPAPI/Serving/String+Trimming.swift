extension Substring {
  /// Without the blanks and tabs around it.
  var trimmingSpaces: String {
    var bytes = utf8
    while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
    return String(Substring(bytes))
  }
}

extension String {
  /// Without the blanks and tabs around it.
  var trimmingSpaces: String { self[...].trimmingSpaces }
}
