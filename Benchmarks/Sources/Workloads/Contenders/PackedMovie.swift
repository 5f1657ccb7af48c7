import Foundation

/// A compact encoding of a movie, read in place: the values of the raw LMDB contender.
///
/// ```
/// 0 id · 8 uuid · 24 budget · 32 gross · 40 releasedAt · 48 votes
/// 56 whether there is a gross · 57 rating · 58, 60, 62 the lengths of title, genre, overview · 64… their bytes
/// ```
struct PackedMovie {
  let base: UnsafeRawPointer

  init(_ base: UnsafeMutableRawPointer) { self.base = UnsafeRawPointer(base) }

  static func length(of movie: borrowing Movie) -> Int {
    64 + movie.title.utf8.count + movie.genre.utf8.count + movie.overview.utf8.count
  }

  @inline(__always) var votes: Int { load(48, as: Int.self) }

  /// The bytes of the title, which is the sort key.
  @inline(__always) var title: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + 64, count: Int(load(58, as: UInt16.self)))
  }

  /// Returns a copy as a movie.
  @inline(__always)
  func movie() -> Movie {
    let (title, genre) = (title, UnsafeRawBufferPointer(start: base + 64 + title.count, count: length(60)))
    let overview = UnsafeRawBufferPointer(
      start: base + 64 + title.count + genre.count, count: length(62))
    return Movie(
      id: load(0, as: Int64.self), uuid: UUID(uuid: load(8, as: uuid_t.self)),
      title: String(decoding: title, as: UTF8.self), genre: String(decoding: genre, as: UTF8.self),
      budget: load(24, as: Double.self),
      gross: load(56, as: UInt8.self) == 0 ? nil : load(32, as: Double.self),
      rating: Self.ratings[Int(load(57, as: UInt8.self))],
      releasedAt: Date(timeIntervalSinceReferenceDate: load(40, as: Double.self)), votes: votes,
      overview: String(decoding: overview, as: UTF8.self))
  }

  /// Packs a movie into ``length(of:)`` bytes.
  @inline(__always)
  static func pack(_ movie: borrowing Movie, into base: UnsafeMutableRawPointer) {
    base.storeBytes(of: movie.id, as: Int64.self)
    base.storeBytes(of: movie.uuid.uuid, toByteOffset: 8, as: uuid_t.self)
    base.storeBytes(of: movie.budget, toByteOffset: 24, as: Double.self)
    base.storeBytes(of: movie.gross ?? 0, toByteOffset: 32, as: Double.self)
    base.storeBytes(of: movie.releasedAt.timeIntervalSinceReferenceDate, toByteOffset: 40, as: Double.self)
    base.storeBytes(of: movie.votes, toByteOffset: 48, as: Int.self)
    base.storeBytes(of: movie.gross == nil ? 0 : 1, toByteOffset: 56, as: UInt8.self)
    let rating = ratings.firstIndex(of: movie.rating) ?? 0
    base.storeBytes(of: UInt8(rating), toByteOffset: 57, as: UInt8.self)
    var place = base + 64
    func put(_ text: String, lengthAt offset: Int) {
      var text = text
      text.withUTF8 { bytes in
        base.storeBytes(of: UInt16(bytes.count), toByteOffset: offset, as: UInt16.self)
        if let start = bytes.baseAddress { place.copyMemory(from: start, byteCount: bytes.count) }
        place += bytes.count
      }
    }
    put(movie.title, lengthAt: 58)
    put(movie.genre, lengthAt: 60)
    put(movie.overview, lengthAt: 62)
  }

  static let ratings: [Rating] = [.g, .pg, .pg13, .r, .nc17]

  @inline(__always)
  func load<Value: BitwiseCopyable>(_ offset: Int, as type: Value.Type) -> Value {
    base.loadUnaligned(fromByteOffset: offset, as: type)
  }

  @inline(__always)
  private func length(_ offset: Int) -> Int { Int(load(offset, as: UInt16.self)) }
}
