import Foundation
import Persistence
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite
import Testing

@Suite("Guide: Relating models")
struct MusicTests {
  @Test("each listing is part of a file that is compiled")
  func listings() throws {
    try GuideListings.expect(in: "RelatingModels.md", partsOf: ["Music.swift"], atLeast: 7)
  }

  @Test(
    "L1 L2 L5 L6 L7 the listings do what the guide says", arguments: ["memory", "sqlite", "lmdb", "json"])
  func listings(engine: String) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("music-\(UUID())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let url = engine == "memory" ? "memory:" : "\(engine):\(folder)/music"
    let repository = try Repository(opening: url, engines: [.sqlite, .lmdb, .json])
    try Music.fill(repository)
    #expect(try Music.saving(repository)?.name == "Ella")
    let error = try #require(Music.broken(repository))
    #expect(error.model == "Album" && error.field == "artist" && error.message.contains("Artist 99"))
    try repository.delete(Artist.self, id: 3)
    #expect(try repository.find(Album.self, id: 4) == nil)
    #expect(try Music.asking(repository) == [[1, 3], [1], [3], [2, 1, 3]])
    #expect(try Music.onePerRow(repository) == ["Pastel Blues by Nina", "Waltz by Bill", "Wild by Nina"])
    #expect(
      try Music.including(repository) == [
        "Pastel Blues by Nina, Verve", "Waltz by Bill, Riverside", "Wild by Nina, no label",
      ])
    #expect(
      try Music.discography(repository) == [
        "Bill: Waltz (1), 0 without a label", "Nina: Pastel Blues (2), Wild (0), 1 without a label",
      ])
    #expect(
      try Music.labels(repository) == [
        "Sinnerman: Nina, Verve", "Strange Fruit: Nina, Verve", "My Foolish Heart: Bill, Riverside",
      ])
    try repository.delete(Label.self, id: 2)
    #expect(try repository.find(Album.self, id: 1)?.label == nil)
    let playlist = Playlist(id: UUID(), name: "Late")
    try repository.save(playlist)
    try repository.save(PlaylistEntry(playlist: playlist.reference, track: Reference(3), position: 1))
    try repository.delete(Artist.self, id: 2)
    #expect(try repository.count(PlaylistEntry.self) == 0)
    #expect(try repository.count(Track.self) == 2)
    try repository.close()
  }
}
