/// Removes from a photo, while it arrives, what does not belong to its picture: position, times, the maker's data, texts,
/// thumbnails, further files behind it.
///
/// What is known to belong to the picture stays, byte for byte: pixels, colour profile, animation, orientation. So a new
/// kind of data that somebody invents is removed, too. Source: each format's own rules; see the cleaners.
///
/// ```swift
/// var cleaner = PhotoCleaner()
/// for bytes in pieces { use(try cleaner.clean(bytes)) }
/// try cleaner.finish()
/// ```
package struct PhotoCleaner: Sendable {
  /// The type; nil before enough bytes have come.
  package private(set) var type: PhotoType?
  private var format: (any PhotoFormat)?
  /// What has come and waits for more. Shorter than the longest head, ``HEICCleaner/metaBytes``, and one piece.
  private var held: [UInt8] = []
  /// What happens to the next bytes, the first step last.
  private var steps: [PhotoStep] = []
  private var isOver = false

  package init() {}

  /// Takes the next bytes, and returns those that may be stored by now.
  package mutating func clean(_ bytes: [UInt8]) throws(PhotoError) -> [UInt8] {
    guard !isOver else { return [] }
    held += bytes
    if format == nil {
      guard held.count >= PhotoType.recognisedBytes else { return [] }
      guard let type = PhotoType(startingWith: held) else { throw .unknownType }
      (self.type, format) = (type, type.format)
    }
    var (output, at) = ([UInt8](), 0)
    output.reserveCapacity(held.count)
    while !isOver, try advance(&at, &output) {}
    held.removeFirst(at)
    return output
  }

  /// Ends the photo when all of its bytes have come.
  /// - Returns: its type.
  package func finish() throws(PhotoError) -> PhotoType {
    guard let type, let format else { throw .unknownType }
    if isOver { return type }
    let isAtEnd = steps.isEmpty ? held.isEmpty && format.mayEnd : steps == [.blankRest]
    guard isAtEnd else { throw .malformed("The photo is cut off") }
    return type
  }

  /// Carries out one step, or asks the format for the next ones.
  /// - Returns: whether to go on with the bytes that are held.
  private mutating func advance(
    _ at: inout Int, _ output: inout [UInt8]
  ) throws(PhotoError) -> Bool {
    guard let step = steps.popLast() else {
      guard let count = format?.headBytes, count <= held.count - at else { return false }
      let head = Array(held[at..<at + count])
      at += count
      steps = try format?.next(head).reversed() ?? []
      return true
    }
    let rest = held.count - at
    switch step {
    case .write(let bytes): output += bytes
    case .copy(let count), .skip(let count), .blank(let count):
      let taken = min(count, rest)
      switch step {
      case .copy: output += held[at..<at + taken]
      case .blank: output += repeatElement(0, count: taken)
      default: break
      }
      at += taken
      guard taken == count else {
        steps.append(step.after(taken))
        return false
      }
    case .blankRest:
      output += repeatElement(0, count: rest)
      at += rest
      steps.append(step)
      return false
    case .copyScan:
      let end = JPEGCleaner.endOfScan(in: held, from: at)
      output += held[at..<end.index]
      at = end.index
      guard end.isMarker else {
        steps.append(step)
        return false
      }
    case .end: isOver = true
    }
    return true
  }
}
