import CContract

/// The text of `openapi.yaml`, which the server shows at the path of that name.
enum Contract {
  /// As it was when the program was built.
  static let text = [UInt8](
    UnsafeBufferPointer(start: ccontract_bytes(), count: ccontract_count()))
}
