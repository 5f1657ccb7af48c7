import PersistenceHTTP
import Testing

@Suite("Texts of the wire format")
struct WireTextTests {
  @Test(
    "a segment of a path is decoded, whether it has escapes or not",
    arguments: [
      ("", ""), ("Film", "Film"), ("a%20b", "a b"), ("a+b", "a+b"), ("é", "é"), ("e\u{301}", "e\u{301}"),
      ("%C3%A9", "é"), ("e\u{301}%2F", "e\u{301}/"), ("%25%2B", "%+"), ("😀", "😀"), ("%00", "\0"),
    ])
  func segment(encoded: String, text: String) throws {
    let decoded = try #require(PathSegment.text(encoded[...]))
    #expect(decoded.utf8.elementsEqual(text.utf8))
    #expect(try #require(PathSegment.text(PathSegment.escaped(text)[...])).utf8.elementsEqual(text.utf8))
  }

  @Test("a plus is a space in parameters only, and malformed escapes are none")
  func malformed() {
    #expect(PathSegment.text("a+b%2B", plusIsSpace: true) == "a b+")
    #expect(PathSegment.text("ab", plusIsSpace: true) == "ab")
    for encoded in ["%", "%4", "a%", "%zz", "%ff", "é%ff", "%C3"] {
      #expect(PathSegment.text(encoded[...]) == nil, "\(encoded)")
    }
  }

  @Test("an entity tag is the SHA-256 of the record's JSON, in Base64url, as other clients compute it")
  func tag() {
    #expect(EntityTag(ofLine: "").text == "\"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU\"")
    #expect(EntityTag(ofLine: "abc").text == "\"ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0\"")
  }

  @Test("bytes survive Base64url")
  func bytes() {
    for length in 0..<50 {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 37 + length) }
      #expect(Base64URL.bytes(Base64URL.text(bytes)) == bytes)
    }
  }
}
