import HTTPTypes

/// A request that was passed on and is not answered to its end, for what its answer has to know of it.
struct AskedRequest {
  /// Its head.
  let head: HTTPRequest
  /// Whether it is of HTTP/1.0.
  let isOld: Bool
  /// What it holds.
  let hold: RequestHold
  /// Bytes of its body as it was sent that are accounted for.
  var sentBytes = 0
}
