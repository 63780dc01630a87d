/// Why bytes could not be unpacked.
package enum CompressionError: Error, Sendable, Equatable {
  /// They are not whole, sound members of the gzip format, and nothing else.
  case malformed
  /// They unpack to more than is wanted.
  case tooLarge
  /// The memory for the work could not be had.
  case outOfMemory
}
