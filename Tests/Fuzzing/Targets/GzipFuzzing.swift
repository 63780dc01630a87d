import HTTPServer

/// gzip: no input unpacks to more than the limit, and packed bytes unpack to the original ones.
enum GzipFuzzing {
  private static let limit = 64 << 10

  static func check(_ bytes: [UInt8]) {
    do {
      let unpacked = try GzipReader.inflate(bytes, limit: limit)
      claim(unpacked.count <= limit, "no more than the limit")
      if !unpacked.isEmpty { checkLimit(bytes, unpacked) }
    } catch {
      claim(error != .outOfMemory, "no lack of memory")
    }
    let packed = attempt { try GzipWriter.deflate(bytes, level: Int(bytes.first ?? 6) % 12) }
    let back = packed.flatMap { packed in
      attempt { try GzipReader.inflate(packed, limit: bytes.count) }
    }
    claim(back == bytes, "what was packed comes back")
  }

  private static func checkLimit(_ bytes: [UInt8], _ unpacked: [UInt8]) {
    let exact = attempt { try GzipReader.inflate(bytes, limit: unpacked.count) }
    claim(exact == unpacked, "a text of exactly the limit is taken")
    do {
      _ = try GzipReader.inflate(bytes, limit: unpacked.count - 1)
      claim(false, "a text one past the limit is refused")
    } catch {
      claim(error == .tooLarge, "as too large")
    }
  }
}
