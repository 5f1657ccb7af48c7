// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

let settings: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let syntax = [
  "SwiftSyntax", "SwiftSyntaxMacros", "SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftSyntaxBuilder",
]
.map { Target.Dependency.product(name: $0, package: "swift-syntax") }
let macroTesting = [
  "SwiftSyntaxMacros", "SwiftSyntaxMacroExpansion", "SwiftSyntaxMacrosGenericTestSupport", "SwiftParser",
]
.map { Target.Dependency.product(name: $0, package: "swift-syntax") }
let engines: [Target.Dependency] = ["PersistenceSQLite", "PersistenceLMDB", "PersistenceJSON"]

let package = Package(
  name: "Persistence",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Persistence", targets: ["Persistence"]),
    .library(name: "PersistenceCore", targets: ["PersistenceCore"]),
    .library(name: "PersistenceDriver", targets: ["PersistenceDriver"]),
    .library(name: "PersistenceConfiguration", targets: ["PersistenceConfiguration"]),
    .library(name: "PersistenceSQLite", targets: ["PersistenceSQLite"]),
    .library(name: "PersistenceLMDB", targets: ["PersistenceLMDB"]),
    .library(name: "PersistenceJSON", targets: ["PersistenceJSON"]),
    .library(name: "DataAccess", targets: ["DataAccess"]),
    .library(name: "DataAccessTesting", targets: ["DataAccessTesting"]),
    .library(name: "PersistenceMigration", targets: ["PersistenceMigration"]),
    .library(name: "PersistenceConformance", targets: ["PersistenceConformance"]),
    .executable(name: "persistence", targets: ["PersistenceCommand"]),
    // The plug-in asks for the tool by its target's name.
    .executable(name: "PersistenceCommand", targets: ["PersistenceCommand"]),
    .plugin(name: "MigrateStore", targets: ["MigrateStore"]),
  ],
  traits: [
    .trait(name: "SQLite", description: "The tool opens SQLite stores; needs libsqlite3."),
    .trait(name: "LMDB", description: "The tool opens LMDB stores; needs liblmdb."),
    .default(enabledTraits: ["SQLite", "LMDB"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.0"),
  ],
  targets: [
    // What apps import.
    .target(
      name: "Persistence", dependencies: ["PersistenceCore", "PersistenceMacros"], swiftSettings: settings),
    .macro(name: "PersistenceMacros", dependencies: syntax, swiftSettings: settings),
    .target(name: "PersistenceCore", dependencies: ["PersistenceDriver"], swiftSettings: settings),
    .target(name: "PersistenceDriver", dependencies: [logging], swiftSettings: settings),
    .target(
      name: "PersistenceConfiguration",
      dependencies: ["PersistenceDriver", "PersistenceCore", configuration],
      swiftSettings: settings),

    // What engines share.
    .target(name: "PersistenceSQL", dependencies: ["PersistenceDriver"], swiftSettings: settings),
    .target(name: "PersistencePlanner", dependencies: ["PersistenceDriver"], swiftSettings: settings),
    .target(
      name: "PersistenceKeyValue", dependencies: ["PersistenceDriver", "PersistencePlanner", crypto],
      swiftSettings: settings),

    // Stores that suspend instead of blocking, and what is built of them.
    .target(
      name: "DataAccess", dependencies: ["PersistenceCore", "PersistenceDriver"], swiftSettings: settings),
    // What authors and users of stores test with: scripted stores, a clock, the rules of stores.
    .target(
      name: "DataAccessTesting", dependencies: ["DataAccess", "PersistenceCore"], swiftSettings: settings),

    // The engines.
    .systemLibrary(name: "CFileSystem"),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .target(
      name: "PersistenceSQLite", dependencies: ["PersistenceDriver", "PersistenceSQL", "CSQLite", logging],
      swiftSettings: settings),
    .target(
      name: "PersistenceLMDB",
      dependencies: ["PersistenceDriver", "PersistenceKeyValue", "PersistencePlanner", "CLMDB", logging],
      swiftSettings: settings),
    .target(
      name: "PersistenceJSON", dependencies: ["PersistenceDriver", "CFileSystem", crypto],
      swiftSettings: settings),

    // What authors of contexts run: the contract's checks and the fuzzer.
    .target(
      name: "PersistenceConformance", dependencies: ["PersistenceCore", logging], swiftSettings: settings),

    // The tool.
    .target(
      name: "PersistenceMigration", dependencies: ["PersistenceDriver", crypto], swiftSettings: settings),
    .target(
      name: "PersistenceTool",
      dependencies: [
        "PersistenceDriver", "PersistenceMigration", "PersistenceConformance", "PersistenceJSON", arguments,
        logging,
        .target(name: "PersistenceSQLite", condition: .when(traits: ["SQLite"])),
        .target(name: "PersistenceLMDB", condition: .when(traits: ["LMDB"])),
      ],
      swiftSettings: settings),
    // Not called like the product, which a file system that ignores case would take for the umbrella.
    .executableTarget(name: "PersistenceCommand", dependencies: ["PersistenceTool"], swiftSettings: settings),
    .plugin(
      name: "MigrateStore",
      capability: .command(
        intent: .custom(verb: "migrate-store", description: "Copies a whole store to another engine."),
        permissions: [
          .writeToPackageDirectory(reason: "Writes the destination store, where that lies in the package.")
        ]), dependencies: ["PersistenceCommand"]),

    // Tests, named after what they test.
    .testTarget(name: "PersistenceDriverTests", dependencies: ["PersistenceDriver"], swiftSettings: settings),
    .testTarget(
      name: "PersistenceMacrosTests", dependencies: ["PersistenceMacros"] + macroTesting,
      swiftSettings: settings),
    .testTarget(
      name: "PersistenceTests", dependencies: ["Persistence", "PersistenceCore", logging],
      swiftSettings: settings),
    .testTarget(
      name: "DataAccessTests",
      dependencies: [
        "DataAccess", "DataAccessTesting", "PersistenceCore", "OurContexts", "PersistenceConformance",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "PersistenceSQLTests", dependencies: ["PersistenceDriver", "PersistenceSQL"],
      swiftSettings: settings),
    .testTarget(
      name: "PersistenceSQLiteTests",
      dependencies: ["PersistenceDriver", "PersistenceSQLite", "PersistenceSQL", "CSQLite", logging],
      swiftSettings: settings),
    .testTarget(
      name: "PersistenceJSONTests",
      dependencies: ["PersistenceDriver", "PersistenceCore", "PersistenceJSON"],
      swiftSettings: settings),
    .testTarget(
      name: "PersistencePlannerTests", dependencies: ["PersistenceDriver", "PersistencePlanner"],
      swiftSettings: settings),
    .testTarget(
      name: "PersistenceKeyValueTests",
      dependencies: [
        "PersistencePlanner", "PersistenceDriver", "PersistenceKeyValue", "PersistenceConformance",
        "PersistenceLMDB",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "PersistenceLMDBTests",
      dependencies: [
        "PersistenceDriver", "PersistenceLMDB", "PersistenceKeyValue", "CLMDB", "PersistenceConformance",
        logging,
      ],
      swiftSettings: settings),
    .target(
      name: "MigrationStores",
      dependencies: ["PersistenceDriver", "PersistenceMigration"] + engines,
      path: "Tests/MigrationStores", swiftSettings: settings),
    .executableTarget(
      name: "MigrationWorker",
      dependencies: ["PersistenceDriver", "PersistenceMigration", "MigrationStores"],
      path: "Tests/MigrationWorker", swiftSettings: settings),
    .testTarget(
      name: "PersistenceMigrationTests",
      dependencies: [
        "PersistenceDriver", "PersistenceMigration", "MigrationStores", "MigrationWorker", logging,
      ] + engines,
      swiftSettings: settings),
    .testTarget(
      name: "PersistenceToolTests",
      dependencies: [
        "PersistenceDriver",
        "PersistenceTool", "PersistenceMigration", "PersistenceConformance", "PersistenceCommand",
        .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "PersistenceConfigurationTests",
      dependencies: ["PersistenceCore", "PersistenceConfiguration", configuration, system],
      swiftSettings: settings),

    // Every context of this package passes the suite, and the process that it kills.
    .target(
      name: "OurContexts", dependencies: ["PersistenceConformance", "PersistenceCore", logging] + engines,
      path: "Tests/OurContexts",
      swiftSettings: settings),
    .executableTarget(
      name: "ContextWorker", dependencies: ["PersistenceConformance", "OurContexts"],
      path: "Tests/ContextWorker",
      swiftSettings: settings),
    .testTarget(
      name: "ContextTests",
      dependencies: ["PersistenceCore", "OurContexts", "PersistenceConformance", "ContextWorker", logging],
      swiftSettings: settings),

    // Contexts that are broken on purpose: the suite and the fuzzer must find each.
    .target(
      name: "PlantedDefects",
      dependencies: ["PersistenceConformance", "PersistenceCore", "PersistenceSQLite"],
      path: "Tests/PlantedDefects", swiftSettings: settings),
    .executableTarget(
      name: "DefectWorker", dependencies: ["PlantedDefects", "PersistenceConformance"],
      path: "Tests/DefectWorker", swiftSettings: settings),
    .testTarget(
      name: "PlantedDefectTests",
      dependencies: ["PersistenceCore", "PlantedDefects", "PersistenceConformance", "DefectWorker"],
      swiftSettings: settings),
  ]
)
