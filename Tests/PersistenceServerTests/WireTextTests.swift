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
}
