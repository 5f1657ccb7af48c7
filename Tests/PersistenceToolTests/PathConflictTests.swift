import Foundation
import PersistenceDriver
import PersistenceTool
import Testing

@Suite("Conflicts between input and output paths")
struct PathConflictTests {
  private let folder: TemporaryFolder
  private let tool = ToolHarness()
  private let input: String

  init() throws {
    folder = try TemporaryFolder()
    input = try folder.file("m.csv", "id,n\n1,2\n2,3\n")
  }

  private func makeStore(_ url: String) {
    let run = tool("import", input, url, "--model", "M", "--key", "id")
    #expect(run.code == 0, "\(run)")
  }

  /// Expects that a command is refused, and that no file changes or appears.
  private func expectRefused(_ arguments: [String], for reason: String, keeping urls: [String]) throws {
    let before = folder.names
    let run = tool.run(arguments)
    #expect(run.code == 3, "\(arguments): \(run)")
    #expect(run.messages.contains(reason), "\(arguments): \(run.messages)")
    #expect(run.output.isEmpty)
    #expect(folder.names == before, "\(arguments)")
    #expect(try String(contentsOfFile: input, encoding: .utf8) == "id,n\n1,2\n2,3\n")
    expectKept(urls, "\(arguments)")
  }

  private func expectKept(_ urls: [String], _ what: String) {
    for url in urls {
      let rows = tool("query", url, "M", "--format", "csv")
      #expect(rows.output == "id,n\r\n1,2\r\n2,3\r\n", "\(what): \(rows)")
    }
  }

  @Test(
    "migrate: rejects and reports must not overwrite a store or lie within one",
    arguments: ToolEngines.ofFiles.map(\.scheme))
  func migrate(scheme: String) throws {
    let (path, other) = (folder("store"), folder("other"))
    let (source, destination) = ("\(scheme):\(path)", "json:\(other)")
    makeStore(source)
    makeStore(destination)
    try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: path)
    try FileManager.default.createSymbolicLink(atPath: folder("here"), withDestinationPath: folder.path)
    var places = ["store", "link", "here/store", "./store", "here/link"].map {
      (folder($0), "overwrite the source")
    }
    places += ["-wal", "-shm", "-journal", "-lock"].map { (path + $0, "overwrite the source") }
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
      places.append((path + "/x", "lies within the source"))
    } else {
      places.append((folder("hard"), "overwrite the source"))
    }
    places += [(other, "overwrite the destination"), (other + "/x", "lies within the destination")]
    for (place, reason) in places {
      for options in [
        ["--on-error", "reject", "--rejects", place], ["--report", place], ["--dry-run", "--report", place],
      ] {
        let arguments = ["migrate", source, destination, "--on-conflict", "skip"] + options
        // SQLite opens no file that has a second name.
        let isHardLink = place == folder("hard")
        if isHardLink { try FileManager.default.linkItem(atPath: path, toPath: place) }
        try expectRefused(arguments, for: reason, keeping: isHardLink ? [] : [source, destination])
        guard isHardLink else { continue }
        try FileManager.default.removeItem(atPath: place)
        expectKept([source, destination], "\(arguments)")
      }
    }
    // The same applies to a new destination.
    let new = folder("new")
    try expectRefused(
      ["migrate", source, "\(scheme):\(new)", "--report", new], for: "overwrite the destination",
      keeping: [source]
    )
    try expectRefused(
      [
        "migrate", source, "memory:", "--on-error", "reject", "--rejects", new, "--report",
        folder("here/new"),
      ],
      for: "--report \(folder("here/new")) would overwrite --rejects", keeping: [source])
    try expectRefused(
      ["migrate", source, "\(scheme):\(folder("link"))"], for: "the same store", keeping: [source])
  }

  @Test("import: rejects must not overwrite the file, its schema or the store, and need a folder")
  func imports() throws {
    let store = "sqlite:\(folder("store"))"
    makeStore(store)
    let schema = try folder.file("s.json", "{}")
    for (place, reason) in [
      (input, "overwrite the imported file"), (schema, "overwrite the schema file"),
      (folder("store"), "overwrite the store"), (folder("store-wal"), "overwrite the store"),
      ("/none/r", "the folder of /none/r does not exist"),
    ] {
      try expectRefused(
        ["import", input, store, "--schema", schema, "--rejects", place], for: reason, keeping: [store])
      try expectRefused(
        ["import", input, "sqlite:\(folder("new"))", "--model", "M", "--key", "id", "--rejects", "/none/r"],
        for: "--rejects: the folder", keeping: [store])
    }
    try expectRefused(
      ["import", input, "sqlite:\(input)", "--model", "M", "--key", "id"],
      for: "would overwrite the imported file", keeping: [store])
    let beside = try folder.file("m.csv.schema.json", "{}")
    try expectRefused(
      ["import", input, store, "--rejects", beside], for: "overwrite the schema file", keeping: [store])
  }

  @Test("Rejects and reports replace only those of an earlier run")
  func rewritten() throws {
    let (store, rejects, report) = ("sqlite:\(folder("store"))", folder("r.ndjson"), folder("r.json"))
    makeStore(store)
    for (name, content) in [("keep.txt", "mine\n"), ("keep.ndjson", "{\"id\":1,\"reason\":\"x\"}\n")] {
      let keep = try folder.file(name, content)
      let importing = ["import", input, "memory:", "--model", "M", "--key", "id", "--rejects", keep]
      let migrating = ["migrate", store, "sqlite:\(folder("new"))"]
      for (arguments, reason) in [
        (importing, "--rejects: \(keep) exists and is no earlier list of rejected records"),
        (
          migrating + ["--on-error", "reject", "--rejects", keep],
          "--rejects: \(keep) exists and is no earlier list of rejected records"
        ),
        (migrating + ["--report", keep], "--report: \(keep) exists and is no earlier report of migrate"),
      ] {
        try expectRefused(arguments, for: reason, keeping: [store])
        #expect(try String(contentsOfFile: keep, encoding: .utf8) == content, "\(arguments)")
      }
    }
    // Each of these commands runs twice, and each replaces the list of the other.
    let text = try folder.file("t.csv", "id,t\n1,x\n2,3\n2,4\n")
    let texts = "sqlite:\(folder("texts"))"
    #expect(tool("import", text, texts, "--model", "T", "--key", "id", "--kind", "t=string").code == 2)
    for _ in 0..<2 {
      let imported = tool(
        "import", text, "memory:", "--model", "T", "--key", "id", "--kind", "t=string", "--rejects", rejects)
      #expect(imported.code == 2, "\(imported)")
      #expect(try String(contentsOfFile: rejects, encoding: .utf8).hasPrefix("{\"key\":\"2\",\"place\":"))
      let migrated = tool(
        "migrate", texts, "memory:", "--map", "T.t=as:int64", "--on-error", "reject", "--rejects", rejects,
        "--report", report)
      #expect(migrated.code == 2, "\(migrated)")
      #expect(try String(contentsOfFile: rejects, encoding: .utf8).hasPrefix("{\"code\":\"encodingFailed\""))
      // An empty list is one of an earlier run too.
      let none = folder("none.ndjson")
      let clean = tool(
        "import", input, "memory:", "--model", "M", "--key", "id", "--rejects", none)
      #expect(clean.code == 0, "\(clean)")
      #expect(try String(contentsOfFile: none, encoding: .utf8).isEmpty)
    }
  }

  @Test(
    "export: the file and the schema must not overwrite the store or each other",
    arguments: ["sqlite", "json"])
  func export(scheme: String) throws {
    let store = "\(scheme):\(folder("store"))"
    makeStore(store)
    for (options, reason) in [
      ([folder("store")], "the file \(folder("store")) would overwrite the store"),
      ([folder("store-wal")], "overwrite the store"),
      ([folder("e.csv"), "--schema", folder("store")], "overwrite the store"),
      (
        [folder("e.csv"), "--schema", folder("e.csv")],
        "--schema \(folder("e.csv")) would overwrite the file"
      ),
      (["--schema", folder("store")], "overwrite the store"),
      (["--schema", "/none/s"], "the folder of /none/s"),
      ([folder("e.csv"), "--schema", "/none/s"], "the folder of /none/s"),
    ] {
      try expectRefused(
        ["export", store, "M"] + options + ["--force", "--format", "csv"], for: reason, keeping: [store])
    }
    // The command would remove the schema file without writing one.
    makeStore("\(scheme):\(folder("e.csv.schema.json"))")
    let held = "\(scheme):\(folder("e.csv.schema.json"))"
    try expectRefused(
      ["export", held, "M", folder("e.csv"), "--force", "--no-schema"], for: "overwrite the store",
      keeping: [held]
    )
  }

  @Test("Writes to a pipe without replacing it")
  func special() throws {
    let store = "sqlite:\(folder("store"))"
    makeStore(store)
    let pipe = folder("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let reader = open(pipe, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    let run = tool("export", store, "M", pipe, "--format", "csv", "--no-schema")
    #expect(run.code == 0, "\(run)")
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = read(reader, &bytes, bytes.count)
    #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "id,n\r\n1,2\r\n2,3\r\n")
    // Foundation has no type for a pipe.
    let type = try FileManager.default.attributesOfItem(atPath: pipe)[.type] as? FileAttributeType
    #expect(type == .typeUnknown)
    let reported = tool("migrate", store, "memory:", "--report", pipe)
    #expect(reported.code == 0, "\(reported)")
    #expect(folder.names.filter { !$0.hasPrefix("store-") } == ["m.csv", "pipe", "store"])
  }
}
