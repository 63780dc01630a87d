extension Slice {
  package static var isOver: Bool { Work.current?.isSliceOver ?? false }
  @TaskLocal package static var isShortest = false
}
