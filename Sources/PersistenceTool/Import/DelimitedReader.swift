/// Reads CSV (RFC 4180), record by record.
///
/// An empty field without quotation marks is null; one with quotation marks is the empty text. Lines end with
/// CRLF or LF. Quotation marks inside an unquoted field are literal.
struct DelimitedReader {
  struct Field: Equatable {
    /// The text, without its quotation marks.
    let text: String
    let isQuoted: Bool
  }

  struct Record {
    /// The first line of the record, from 1.
    let line: Int
    /// The fields, or the reason that they cannot be read.
    let fields: Result<[Field], RecordRejection>
  }

  /// A quotation mark that is never closed, so that the end of the record is unknown.
  struct OpenQuotation: Error, Equatable {
    /// The line of the quotation mark.
    let line: Int
  }

  private static let quote = UInt8(ascii: "\"")
  private static let lineFeed: UInt8 = 0x0A
  private static let carriageReturn: UInt8 = 0x0D

  private let bytes: UnsafeRawBufferPointer
  private let separator: UInt8
  private var position: Int
  private var line = 1

  /// Makes a reader of UTF-8 text, which must stay valid while the reader is used.
  init(_ bytes: UnsafeRawBufferPointer, separator: UInt8 = UInt8(ascii: ",")) {
    self.bytes = bytes
    self.separator = separator
    position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  /// The next record; nil at the end.
  mutating func next() throws(OpenQuotation) -> Record? {
    guard position < bytes.count else { return nil }
    let start = line
    var fields: [Field] = []
    var rejection: RecordRejection?
    while true {
      do {
        fields.append(try field())
      } catch {
        switch error {
        case .open(let line): throw OpenQuotation(line: line)
        case .malformed(let reason):
          rejection = rejection ?? RecordRejection(reason: "field \(fields.count + 1): \(reason)")
          fields.append(Field(text: "", isQuoted: false))
          skipField()
        }
      }
      guard position < bytes.count, bytes[position] == separator else { break }
      position += 1
    }
    skipLineEnd()
    return Record(line: start, fields: rejection.map { .failure($0) } ?? .success(fields))
  }

  private enum FieldError: Error {
    case open(line: Int)
    case malformed(String)
  }

  private func isLineEnd(_ position: Int) -> Bool {
    guard position < bytes.count else { return true }
    if bytes[position] == Self.lineFeed { return true }
    return bytes[position] == Self.carriageReturn
      && (position + 1 == bytes.count || bytes[position + 1] == Self.lineFeed)
  }

  private mutating func skipLineEnd() {
    guard position < bytes.count else { return }
    if bytes[position] == Self.carriageReturn { position += 1 }
    if position < bytes.count, bytes[position] == Self.lineFeed { position += 1 }
    line += 1
  }

  private mutating func skipField() {
    while position < bytes.count, bytes[position] != separator, !isLineEnd(position) { position += 1 }
  }

  private mutating func field() throws(FieldError) -> Field {
    guard position < bytes.count, bytes[position] == Self.quote else {
      let start = position
      skipField()
      return Field(text: try text(bytes[start..<position]), isQuoted: false)
    }
    let openingLine = line
    position += 1
    var content: [UInt8] = []
    while true {
      guard position < bytes.count else { throw .open(line: openingLine) }
      let byte = bytes[position]
      position += 1
      if byte == Self.quote {
        guard position < bytes.count, bytes[position] == Self.quote else { break }
        position += 1
      } else if byte == Self.lineFeed {
        line += 1
      }
      content.append(byte)
    }
    guard position == bytes.count || bytes[position] == separator || isLineEnd(position) else {
      throw .malformed("text follows the closing quotation mark")
    }
    return Field(text: try text(content), isQuoted: true)
  }

  private func text(_ content: some Sequence<UInt8>) throws(FieldError) -> String {
    guard let text = String(validating: content, as: UTF8.self) else {
      throw .malformed("it is not valid UTF-8")
    }
    return text
  }
}
