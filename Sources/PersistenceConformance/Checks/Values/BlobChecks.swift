import Foundation
import PersistenceCore

/// V2: values with sizes around the page sizes of files and engines.
enum BlobChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "blobs and texts of every size around the page size, up to 1 MiB, keep every byte as they"
        + " grow and shrink", [.v2], sizes),
    ConformanceCheck("each row in a page of large blobs has its own bytes", [.v2, .r3], manyLarge),
    ConformanceCheck(
      "long blobs and texts in an index are found, sorted and distinguished by their last bytes",
      [.v2, .v4a], indexed),
  ]

  private static let sizes: [Int] = {
    let pages = [512, 4096, 16384, 65536]
    return [0, 1, 2] + pages.flatMap { [$0 - 1, $0, $0 + 1] } + [1 << 20]
  }()

  private static func bytes(_ count: Int, seed: UInt64) -> Data {
    var random = SeededGenerator(seed: seed)
    var words = [UInt64](repeating: 0, count: count / 8 + 1)
    for index in words.indices { words[index] = random.next() }
    return words.withUnsafeBytes { Data($0.prefix(count)) }
  }

  @Sendable private static func sizes(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(
      with: sizes.enumerated().map { Blob($0, bytes($1, seed: 80)) })
    try repository.save(
      contentsOf: sizes.enumerated().map {
        Account($0, balance: 0, note: String(repeating: "\u{20AC}", count: $1 / 3))
      })
    func check(_ sizes: [Int], seed: UInt64) throws {
      for (found, (id, size)) in zip(try repository.fetch(Blob.self), sizes.enumerated()) {
        try expect(found.id, equals: id)
        try expect(found.bytes.exactText, equals: bytes(size, seed: seed).exactText, "\(size) bytes")
      }
      try expect(repository.fetch(Blob.self).map(\.bytes.count), equals: sizes)
    }
    try check(sizes, seed: 80)
    for (found, size) in zip(try repository.fetch(Account.self), sizes) {
      let text = String(repeating: "\u{20AC}", count: size / 3)
      try expect(Data(found.note.utf8) == Data(text.utf8), "a text of \(text.utf8.count) bytes")
    }
    try repository.update(contentsOf: sizes.reversed().enumerated().map { Blob($0, bytes($1, seed: 81)) })
    try check(sizes.reversed(), seed: 81)
  }

  @Sendable private static func manyLarge(_ context: ContextUnderTest) throws {
    let count = PersistentResults<Blob>.pageSize + 2
    let repository = try context.makeRepository(
      with: (0..<count).map { Blob($0, bytes(5000 + $0, seed: UInt64($0))) })
    for (id, found) in try repository.fetch(Blob.self).enumerated() {
      try expect(found.bytes.exactText, equals: bytes(5000 + id, seed: UInt64(id)).exactText, "number \(id)")
    }
  }

  @Sendable private static func indexed(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let stems = [0, 1, 255, 400, 509, 510, 511, 512, 513, 1000, 4096].map { Data(repeating: 7, count: $0) }
    let values = stems.flatMap { [$0, $0 + [0], $0 + [0, 0], $0 + [255]] }.sorted { Data.oracle($0, $1) < 0 }
    var different: [Data] = []
    for value in values where different.last != value { different.append(value) }
    try repository.save(
      contentsOf: different.enumerated().reversed().map {
        Sample(id: $0, value: $1, other: Data(), maybe: $1)
      })
    let query = repository.filter(Sample<Data>.self)
    let all = Array(different.indices)
    try expect(query.sorted(by: \.value).ids(), equals: all)
    try expect(query.sorted(by: \.value, inOrder: .descending).ids(), equals: all.reversed())
    try expect(pages(of: 7, query.sorted(by: \.maybe)).map(\.id), equals: all)
    for (place, value) in different.enumerated() {
      let what = "\(value.count) bytes that end in \(value.suffix(2).exactText)"
      try expect(query.filter(where: \.value == value).ids(), equals: [place], what)
      try expect(query.filter(where: \.value < value).count(), equals: place, what)
      try expect(query.filter(where: \.maybe >= value).count(), equals: all.count - place, what)
    }
  }
}
