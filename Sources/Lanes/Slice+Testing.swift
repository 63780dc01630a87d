extension Slice {
  /// Whether every slice is over at once, for tests of loops that are taken up again. Without effect in a release
  /// build.
  @TaskLocal package static var isShortest = false
}
