import Foundation
import PersistenceDriver

/// A spelling of a value as JSON, and what each profile makes of it.
struct ValueForm {
  let kind: FieldKind
  let json: String
  /// The value that programs may send so; nil if it is rejected.
  let strict: PersistentValue?
  /// The value that people may write so; nil if it is rejected.
  let lenient: PersistentValue?
  /// The value that import makes of it, which also converts to text.
  let imported: PersistentValue?

  private static func both(_ kind: FieldKind, _ json: String, _ value: PersistentValue) -> ValueForm {
    ValueForm(kind: kind, json: json, strict: value, lenient: value, imported: value)
  }

  private static func lenient(_ kind: FieldKind, _ json: String, _ value: PersistentValue) -> ValueForm {
    ValueForm(kind: kind, json: json, strict: nil, lenient: value, imported: value)
  }

  private static func neither(_ kind: FieldKind, _ json: String, imported: PersistentValue? = nil)
    -> ValueForm
  {
    ValueForm(kind: kind, json: json, strict: nil, lenient: nil, imported: imported)
  }

  static let all = integers + numbers + dates + others

  private static let integers = FieldKind.allCases.filter(\.isInteger).flatMap { kind -> [ValueForm] in
    let range = kind.integerRange ?? 0...0
    return [
      both(kind, "12", .integer(12)), both(kind, "0", .integer(0)),
      both(kind, "\(range.lowerBound)", .integer(range.lowerBound)),
      both(kind, "\(range.upperBound)", .integer(range.upperBound)),
      both(kind, "12.0", .integer(12)), both(kind, "1.2e1", .integer(12)),
      lenient(kind, "\"12\"", .integer(12)), both(kind, "-0", .integer(0)),
    ]
      + [
        "1.5", "\"1.5\"", "1e-1", "1e400", "true", "\"NaN\"", "\"\"", "\" 12\"", "\"0x10\"", "[12]", "{}",
        "\(Decimal(range.lowerBound) - 1)", "\(Decimal(range.upperBound) + 1)",
      ].map { neither(kind, $0) }
  }

  private static let numbers: [ValueForm] = {
    let decimal = Decimal(string: "12345678901234567890.12345") ?? .nan
    let tooLong = "1." + String(repeating: "0", count: 40) + "1"
    return [
      both(.double, "5", .double(5)), both(.double, "5.0", .double(5)), both(.double, "0.1", .double(0.1)),
      both(.double, "-1e300", .double(-1e300)), both(.double, "5e-324", .double(.leastNonzeroMagnitude)),
      both(.double, "0e-400", .double(0)), both(.double, "\"NaN\"", .double(.nan)),
      both(.double, "\"Infinity\"", .double(.infinity)), both(.double, "\"-Infinity\"", .double(-.infinity)),
      lenient(.double, "\"1.5\"", .double(1.5)), lenient(.double, "\"1e3\"", .double(1000)),
      both(.float, "0.1", .double(Double(Float(0.1)))), both(.float, "\"NaN\"", .double(.nan)),
      lenient(.float, "\"0.1\"", .double(Double(Float(0.1)))), neither(.float, "1e39"),
      neither(.float, "1e-60"),
      both(.decimal, "12345678901234567890.12345", .decimal(decimal)), both(.decimal, "1.50", .decimal(1.5)),
      both(.decimal, "1e3", .decimal(1000)), both(.decimal, "\"NaN\"", .decimal(.nan)),
      both(.decimal, "340282366920938463463374607431768211455", .decimal(greatestMantissa)),
      lenient(.decimal, "\"1.50\"", .decimal(1.5)), neither(.decimal, "\"Infinity\""),
      neither(.decimal, "340282366920938463463374607431768211457"), neither(.decimal, "1e200"),
      neither(.decimal, tooLong), neither(.decimal, "\"1,5\""), neither(.decimal, "true"),
    ]
      + ["1e400", "1e-400", "\"nan\"", "\"inf\"", "\"0x10\"", "\"1,5\"", "\"\"", "true", "[]"].map {
        neither(.double, $0)
      }
  }()

  private static let greatestMantissa =
    Decimal(string: "340282366920938463463374607431768211455") ?? .nan

  private static let dates: [ValueForm] = {
    let day = 300_931_200.0
    return [
      both(.date, "\"2010-07-16T00:00:00Z\"", .date(day)),
      both(.date, "\"2010-07-16T00:00:00.5Z\"", .date(day + 0.5)),
      both(.date, "\"2010-07-16T00:00:00.500Z\"", .date(day + 0.5)),
      both(.date, "\"2000-12-31T23:59:59.75Z\"", .date(-0.25)), both(.date, "\"@1e+300\"", .date(1e300)),
      both(.date, "\"@nan\"", .date(.nan)), both(.date, "\"@-inf\"", .date(-.infinity)),
      both(.date, "\"2010-07-16\"", .date(day)), both(.date, "\"2000-02-29\"", .date(-26_524_800)),
      both(.date, "\"2010-07-16T10:00\"", .date(day + 36_000)),
      both(.date, "\"2010-07-16 10:00:00\"", .date(day + 36_000)),
      both(.date, "\"2010-07-16t10:00:00z\"", .date(day + 36_000)),
      both(.date, "\"2010-07-16T10:00:00+02:00\"", .date(day + 28_800)),
      both(.date, "\"2010-07-16T10:00:00.25-0200\"", .date(day + 43_200.25)),
    ]
      + [
        "\"16.07.2010\"", "\"2010-7-16\"", "\"2010-02-30\"", "\"2010-02-30T00:00:00Z\"",
        "\"2010-07-16T24:00:00Z\"",
        "\"2010-07-16T00:60:00Z\"", "\"2010-07-16T00:00:00.Z\"", "\"2010-07-16Z\"", "\"2010\"", "\"today\"",
        "\"\"",
        "\"@x\"", "\"@1e-400\"", "\"0000-01-01T00:00:00Z\"", "5", "300931200", "true",
      ].map { neither(.date, $0) }
  }()

  private static let others: [ValueForm] = {
    let uuid = UUID(
      uuid: (0x6F, 0x96, 0x19, 0xFF, 0x8B, 0x86, 0xD0, 0x11, 0xB4, 0x2D, 0, 0xC0, 0x4F, 0xC9, 0x64, 0xFF))
    return [
      both(.bool, "true", .bool(true)), both(.bool, "false", .bool(false)),
      lenient(.bool, "\"true\"", .bool(true)), lenient(.bool, "\"false\"", .bool(false)),
      neither(.bool, "1"), neither(.bool, "0"), neither(.bool, "\"1\""), neither(.bool, "\"yes\""),
      neither(.bool, "\"TRUE\""), neither(.bool, "\"\""),
      both(.string, "\"\"", .text("")), both(.string, "\"e\\u0301\"", .text("e\u{301}")),
      both(.string, "\"12\"", .text("12")), neither(.string, "12", imported: .text("12")),
      neither(.string, "1.50", imported: .text("1.50")), neither(.string, "true", imported: .text("true")),
      neither(.string, "[1, 2]", imported: .text("[1,2]")),
      both(.url, "\"https://swift.org\"", .text("https://swift.org")),
      both(.url, "\"x/y\"", .text("x/y")), neither(.url, "true"), neither(.url, "[]"),
      both(.data, "\"\"", .bytes([])), both(.data, "\"AQL/\"", .bytes([1, 2, 255])),
      both(.data, "\"AQI=\"", .bytes([1, 2])),
      neither(.data, "\"AQI\""), neither(.data, "\"AQJ=\""), neither(.data, "\"***\""), neither(.data, "5"),
      both(.uuid, "\"6F9619FF-8B86-D011-B42D-00C04FC964FF\"", .uuid(uuid)),
      both(.uuid, "\"6f9619ff-8b86-d011-b42d-00c04fc964ff\"", .uuid(uuid)),
      neither(.uuid, "\"6F9619FF8B86D011B42D00C04FC964FF\""),
      neither(.uuid, "\"{6F9619FF-8B86-D011-B42D-00C04FC964FF}\""),
      neither(.uuid, "\"x\""), neither(.uuid, "5"),
      both(.document, "5", .document("5")), both(.document, "\"x\"", .document("\"x\"")),
      both(.document, "{\"b\": 1.50, \"a\": [true]}", .document("{\"a\":[true],\"b\":1.50}")),
      both(.document, "{\"$json\": null}", .document("null")),
      both(.document, "{\"$json\": {\"$json\": 1}}", .document("{\"$json\":1}")),
    ]
  }()
}
