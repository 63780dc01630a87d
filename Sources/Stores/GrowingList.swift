/// What a read in slices has found so far, in order.
///
/// Each step of such a read starts from a copy of the progress; see ``DocumentStore/read(inSlices:_:)``. A copy of an
/// array is copied whole when it grows. A copy of this list shares its full parts with the original, so that a step
/// copies at most ``partCount`` elements.
package struct GrowingList<Element: Sendable>: Sendable {
  /// How many elements a part has.
  private static var partCount: Int { 256 }

  private var parts: [[Element]] = []
  private var rest: [Element] = []

  package init() {}

  package var count: Int { parts.count * Self.partCount + rest.count }

  /// All elements, copied into one array.
  package var all: [Element] { parts.isEmpty ? rest : parts.reduce(into: [], +=) + rest }

  package mutating func append(_ element: Element) {
    rest.append(element)
    guard rest.count == Self.partCount else { return }
    parts.append(rest)
    rest = []
  }

  package static func += (list: inout GrowingList, elements: some Sequence<Element>) {
    for element in elements { list.append(element) }
  }
}
