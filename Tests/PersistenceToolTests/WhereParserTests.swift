import Foundation
import PersistenceDriver
import PersistenceQueryLanguage
import PersistenceTool
import Testing

@Suite("The syntax of --where")
struct WhereParserTests {
  private func node(_ text: String) throws -> PredicateNode {
    try WhereParser.predicate(text, for: Rows.movie.get())
  }

  private func same(_ text: String, _ expected: PredicateNode) throws {
    #expect(try node(text) == expected, "\(text)")
    // A request validates the predicate.
    _ = try FetchRequest(Rows.movie.get(), where: node(text))
  }

  @Test("Parses all comparison operators, values on either side, and fields on both")
  func comparisons() throws {
    try same("title = 'x'", .comparison(field: "title", .equal, .text("x")))
    try same("title == 'x'", .comparison(field: "title", .equal, .text("x")))
    try same("title != 'x'", .comparison(field: "title", .notEqual, .text("x")))
    try same("title<>'x'", .comparison(field: "title", .notEqual, .text("x")))
    try same("budget >= 1e7", .comparison(field: "budget", .greaterOrEqual, .double(1e7)))
    try same("budget<-.5", .comparison(field: "budget", .less, .double(-0.5)))
    try same("5 < year", .comparison(field: "year", .greater, .integer(5)))
    try same("5 >= year", .comparison(field: "year", .lessOrEqual, .integer(5)))
    try same("title = rating", .fieldComparison(left: "title", .equal, right: "rating"))
    try same("id > year", .fieldComparison(left: "id", .greater, right: "year"))
  }

  @Test("not binds tighter than and, and binds tighter than or; parentheses group")
  func precedence() throws {
    let (a, b, c) = (
      PredicateNode.comparison(field: "id", .equal, .integer(1)),
      PredicateNode.comparison(field: "id", .equal, .integer(2)),
      PredicateNode.comparison(field: "id", .equal, .integer(3))
    )
    try same("id = 1 or id = 2 and id = 3", .any([a, .all([b, c])]))
    try same("(id = 1 or id = 2) and id = 3", .all([.any([a, b]), c]))
    try same("NOT id = 1 AND id = 2", .all([.not(a), b]))
    try same("not (id = 1 and id = 2)", .not(.all([a, b])))
    try same("not not id = 1", .not(.not(a)))
    try same("((((id = 1))))", a)
  }

  @Test("Parses in, between, like, is null and their negations, and Boolean constants")
  func tests() throws {
    try same("year in (1, 2,3)", .isIn(field: "year", [.integer(1), .integer(2), .integer(3)]))
    try same("year in ()", .isIn(field: "year", []))
    try same("year not in (1)", .not(.isIn(field: "year", [.integer(1)])))
    try same(
      "title between 'a' and 'b' and seen",
      .all([
        .isBetween(field: "title", lower: .text("a"), upper: .text("b")),
        .comparison(field: "seen", .equal, .bool(true)),
      ]))
    try same(
      "title not between 'a' and 'b'", .not(.isBetween(field: "title", lower: .text("a"), upper: .text("b"))))
    try same("title like 'The %'", .text(field: "title", .like, "The %", isCaseInsensitive: false))
    try same("title not like '_'", .not(.text(field: "title", .like, "_", isCaseInsensitive: false)))
    try same("title is null", .comparison(field: "title", .equal, .null))
    try same("title is not null", .comparison(field: "title", .notEqual, .null))
    try same("seen = true", .comparison(field: "seen", .equal, .bool(true)))
    try same("not seen", .not(.comparison(field: "seen", .equal, .bool(true))))
    try same("true", .constant(true))
    try same("false or seen", .any([.constant(false), .comparison(field: "seen", .equal, .bool(true))]))
  }

  @Test("Functions search for literal text")
  func functions() throws {
    try same("contains(title, '50%')", .text(field: "title", .contains, "50%", isCaseInsensitive: false))
    try same("STARTS( title , 'x')", .text(field: "title", .hasPrefix, "x", isCaseInsensitive: false))
    try same("ends(title,'')", .text(field: "title", .hasSuffix, "", isCaseInsensitive: false))
    try same("matches(title,'^a+$')", .text(field: "title", .matches, "^a+$", isCaseInsensitive: false))
  }

  @Test("Doubled quotation marks stand for one in names and text")
  func quoting() throws {
    try same(
      "\"MPAA \"\"Rating\"\"\" = 'PG-13'", .comparison(field: "MPAA \"Rating\"", .equal, .text("PG-13")))
    try same("title = 'it''s \"x\"'", .comparison(field: "title", .equal, .text("it's \"x\"")))
    try same("title = ''", .comparison(field: "title", .equal, .text("")))
    try same(
      "title = 'a\0\u{1F600}e\u{301}'", .comparison(field: "title", .equal, .text("a\0\u{1F600}e\u{301}")))
  }

  @Test("Values take the field's kind")
  func kinds() throws {
    try same("budget = 1", .comparison(field: "budget", .equal, .double(1)))
    try same("budget = 'NaN'", .comparison(field: "budget", .equal, .double(.nan)))
    try same("budget < 'Infinity'", .comparison(field: "budget", .less, .double(.infinity)))
    try same("score = 0.1", .comparison(field: "score", .equal, .double(Double(Float(0.1)))))
    try same("year = 2e3", .comparison(field: "year", .equal, .integer(2000)))
    try same("id = 9223372036854775807", .comparison(field: "id", .equal, .integer(.max)))
    try same("id = -9223372036854775808", .comparison(field: "id", .equal, .integer(.min)))
    try same(
      "price = 0.10", .comparison(field: "price", .equal, .decimal(Decimal(canonicalText: "0.1") ?? .nan)))
    try same("released = '2001-01-01'", .comparison(field: "released", .equal, .date(0)))
    try same(
      "released > '2001-01-02T01:00:00.5+01:00'", .comparison(field: "released", .greater, .date(86400.5)))
    try same("poster = x'00fF'", .comparison(field: "poster", .equal, .bytes([0, 255])))
    try same(
      "cast = '{ \"b\":1, \"a\":[] }'", .comparison(field: "cast", .equal, .document("{\"a\":[],\"b\":1}")))
    let uuid = UUID()
    try same("uid = '\(uuid.uuidString.lowercased())'", .comparison(field: "uid", .equal, .uuid(uuid)))
  }

  @Test("Compares integer fields with non-integers as exact numbers")
  func fractionsAgainstIntegers() throws {
    try same("year = 1.5", .constant(false))
    try same("year != 1.5", .constant(true))
    try same("year < 1.5", .comparison(field: "year", .lessOrEqual, .integer(1)))
    try same("year <= 1.5", .comparison(field: "year", .lessOrEqual, .integer(1)))
    try same("year > 1.5", .comparison(field: "year", .greaterOrEqual, .integer(2)))
    try same("year > -1.5", .comparison(field: "year", .greaterOrEqual, .integer(-1)))
    try same("year < -1.5", .comparison(field: "year", .lessOrEqual, .integer(-2)))
    try same("id < 1e30", .comparison(field: "id", .notEqual, .null))
    try same("id > 1e30", .constant(false))
    try same("id < -1e30", .constant(false))
    try same("id > 9223372036854775807.5", .constant(false))
    try same("year in (1, 1.5, 1e30)", .isIn(field: "year", [.integer(1)]))
    try same(
      "year between 1.5 and 2.5",
      .all([
        .comparison(field: "year", .greaterOrEqual, .integer(2)),
        .comparison(field: "year", .lessOrEqual, .integer(2)),
      ]))
    try same("id < 1e-999999999999999999999", .comparison(field: "id", .lessOrEqual, .integer(0)))
  }

  @Test(
    "Errors show the position and the correction",
    arguments: [
      ("bugdet > 1", 0, "Movie has no field “bugdet”; its fields are id, title"),
      ("Title = 'x'", 0, "did you mean title?"), ("title = 1", 8, "write a text in single quotes"),
      ("title = \"x\"", 8, "Movie has no field “x”"), ("budget = 'x'", 9, "cannot be compared with text"),
      ("budget > 1e400", 9, "exceeds the range of double"),
      ("score > 1e39", 8, "exceeds the range of float"),
      ("year = true", 7, "write a number"), ("released = 'soon'", 11, "write a date"),
      ("released = '2001-02-29'", 11, "write a date"), ("uid = 'x'", 6, "write a UUID"),
      ("poster = 'x'", 9, "write bytes"), ("poster = x'0'", 9, "two hexadecimal digits"),
      ("poster = x'+1'", 9, "hexadecimal digits"), ("cast = '{'", 7, "JSON"),
      ("cast < '{}'", 0, "has no order"),
      ("title = null", 8, "is null"), ("title in (null)", 10, "is null"), ("title = 'x", 8, "no closing"),
      ("\"title = 1", 0, "no closing"), ("title", 5, "a comparison"), ("title = ", 8, "incomplete"),
      ("", 0, "incomplete"), ("()", 1, "a field is missing"), ("(id = 1", 7, "to close a parenthesis"),
      ("id = 1)", 6, "must end here"), ("id = 1 id = 2", 7, "must end here"),
      ("id = 1 and", 10, "incomplete"),
      ("and", 0, "missing before “and”"), ("id in 1", 6, "after in"), ("id in (1 2)", 9, "to close the list"),
      ("id in (1,)", 9, "a value is missing"), ("id between 1 or 2", 13, "“and” is missing"),
      ("title like 5", 11, "a pattern"), ("title like 'a\\'", 11, "malformed"),
      ("year like 'a'", 0, "not text"),
      ("title is 5", 9, "null is missing"), ("title not 5", 10, "in, between or like"),
      ("upper(title) = 'X'", 0, "unknown function “upper”"), ("contains(title)", 14, "“,” is missing"),
      ("contains(title, 5)", 16, "a text in single quotes"), ("matches(title, '(')", 15, "malformed"),
      ("title = ‘x’", 8, "not a quotation mark"), ("id = 1 && seen", 7, "write and, or, not"),
      ("id = 1;", 6, "not understood"),
      ("5", 1, "a comparison such as"), ("5 = 5", 4, "a field is missing"),
      ("id = 1x", 5, "“1x” is not a number"),
      ("id = 1.2.3", 5, "is not a number"), ("budget = year", 9, "cannot be compared with"),
      ("price = 340282366920938463463374607431768211457", 8, "more digits"),
    ])
  func errors(text: String, position: Int, message: String) throws {
    let error = try #require(throws: WhereError.self) { try node(text) }
    #expect(error.position == position, "\(text): \(error.message)")
    #expect(error.message.contains(message), "\(text): \(error.message)")
  }

  @Test("The caret of an explanation points at the error, also in long conditions")
  func explanations() throws {
    let long =
      String(repeating: "id = 1 and ", count: 50) + "bugdet > 1 and "
      + String(repeating: "id = 2 and ", count: 50) + "seen"
    let error = try #require(throws: WhereError.self) { try node(long) }
    let lines = error.explanation(of: long).split(separator: "\n").suffix(2).map(String.init)
    let mark = try #require(lines[1].firstIndex(of: "^"))
    let column = lines[1].distance(from: lines[1].startIndex, to: mark)
    #expect(lines[0].dropFirst(column).hasPrefix("bugdet"))
    #expect(lines[0].count < 130)
  }

  @Test("Hostile conditions never crash: depth, length, every prefix, random bytes")
  func hostile() throws {
    #expect(throws: WhereError.self) { try node(String(repeating: "(", count: 100_000)) }
    #expect(throws: WhereError.self) { try node(String(repeating: "not ", count: 100_000) + "seen") }
    #expect(throws: WhereError.self) { try node(String(repeating: "x", count: 2 << 20)) }
    let deep = String(repeating: "(", count: 90) + "seen" + String(repeating: ")", count: 90)
    try same(deep, .comparison(field: "seen", .equal, .bool(true)))
    _ = try node("id in (" + (0..<20_000).map(String.init).joined(separator: ",") + ")")
    _ = try node((0..<5_000).map { "id = \($0)" }.joined(separator: " or "))
    let sample =
      "not (\"MPAA \"\"Rating\"\"\" in ('a''b', 'c') or budget between -1e5 and +.5) and x'00' = poster"
    for end in sample.indices { _ = try? node(String(sample[..<end])) }
    var random = SystemRandomNumberGenerator()
    let pieces = [
      "id", "=", "(", ")", "'", "\"", "and", "or", "not", "in", "1e", ".", "-", "null", "x'", "\0", "é", ",",
      "like", " ",
    ]
    for _ in 0..<5_000 {
      let text = (0..<Int.random(in: 1...20, using: &random)).map { _ in
        pieces.randomElement(using: &random) ?? ""
      }.joined()
      do {
        _ = try FetchRequest(Rows.movie.get(), where: node(text))
      } catch let error as WhereError {
        #expect(error.position <= text.unicodeScalars.count)
        _ = error.explanation(of: text)
      }
    }
  }
}
