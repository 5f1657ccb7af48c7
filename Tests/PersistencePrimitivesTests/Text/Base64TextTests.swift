import Foundation
import PersistencePrimitives
import Testing

@Suite("Base64")
struct Base64TextTests {
  private func text(_ bytes: [UInt8], _ variant: Base64Text.Variant) -> String {
    var text = Array("before ".utf8)
    bytes.withUnsafeBytes { Base64Text.append($0, variant, to: &text) }
    return String(decoding: text, as: UTF8.self)
  }

  @Test("both variants are those of Foundation, at every length and with every byte")
  func agreement() {
    let all = (0..<256).map { UInt8($0) }
    for length in 0..<100 {
      for start in [0, 100, 156] {
        let bytes = Array(all[start..<start + length])
        let standard = Data(bytes).base64EncodedString()
        #expect(text(bytes, .standard) == "before " + standard)
        let url = standard.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        #expect(text(bytes, .url) == "before " + url)
      }
    }
    let reversed = Array(all.reversed())
    #expect(text(reversed, .standard) == "before " + Data(reversed).base64EncodedString())
  }
}
