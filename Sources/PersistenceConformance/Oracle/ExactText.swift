package import Foundation

/// A text that is equal for two values exactly if they are identical to the bit (contract V2).
///
/// With `==`, canonically equivalent strings are equal and NaN is not.
package protocol ExactText {
  /// The text.
  var exactText: String { get }
}

extension Bool: ExactText { package var exactText: String { "\(self)" } }
extension Int8: ExactText { package var exactText: String { "\(self)" } }
extension Int16: ExactText { package var exactText: String { "\(self)" } }
extension Int32: ExactText { package var exactText: String { "\(self)" } }
extension Int64: ExactText { package var exactText: String { "\(self)" } }
extension Int: ExactText { package var exactText: String { "\(self)" } }
extension UInt8: ExactText { package var exactText: String { "\(self)" } }
extension UInt16: ExactText { package var exactText: String { "\(self)" } }
extension UInt32: ExactText { package var exactText: String { "\(self)" } }

extension Double: ExactText {
  /// The bits, with one text for every NaN.
  package var exactText: String { isNaN ? "NaN" : String(bitPattern, radix: 16) }
}

extension Float: ExactText {
  /// The bits, with one text for every NaN.
  package var exactText: String { isNaN ? "NaN" : String(bitPattern, radix: 16) }
}

extension Date: ExactText { package var exactText: String { timeIntervalSinceReferenceDate.exactText } }

extension Data: ExactText {
  /// The bytes; for a large value, only their number and a checksum.
  package var exactText: String {
    guard count > 4096 else { return map { String($0, radix: 16) }.joined(separator: " ") }
    return "\(count) bytes, \(withUnsafeBytes(Checksum.of))"
  }
}

extension String: ExactText { package var exactText: String { Data(utf8).exactText } }

extension UUID: ExactText { package var exactText: String { uuidString } }
extension URL: ExactText { package var exactText: String { absoluteString.exactText } }
extension Decimal: ExactText { package var exactText: String { isNaN ? "NaN" : description } }

extension Optional: ExactText where Wrapped: ExactText {
  /// `nil`, or the wrapped value between delimiters.
  package var exactText: String { map { "<\($0.exactText)>" } ?? "nil" }
}

extension RawRepresentable where RawValue: ExactText { package var exactText: String { rawValue.exactText } }

/// A checksum of many bytes that is fast enough in a debug build.
package enum Checksum {
  /// FNV-1a over eight bytes at a time (Fowler, Noll, Vo), then over the rest.
  package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    let words = bytes.count / 8
    for word in 0..<words {
      hash = (hash ^ bytes.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self)) &* 0x100_0000_01B3
    }
    for index in (words * 8)..<bytes.count { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3 }
    return hash
  }
}
