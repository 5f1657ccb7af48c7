import Foundation
import Persistence

// The models and listings of the guide "Relating models".

@Persistent
struct Artist: Hashable {
  var id: Int
  var name: String
}

@Persistent
struct Album: Hashable {
  var id: Int
  var title: String
  @OnDelete(.cascade) var artist: Reference<Artist>
  @OnDelete(.setNil) var label: Reference<Label>?
}

@Persistent
struct Track: Hashable {
  var id: Int
  var title: String
  var seconds: Int
  @OnDelete(.cascade) var album: Reference<Album>
}

@Persistent
struct Label: Hashable {
  var id: Int
  var name: String
}

@Persistent
struct PlaylistEntry: Hashable {
  @ID @OnDelete(.cascade) var playlist: Reference<Playlist>
  @ID @OnDelete(.cascade) var track: Reference<Track>
  var position: Int
}

@Persistent
struct Playlist: Hashable {
  var id: UUID
  var name: String
}

enum Music {
  /// A few records of each model.
  static func fill(_ repository: Repository) throws {
    try repository.transaction { store in
      try store.save(contentsOf: [Artist(id: 1, name: "Nina"), Artist(id: 2, name: "Bill")])
      try store.save(contentsOf: [Label(id: 1, name: "Riverside"), Label(id: 2, name: "Verve")])
      try store.save(contentsOf: [
        Album(id: 1, title: "Pastel Blues", artist: Reference(1), label: Reference(2)),
        Album(id: 2, title: "Waltz", artist: Reference(2), label: Reference(1)),
        Album(id: 3, title: "Wild", artist: Reference(1), label: nil),
      ])
      try store.save(contentsOf: [
        Track(id: 1, title: "Sinnerman", seconds: 622, album: Reference(1)),
        Track(id: 2, title: "Strange Fruit", seconds: 210, album: Reference(1)),
        Track(id: 3, title: "My Foolish Heart", seconds: 300, album: Reference(2)),
      ])
    }
  }

  static func saving(_ repository: Repository) throws -> Artist? {
    let artist = Artist(id: 3, name: "Ella")
    try repository.transaction { store in
      try store.save(Album(id: 4, title: "Sings", artist: artist.reference, label: nil))
      try store.save(artist)
    }
    let album = try repository.find(Album.self, id: 4)
    return try repository.find(album?.artist)
  }

  static func broken(_ repository: Repository) -> PersistenceError? {
    do {
      try repository.save(Album(id: 5, title: "Lost", artist: Reference(99), label: nil))
      return nil
    } catch let error as PersistenceError where error.code == .brokenReference {
      return error
    } catch {
      return nil
    }
  }

  static func asking(_ repository: Repository) throws -> [[Int]] {
    let ofNina = try repository.filter(Album.self, where: .has(\.artist, \.name == "Nina")).result()
    let long = try repository.filter(
      Artist.self, where: .hasAny(\Album.artist, where: .hasAny(\Track.album, where: \.seconds > 600))
    ).result()
    let empty = try repository.filter(Album.self, where: !.hasAny(\Track.album)).result()
    let sorted = try repository.filter(Album.self).sorted(by: \.artist, \.name).sorted(by: \.title).result()
    return [ofNina.map(\.id), long.map(\.id), empty.map(\.id), sorted.map(\.id)]
  }

  static func onePerRow(_ repository: Repository) throws -> [String] {
    var lines: [String] = []
    for album in try repository.filter(Album.self).result() {
      let artist = try repository.find(album.artist)  // one request for each album
      lines.append("\(album.title) by \(artist?.name ?? "nobody")")
    }
    return lines
  }

  static func including(_ repository: Repository) throws -> [String] {
    var lines: [String] = []
    for (album, artist, label) in try repository.filter(Album.self).including(\.artist, \.label).result() {
      lines.append("\(album.title) by \(artist.name), \(label?.name ?? "no label")")
    }
    return lines
  }

  static func discography(_ repository: Repository) throws -> [String] {
    let artists = try repository.filter(Artist.self).sorted(by: \.name)
      .including(all: \Album.artist, sorted: SortCriterion(\.title)) { $0.including(all: \Track.album) }
      .including(count: \Album.artist, where: \.label == nil)
      .result()
    return artists.map { artist, albums, unsigned in
      "\(artist.name): "
        + albums.map { album, tracks in "\(album.title) (\(tracks.count))" }.joined(separator: ", ")
        + ", \(unsigned) without a label"
    }
  }

  static func labels(_ repository: Repository) throws -> [String] {
    let tracks = try repository.filter(Track.self)
      .including(\.album) { $0.including(\.artist, \.label) }
      .result()
    return tracks.map { track, album in "\(track.title): \(album.1.name), \(album.2?.name ?? "no label")" }
  }
}
