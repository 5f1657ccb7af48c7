/// A part of a `like` pattern without `%`: alternating literal bytes and single-scalar wildcards.
struct LikeRun: Sendable {
  enum Piece: Sendable, Equatable {
    case bytes([UInt8])
    case anyScalars(Int)
  }

  private(set) var pieces: [Piece] = []

  init() {}

  init(_ pieces: some Sequence<Piece>) { self.pieces = Array(pieces) }

  var isEmpty: Bool { pieces.isEmpty }

  var hasWildcard: Bool {
    pieces.contains { if case .anyScalars = $0 { true } else { false } }
  }

  /// The literal bytes that the run begins with.
  var leadingBytes: [UInt8] {
    if case .bytes(let bytes) = pieces.first { bytes } else { [] }
  }

  mutating func append(_ bytes: some Sequence<UInt8>) {
    if case .bytes(var collected) = pieces.last {
      pieces.removeLast()
      collected.append(contentsOf: bytes)
      pieces.append(.bytes(collected))
    } else {
      pieces.append(.bytes(Array(bytes)))
    }
  }

  mutating func appendWildcard() {
    if case .anyScalars(let count) = pieces.last {
      pieces[pieces.count - 1] = .anyScalars(count + 1)
    } else {
      pieces.append(.anyScalars(1))
    }
  }

  /// The runs around and between a pattern's `%`.
  static func parse(_ pattern: String, caseInsensitive: Bool) throws -> [LikeRun] {
    var runs = [LikeRun()]
    var current = LikeRun()
    var literal: [UInt8] = []
    func takeLiteral() {
      guard !literal.isEmpty else { return }
      if caseInsensitive {
        var folded: [UInt8] = []
        literal.withUnsafeBufferPointer { CaseFolding.appendLowercased($0, to: &folded) }
        current.append(folded)
      } else {
        current.append(literal)
      }
      literal.removeAll(keepingCapacity: true)
    }
    var escapeAt: Int?
    var position = 0
    for scalar in pattern.unicodeScalars {
      if escapeAt == nil, scalar == "\\" {
        escapeAt = position
      } else if escapeAt == nil, scalar == "%" {
        takeLiteral()
        runs[runs.count - 1] = current
        runs.append(LikeRun())
        current = LikeRun()
      } else if escapeAt == nil, scalar == "_" {
        takeLiteral()
        current.appendWildcard()
      } else {
        escapeAt = nil
        literal.append(contentsOf: UTF8.encode(scalar) ?? .init())
      }
      position += 1
    }
    if let escapeAt {
      throw TextPatternError(
        reason: "the pattern ends in a lone '\\'; write '\\\\' for a backslash", position: escapeAt)
    }
    takeLiteral()
    runs[runs.count - 1] = current
    return runs
  }

  /// The index after the run if it matches at `start`.
  func end(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    var index = start
    for piece in pieces {
      switch piece {
      case .bytes(let bytes):
        guard let base = text.baseAddress, Self.holds(bytes, at: base + index, room: text.count - index)
        else { return nil }
        index += bytes.count
      case .anyScalars(let count):
        guard let next = Self.skip(count, in: text, from: index, to: text.count) else { return nil }
        index = next
      }
    }
    return index
  }

  /// The index of the run if it matches before `end` and begins at or after `limit`.
  func start(in text: UnsafeBufferPointer<UInt8>, before end: Int, notBefore limit: Int) -> Int? {
    var index = end
    for piece in pieces.reversed() {
      guard let base = text.baseAddress else { return nil }
      switch piece {
      case .bytes(let bytes):
        index -= bytes.count
        guard index >= limit, Self.holds(bytes, at: base + index, room: end - index) else { return nil }
      case .anyScalars(let count):
        for _ in 0..<count {
          guard index > limit else { return nil }
          index = ScalarCoding.index(before: index, in: base, start: limit)
        }
      }
    }
    return index
  }

  /// The index after `count` scalars, or nil if the text ends before.
  static func skip(_ count: Int, in text: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> Int? {
    var index = start
    for _ in 0..<count {
      guard index < end, let base = text.baseAddress else { return nil }
      index = ScalarCoding.index(after: index, in: base, end: end)
    }
    return index
  }

  private static func holds(_ bytes: [UInt8], at place: UnsafePointer<UInt8>, room: Int) -> Bool {
    guard room >= bytes.count else { return false }
    return bytes.withUnsafeBufferPointer { bytes in
      guard let wanted = bytes.baseAddress else { return true }
      return ByteSearch.areEqual(place, wanted, count: bytes.count)
    }
  }
}
