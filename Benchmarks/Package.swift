// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [.treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny")]

func persistence(_ rooms: [String]) -> [Target.Dependency] {
  rooms.map { .product(name: "Persistence\($0)", package: "Persistence") }
    + [.product(name: "Logging", package: "swift-log")]
}

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Persistence", path: "..", traits: [.defaults, "HTTP"]),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.0.0"),
  ],
  targets: [
    .target(name: "SeededRandom", swiftSettings: settings),
    .target(
      name: "SilentLogging", dependencies: [.product(name: "Logging", package: "swift-log")],
      swiftSettings: settings),
    .target(name: "Movies", dependencies: ["SeededRandom"] + persistence(["Core"]), swiftSettings: settings),
    .executableTarget(
      name: "FirstTen",
      dependencies: ["Movies", "SilentLogging"] + persistence(["Core", "SQLite", "LMDB"]),
      swiftSettings: settings),
    .executableTarget(
      name: "Endurance", dependencies: ["SeededRandom"] + persistence(["Core", "SQLite", "LMDB", "JSON"]),
      swiftSettings: settings),
    .executableTarget(
      name: "LayerHits",
      dependencies: persistence(["Core"]) + [.product(name: "DataAccess", package: "Persistence")],
      swiftSettings: settings),

    // Changed schemas beside unchanged ones, and beside the engines' C interfaces.
    .target(name: "Comparing", swiftSettings: settings),
    .executableTarget(
      name: "Evolving",
      dependencies: ["Comparing", "CRawSQLite", "CRawLMDB", "SilentLogging"]
        + persistence(["Core", "SQLite", "LMDB"]),
      swiftSettings: settings),

    // Relations beside joins and foreign keys in C, and beside GRDB's associations.
    .executableTarget(
      name: "Relating",
      dependencies: [
        "Comparing", "CRawSQLite", "SilentLogging", .product(name: "GRDB", package: "GRDB.swift"),
      ] + persistence(["Core", "SQLite"]),
      swiftSettings: settings),

    // Rows of thirty fields and 4 KiB of text, beside C and GRDB.
    .executableTarget(
      name: "WideRows",
      dependencies: [
        "Comparing", "CRawSQLite", "SeededRandom", "SilentLogging",
        .product(name: "GRDB", package: "GRDB.swift"),
      ] + persistence(["Core", "SQLite", "LMDB"]),
      swiftSettings: settings),

    // Stores in PostgreSQL beside libpq, on a private server.
    .executableTarget(
      name: "PostgresOverhead",
      dependencies: ["Comparing", "CRawPostgres", "Movies", "SilentLogging"]
        + persistence(["Core", "Postgres"]),
      swiftSettings: settings),

    // A served store, and the limit of the framework.
    .executableTarget(
      name: "Serving",
      dependencies: [
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
      ] + persistence(["Core", "SQLite", "LMDB", "Server"]),
      swiftSettings: settings),

    // The reference is C, called from Swift; the module names differ from the library's.
    .systemLibrary(name: "CRawSQLite", pkgConfig: "sqlite3"),
    .systemLibrary(name: "CRawLMDB", pkgConfig: "lmdb"),
    .systemLibrary(name: "CRawPostgres", pkgConfig: "libpq"),
    .systemLibrary(name: "CMemory"),
    .executableTarget(
      name: "Workloads",
      dependencies: [
        "SeededRandom", "SilentLogging", "CMemory", "CRawSQLite", "CRawLMDB",
        .product(name: "GRDB", package: "GRDB.swift"),
      ] + persistence(["Core", "SQLite", "LMDB", "JSON", "Migration"]),
      swiftSettings: settings),
  ]
)
