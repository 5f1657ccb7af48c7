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

  @Test("the paths of records have any names and keys, with escapes or without")
  func records() {
    let paths: [(text: String, path: WirePath?)] = [
      ("/models/Film/records", .records("Film")), ("/models//records", .records("")),
      ("/models/records/records", .records("records")), ("/models/é/records", .records("é")),
      ("/models/\u{301}/records", .records("\u{301}")), ("/models/F%20/records", .records("F ")),
      ("/models/Film/records/", .record("Film", [""])), ("/models/Film/records/1", .record("Film", ["1"])),
      ("/models/+/records/a+b", .record("+", ["a+b"])), ("/models/M/records/日本", .record("M", ["日本"])),
      ("/models/M/records/1%2F2", .record("M", ["1/2"])),
      ("/models/M/records/a/b", .record("M", ["a", "b"])),
      ("/models/M/records//", .record("M", ["", ""])), ("/models/%C3%A9/records/1", .record("é", ["1"])),
      ("/models/M/records/%", nil), ("/models/%/records/1", nil), ("/models/M/recordsx", nil),
      ("/models/M/records\u{301}", nil), ("/models/M/records\u{301}/1", nil), ("/models/M/record", nil),
      ("/models/M/x/records", nil), ("/models\u{301}/M/records", nil), ("models/M/records", nil),
      ("/Models/M/records", nil), ("/models/M/count", .count("M")), ("/models/M", .model("M")),
      ("/models/", .model("")), ("/models", .models), ("/models/records", .model("records")),
      ("", nil), ("/", nil),
    ]
    for (text, path) in paths {
      let found = WirePath(text)
      #expect(found == path, "\(text)")
      if let found { #expect(WirePath(found.text) == found) }
    }
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
