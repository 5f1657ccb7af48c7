import DataAccess
import Foundation
import PersistenceCore
import Testing

@Suite("Mapping of domain values to entities")
struct MapperTests {
  private func problems(
    _ fields: [DomainField<Film>], _ rules: [MappingRule<Film, StoredFilm>]
  ) throws -> String {
    let error = #expect(throws: PersistenceError.self) {
      _ = try Mapper<Film, StoredFilm>(blank: Film(), fields: fields, rules: rules)
    }
    #expect(error?.code == .invalidSchema)
    return error?.message ?? ""
  }

  @Test("fields of the same name and type are copied, and rules map the others, in both directions")
  func roundTrip() throws {
    let mapper = try Film.mapper()
    var film = Film(title: "Ein Film", length: FilmLength(minutes: 99), tags: ["a", "b"], year: nil)
    film.isSelected = true
    let entity = try mapper.entity(of: film)
    #expect(entity.title == "Ein Film" && entity.minutes == 99 && entity.tags == ["a", "b"])
    #expect(entity.year == nil && entity.id == film.id && entity.searchText == "ein film")
    film.isSelected = false
    #expect(try mapper.domain(of: entity) == film)
    film.year = 1979
    #expect(try mapper.domain(of: mapper.entity(of: film)) == film)
  }

  @Test("one error lists all unmapped fields of both sides")
  func leftOver() throws {
    let message = try problems([.field("id", \.id), .field("year", \.year), .value("length", \.length)], [])
    for text in [
      "“length” of Film has no unmapped field", "“title” of Film is not listed",
      "“isSelected” of Film is not listed",
      "“tags” of Film is not listed", "“title” of StoredFilm has no unmapped property",
      "“minutes” of StoredFilm has no unmapped property",
      "“searchText” of StoredFilm has no unmapped property",
    ] {
      #expect(message.contains(text), "\(text) in \(message)")
    }
    #expect(!message.contains("“id”") && !message.contains("“year”"))
  }

  @Test("fields of the same name and different types do not match, and the error names both types")
  func types() throws {
    var fields = Film.fields.filter { $0.name != "title" }
    fields.append(.field("title", \.year))
    let message = try problems(fields, Film.rules)
    #expect(
      message.contains("“title” of Film is Optional<Int> in Film and String in StoredFilm"), "\(message)")
  }

  @Test("a rule for an unknown field, or a second rule for a field, is an error")
  func rules() throws {
    let twice = try problems(
      Film.fields, Film.rules + [.leaveOut(\.isSelected), .fill(\.searchText, from: \.title)])
    #expect(twice.contains("two rules map “isSelected”"))
    #expect(twice.contains("two rules map “searchText”"))
    let unlisted = try problems(Film.fields.filter { $0.name != "isSelected" }, Film.rules)
    #expect(unlisted.contains("not listed among the fields of Film"))
    let computed = try problems(Film.fields, Film.rules + [.fill(\.primaryKey, from: \.id)])
    #expect(computed.contains("which is not a stored field"))
    let listed = try problems(Film.fields + [.field("id", \.id)], Film.rules)
    #expect(listed.contains("“id” of Film is listed twice"))
  }

  @Test("a rule can rename a property, or derive one that only the domain has")
  func renaming() throws {
    let rules: [MappingRule<Film, StoredFilm>] = [
      .rename(\.title, \.searchText), .fill(\.title, from: { $0.title.uppercased() }),
      .convert(\.length, \.minutes, toEntity: { $0.minutes }, toDomain: { FilmLength(minutes: $0) }),
      .derive(\.isSelected, from: { $0.minutes > 100 }),
    ]
    let mapper = try Mapper<Film, StoredFilm>(blank: Film(), fields: Film.fields, rules: rules)
    let film = Film(title: "x", length: FilmLength(minutes: 120))
    let entity = try mapper.entity(of: film)
    #expect(entity.searchText == "x" && entity.title == "X")
    let back = try mapper.domain(of: entity)
    #expect(back.isSelected && back.title == "x")
  }
}
