extension Duration {
  /// Whole seconds, rounded up: whoever waits so long has waited long enough.
  var secondsRoundedUp: Int {
    let (seconds, rest) = components
    return Int(seconds) + (rest > 0 ? 1 : 0)
  }
}
