import Foundation
import PersistenceDriver
import Testing

@testable import PersistenceTool
import PersistenceDriverSupport

/// The real movies data with its real defects, if the file exists.
@Suite("The movies data across all engines")
struct MoviesTests {
  /// `../shared/data/movies/movies.json`, relative to the package.
  private static let file = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("shared/data/movies/movies.json").path

  private static let isThere = {
    let isThere = FileManager.default.fileExists(atPath: file)
    if !isThere { print("The movies data is not at \(file): its tests are skipped.") }
    return isThere
  }()

  /// SQLite → LMDB → JSON → SQLite, as far as the package's traits enable them.
  private static let path = ["sqlite", "lmdb", "json", "sqlite"].filter(
    ToolEngines.ofFiles.map(\.scheme).contains)

  private static let condition = "\"MPAA Rating\" = 'PG-13' and \"Production Budget\" >= 100000000"

  @Test(
    "Import and migration through all engines and back change nothing; each engine answers a query alike",
    .enabled(if: isThere && path.count > 1))
  func roundTrip() throws {
    let folder = try TemporaryFolder()
    let tool = ToolHarness()
    let urls = Self.path.enumerated().map { "\($1):\(folder("\($0)-\($1)"))" }
    let imported = tool("import", Self.file, urls[0], "--model", "Movie", "--key", "generate")
    #expect(imported.code == 0, "\(imported)")
    #expect(imported.output.contains("3201 records read, 3201 stored as Movie, 0 rejected"))
    #expect(imported.output.contains("number to text: 9"))
    for (source, destination) in zip(urls, urls.dropFirst()) {
      let run = tool("migrate", source, destination)
      #expect(run.code == 0, "\(source) to \(destination): \(run)")
      #expect(run.output.contains("3201 records of 1 model copied, verified by digest"))
    }
    let verified = tool("verify", urls[0], urls[urls.count - 1])
    #expect(verified.code == 0, "\(verified)")
    let answers = urls.map {
      tool("query", $0, "Movie", "--where", Self.condition, "--sort", "Title", "--format", "json")
    }
    for answer in answers {
      #expect(answer.code == 0)
      #expect(answer.output == answers[0].output)
    }
    #expect(answers[0].output.split(separator: "\n").count - 2 == Self.expected)
  }

  @Test("Import infers the kinds of the movies", .enabled(if: isThere))
  func inference() throws {
    let store = MemoryContext()
    let tool = ToolHarness.holding(store)
    #expect(tool("import", Self.file, "held:", "--model", "Movie", "--key", "generate").code == 0)
    let schema = try store.schema(of: "Movie", in: "")
    #expect(
      schema.fields.map(\.description) == [
        "id: int64", "Title: string?", "US Gross: int64?", "Worldwide Gross: int64?", "US DVD Sales: int64?",
        "Production Budget: int64?",
        "Release Date: string", "MPAA Rating: string?", "Running Time min: int64?", "Distributor: string?",
        "Source: string?",
        "Major Genre: string?", "Creative Type: string?", "Director: string?",
        "Rotten Tomatoes Rating: int64?", "IMDB Rating: double?",
        "IMDB Votes: int64?",
      ])
    let query = tool(
      "query", "held:", "Movie", "--where", "Title in ('1776', '300', '1941')", "--sort", "Title", "--fields",
      "Title,\"Release Date\"", "--format", "csv")
    #expect(query.output.hasPrefix("Title,\"Release Date\"\r\n1776,"))
    // Computed from the file with Foundation, independently of the tested code.
    let data = try Data(contentsOf: URL(fileURLWithPath: Self.file))
    let records = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    let expected = records.filter {
      ($0["MPAA Rating"] as? String) == "PG-13" && ($0["Production Budget"] as? Int ?? 0) >= 100_000_000
    }
    #expect(expected.count == Self.expected)
    let found = tool(
      "query", "held:", "Movie", "--where", Self.condition, "--fields", "id", "--format", "csv")
    let positions = records.indices.filter { index in
      (records[index]["MPAA Rating"] as? String) == "PG-13"
        && (records[index]["Production Budget"] as? Int ?? 0) >= 100_000_000
    }
    #expect(found.output == "id\r\n" + positions.map { "\($0 + 1)\r\n" }.joined())
  }

  private static let expected = 89
}
