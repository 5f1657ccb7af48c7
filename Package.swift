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
let configuration = Target.Dependency.product(
  name: "Configuration", package: "swift-configuration", condition: .when(traits: ["Configuration"]))
let system = Target.Dependency.product(
  name: "SystemPackage", package: "swift-system", condition: .when(traits: ["Configuration"]))
let arguments = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["CommandLineTool"]))
let syntax = ["SwiftSyntax", "SwiftSyntaxMacros", "SwiftDiagnostics", "SwiftSyntaxBuilder"]
  .map { Target.Dependency.product(name: $0, package: "swift-syntax") }
let macroTesting = [
  "SwiftSyntaxMacroExpansion", "SwiftSyntaxMacrosGenericTestSupport", "SwiftParser",
]
.map { Target.Dependency.product(name: $0, package: "swift-syntax") }
let engines: [Target.Dependency] = ["PersistenceSQLite", "PersistenceLMDB", "PersistenceJSON"]
let postgres = Target.Dependency.target(
  name: "PersistencePostgres", condition: .when(traits: ["Postgres"]))

/// A library that is needed where stores go over HTTP, and nowhere else.
func http(_ product: String, of package: String) -> Target.Dependency {
  .product(name: product, package: package, condition: .when(traits: ["HTTP"]))
}

let package = Package(
  name: "Persistence",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Persistence", targets: ["Persistence"]),
    .library(name: "PersistenceCore", targets: ["PersistenceCore"]),
    .library(name: "PersistenceDriver", targets: ["PersistenceDriver"]),
    .library(name: "PersistenceDriverSupport", targets: ["PersistenceDriverSupport"]),
    .library(name: "PersistenceConfiguration", targets: ["PersistenceConfiguration"]),
    .library(name: "PersistenceSQLite", targets: ["PersistenceSQLite"]),
    .library(name: "PersistenceLMDB", targets: ["PersistenceLMDB"]),
    .library(name: "PersistenceJSON", targets: ["PersistenceJSON"]),
    .library(name: "PersistencePostgres", targets: ["PersistencePostgres"]),
    .library(name: "DataAccess", targets: ["DataAccess"]),
    .library(name: "DataAccessCombine", targets: ["DataAccessCombine"]),
    .library(name: "DataAccessTesting", targets: ["DataAccessTesting"]),
    .library(name: "PersistenceServer", targets: ["PersistenceServer"]),
    .library(name: "PersistenceRemote", targets: ["PersistenceRemote"]),
    .library(name: "PersistenceMigration", targets: ["PersistenceMigration"]),
    .library(name: "PersistenceKeyValue", targets: ["PersistenceKeyValue"]),
    .library(name: "PersistenceConformance", targets: ["PersistenceConformance"]),
    .executable(name: "persistence", targets: ["PersistenceCommand"]),
    .plugin(name: "MigrateStore", targets: ["MigrateStore"]),
    .plugin(name: "RecordSchemas", targets: ["RecordSchemas"]),
  ],
  traits: [
    .trait(name: "SQLite", description: "The tool opens SQLite stores; needs libsqlite3."),
    .trait(name: "LMDB", description: "The tool opens LMDB stores; needs liblmdb."),
    .trait(name: "Postgres", description: "The tool opens stores in PostgreSQL; needs libpq."),
    .trait(name: "CommandLineTool", description: "The tool `persistence` and the plug-in that starts it."),
    .trait(
      name: "Configuration",
      description: "PersistenceConfiguration reads a store's URL by swift-configuration."),
    .trait(
      name: "HTTP", description: "Stores are served over HTTP, and used from another machine.",
      enabledTraits: ["Configuration"]),
    .trait(
      name: "OpenCombine",
      description: "DataAccessCombine publishes through OpenCombine where there is no Combine."),
    // A client of an engine builds and resolves nothing else. `make` enables all traits.
    .default(enabledTraits: ["SQLite", "LMDB"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.0.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.20.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.0.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.30.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.9.0"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
  ],
  targets: [
    // What apps import.
    .target(
      name: "Persistence", dependencies: ["PersistenceCore", "PersistenceMacros"], swiftSettings: settings),
    .macro(
      name: "PersistenceMacros",
      dependencies: syntax + [.product(name: "SwiftCompilerPlugin", package: "swift-syntax")],
      swiftSettings: settings),
    .target(
      name: "PersistenceCore",
      dependencies: ["PersistenceDriverSupport", "PersistencePrimitives", "PersistenceDriver"],
      swiftSettings: settings),
    .target(
      name: "PersistenceDriver", dependencies: ["PersistencePrimitives", logging], swiftSettings: settings),
    // What drivers are built of: the one evaluator, aggregation, wrappers, observers, the memory context.
    .target(
      name: "PersistenceDriverSupport",
      dependencies: ["PersistenceDriver", "PersistencePrimitives", logging],
      swiftSettings: settings),
    // Order, text search, JSON and exact text of primitive values: knows no rows and no schemas.
    .target(name: "PersistencePrimitives", dependencies: ["CSHA256"], swiftSettings: settings),
    // The digest of everything that is digested; a library for it would be most of what a client builds.
    .target(name: "CSHA256"),
    .target(
      name: "PersistenceConfiguration",
      dependencies: ["PersistenceDriver", "PersistenceCore", configuration],
      swiftSettings: settings),

    // What engines share.
    .target(
      name: "PersistenceSQL", dependencies: ["PersistenceDriverSupport", "PersistenceDriver"],
      swiftSettings: settings),
    .target(
      name: "PersistenceKeyValue", dependencies: ["PersistenceDriverSupport", "PersistenceDriver"],
      swiftSettings: settings),

    // Stores that suspend instead of blocking, and what is built of them.
    .target(
      name: "DataAccess", dependencies: ["PersistenceDriverSupport", "PersistenceCore", "PersistenceDriver"],
      swiftSettings: settings),
    // What authors and users of stores test with: scripted stores, a clock, the rules of stores.
    .target(
      name: "DataAccessTesting", dependencies: ["PersistenceDriverSupport", "DataAccess", "PersistenceCore"],
      swiftSettings: settings),

    // Publishers, for apps that use Combine or, where there is none, OpenCombine.
    .target(
      name: "DataAccessCombine",
      dependencies: [
        "DataAccess", "PersistenceCore",
        .product(
          name: "OpenCombine", package: "OpenCombine",
          condition: .when(platforms: [.linux, .android, .windows], traits: ["OpenCombine"])),
      ], swiftSettings: settings),

    // The engines.
    .systemLibrary(name: "CFileSystem"),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .systemLibrary(
      name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    // A file system for SQLite: the system's, with checksums of pages and without writes to unallocated shared memory.
    .target(name: "CSQLiteFiles", dependencies: ["CSQLite", "CFileSystem"]),
    .target(
      name: "PersistenceSQLite",
      dependencies: [
        "PersistenceDriverSupport", "PersistencePrimitives", "PersistenceDriver", "PersistenceSQL", "CSQLite",
        "CSQLiteFiles", logging,
      ],
      swiftSettings: settings),
    .target(
      name: "PersistenceLMDB",
      dependencies: [
        "PersistenceDriverSupport", "PersistenceDriver", "PersistenceKeyValue", "CLMDB", "CFileSystem",
        logging,
      ],
      swiftSettings: settings),
    .target(
      name: "PersistenceJSON",
      dependencies: [
        "PersistenceDriverSupport", "PersistencePrimitives", "PersistenceDriver", "CFileSystem",
      ],
      swiftSettings: settings),
    .target(
      name: "PersistencePostgres",
      dependencies: [
        "PersistenceDriverSupport", "PersistencePrimitives", "PersistenceDriver", "PersistenceSQL",
        "CPostgres", logging,
      ],
      swiftSettings: settings),

    // The text of a C library that the suite compiles and loads into its worker.
    .target(name: "CFileRecorder"),
    // What authors of contexts run: the contract's checks and the fuzzer.
    .target(
      name: "PersistenceConformance",
      dependencies: [
        "PersistenceDriverSupport", "PersistencePrimitives", "PersistenceCore", "CFileRecorder", logging,
      ],
      swiftSettings: settings),

    // Stores over HTTP: what both sides say, the server, and the store that is its client.
    .target(
      name: "PersistenceQueryLanguage",
      dependencies: ["PersistenceDriverSupport", "PersistencePrimitives", "PersistenceDriver"],
      swiftSettings: settings),
    .target(
      name: "PersistenceHTTP",
      dependencies: [
        "PersistenceDriverSupport", "PersistencePrimitives", "PersistenceDriver", "PersistenceQueryLanguage",
      ],
      swiftSettings: settings),
    .target(
      name: "PersistenceServer",
      dependencies: [
        "PersistenceDriverSupport", "PersistencePrimitives",
        "PersistenceDriver", "PersistenceHTTP", logging, http("Hummingbird", of: "hummingbird"),
        http("HummingbirdCore", of: "hummingbird"),
        http("ServiceLifecycle", of: "swift-service-lifecycle"),
        http("UnixSignals", of: "swift-service-lifecycle"), http("HTTPTypes", of: "swift-http-types"),
        http("NIOCore", of: "swift-nio"), http("NIOHTTP1", of: "swift-nio"),
        http("NIOHTTPTypes", of: "swift-nio-extras"), http("NIOHTTPTypesHTTP1", of: "swift-nio-extras"),
        http("NIOHTTPCompression", of: "swift-nio-extras"), http("NIOSSL", of: "swift-nio-ssl"),
        http("CoreMetrics", of: "swift-metrics"),
      ], swiftSettings: settings),
    .target(
      name: "PersistenceRemote",
      dependencies: [
        "PersistenceDriverSupport", "PersistencePrimitives",
        "DataAccess", "PersistenceCore", "PersistenceDriver", "PersistenceHTTP", "PersistenceConfiguration",
        configuration, logging, http("AsyncHTTPClient", of: "async-http-client"),
        http("NIOCore", of: "swift-nio"),
        http("NIOHTTP1", of: "swift-nio"), http("NIOSSL", of: "swift-nio-ssl"),
      ], swiftSettings: settings),

    // The tool.
    .target(
      name: "PersistenceMigration",
      dependencies: [
        "PersistenceCore", "PersistenceDriverSupport", "PersistencePrimitives", "PersistenceDriver",
      ],
      swiftSettings: settings),
    .target(
      name: "PersistenceTool",
      dependencies: [
        "PersistenceDriverSupport", "PersistencePrimitives",
        "PersistenceDriver", "PersistenceQueryLanguage", "PersistenceMigration", "PersistenceConformance",
        "PersistenceJSON", arguments, logging,
        .target(name: "PersistenceSQLite", condition: .when(traits: ["SQLite"])),
        .target(name: "PersistenceLMDB", condition: .when(traits: ["LMDB"])), postgres,
        .target(name: "PersistenceServer", condition: .when(traits: ["HTTP"])),
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
        ])),

    .plugin(
      name: "RecordSchemas",
      capability: .command(
        intent: .custom(
          verb: "record-schemas", description: "Keeps the declared schemas as those of a release."),
        permissions: [
          .writeToPackageDirectory(reason: "Writes Schemas/released/VERSION.json.")
        ])),

    // Tests, named after what they test.
    .testTarget(
      name: "PersistencePrimitivesTests",
      dependencies: ["PersistencePrimitives", "CSHA256", "PersistenceConformance"],
      swiftSettings: settings),
    .testTarget(
      name: "PersistenceDriverTests",
      dependencies: ["PersistenceDriver", "PersistenceDriverSupport", logging],
      swiftSettings: settings),
    // Tests of expansions ask a program that is built as the plug-in is, of the same sources behind a link: if a test
    // or a library had swift-syntax, it would be built twice.
    .target(name: "ExpansionMessages", path: "Tests/ExpansionMessages", swiftSettings: settings),
    .macro(
      name: "ExpansionProbe",
      dependencies: ["ExpansionMessages"] + syntax + macroTesting,
      path: "Tests/ExpansionProbe", swiftSettings: settings),
    .target(
      name: "ExpansionTesting",
      dependencies: [
        "ExpansionMessages", "ExpansionProbe", "PersistenceDriverSupport", "PersistenceConformance",
      ],
      path: "Tests/ExpansionTesting", swiftSettings: settings),
    .testTarget(
      name: "PersistenceMacrosTests", dependencies: ["ExpansionMessages", "ExpansionTesting"],
      swiftSettings: settings),
    .testTarget(
      name: "PersistenceTests",
      dependencies: [
        "PersistenceDriverSupport", "Persistence", "PersistenceCore", "PersistenceConformance", logging,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "DataAccessTests",
      dependencies: [
        "PersistenceDriver", "PersistenceDriverSupport",
        "DataAccess", "DataAccessTesting", "PersistenceCore", "OurContexts", "PersistenceConformance",
        "TestSupport",
      ],
      swiftSettings: settings),
    .target(
      name: "TestSupport", dependencies: ["PersistenceDriver"], path: "Tests/TestSupport",
      swiftSettings: settings),
    // The tool as it is started by people, and connections to it.
    .target(
      name: "ToolProcess", dependencies: ["PersistenceDriverSupport", "PersistenceConformance"],
      path: "Tests/ToolProcess",
      swiftSettings: settings),
    // Layers whose device or server is killed.
    .target(
      name: "OfflineModels", dependencies: ["DataAccess", "PersistenceCore"], path: "Tests/OfflineModels",
      swiftSettings: settings),
    .executableTarget(
      name: "LayerWorker",
      dependencies: ["DataAccess", "PersistenceCore", "PersistenceSQLite", "OfflineModels"],
      path: "Tests/LayerWorker", swiftSettings: settings),
    .testTarget(
      name: "OfflineTests",
      dependencies: [
        "DataAccess", "PersistenceCore", "PersistenceSQLite", "PersistenceConformance", "OurContexts",
        "OfflineModels", "LayerWorker", "PersistenceCommand", "ToolProcess",
        .target(name: "PersistenceRemote", condition: .when(traits: ["HTTP"])),
      ],
      swiftSettings: settings),
    // Models in a module with the isolation of new app projects.
    .testTarget(
      name: "MainActorTests", dependencies: ["Persistence", "PersistenceDriverSupport"],
      swiftSettings: settings + [.defaultIsolation(MainActor.self)]),
    .testTarget(
      name: "DataAccessCombineTests",
      dependencies: [
        "PersistenceDriverSupport",
        "DataAccessCombine", "DataAccess", "PersistenceCore", "TestSupport",
        .product(
          name: "OpenCombine", package: "OpenCombine",
          condition: .when(platforms: [.linux, .android, .windows], traits: ["OpenCombine"])),
      ], swiftSettings: settings),
    .testTarget(
      name: "PersistenceSQLTests",
      dependencies: ["PersistenceDriver", "PersistenceDriverSupport", "PersistenceSQL"],
      swiftSettings: settings),
    .testTarget(
      name: "PersistenceSQLiteTests",
      dependencies: [
        "PersistenceDriverSupport",
        "PersistenceDriver", "PersistenceCore", "PersistenceSQLite", "PersistenceSQL", "CSQLite", logging,
        "PersistenceConformance", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "PersistenceJSONTests",
      dependencies: [
        "PersistenceDriverSupport", "PersistencePrimitives", "PersistenceDriver", "PersistenceCore",
        "PersistenceJSON", "PersistenceConformance", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "PersistencePostgresTests",
      dependencies: [
        "PersistenceDriver", "PersistenceDriverSupport", "PersistencePrimitives", "PersistenceCore",
        "PersistenceSQL", "PersistenceMigration", "OurContexts", "PersistenceConformance", "ContextWorker",
        "TestSupport", postgres,
      ], swiftSettings: settings),
    .testTarget(
      name: "PersistenceKeyValueTests",
      dependencies: [
        "PersistenceDriver", "PersistenceDriverSupport", "PersistenceKeyValue", "PersistenceConformance",
        "PersistenceLMDB",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "PersistenceLMDBTests",
      dependencies: [
        "PersistenceDriverSupport",
        "PersistenceDriver", "PersistenceLMDB", "PersistenceKeyValue", "CLMDB", "PersistenceConformance",
        logging,
      ],
      swiftSettings: settings),
    .target(
      name: "MigrationStores",
      dependencies: [
        "PersistenceDriverSupport", "PersistenceDriver", "PersistenceMigration", "PersistenceConformance",
        "OurContexts", logging, postgres,
      ] + engines,
      path: "Tests/MigrationStores", swiftSettings: settings),
    .executableTarget(
      name: "MigrationWorker",
      dependencies: ["PersistenceDriver", "PersistenceMigration", "MigrationStores"],
      path: "Tests/MigrationWorker", swiftSettings: settings),
    .testTarget(
      name: "PersistenceMigrationTests",
      dependencies: [
        "PersistenceDriverSupport", "PersistencePrimitives",
        "PersistenceCore", "PersistenceDriver", "PersistenceMigration", "PersistenceConformance",
        "MigrationStores", "MigrationWorker", "TestSupport", logging,
      ] + engines,
      swiftSettings: settings),
    .testTarget(
      name: "PersistenceToolTests",
      dependencies: [
        "PersistenceHTTP", "PersistenceJSON",
        "PersistenceDriverSupport", "PersistencePrimitives",
        "PersistenceDriver", "PersistenceQueryLanguage",
        "PersistenceTool", "PersistenceMigration", "PersistenceConformance", "PersistenceCommand",
        "ToolProcess", "TestSupport",
        .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "PersistenceConfigurationTests",
      dependencies: [
        "PersistenceDriverSupport", "PersistenceCore", "PersistenceConfiguration", configuration, system,
      ],
      swiftSettings: settings),

    .testTarget(
      name: "PersistenceServerTests",
      dependencies: [
        "Persistence", "PersistenceDriverSupport", "PersistencePrimitives",
        "PersistenceCore", "PersistenceDriver", "DataAccess", "DataAccessTesting", "PersistenceHTTP",
        "PersistenceConformance", "OurContexts", "ToolProcess", "TestSupport", logging, configuration,
        http("Hummingbird", of: "hummingbird"), http("NIOCore", of: "swift-nio"),
        http("CoreMetrics", of: "swift-metrics"),
        .target(name: "PersistenceServer", condition: .when(traits: ["HTTP"])),
        .target(name: "PersistenceRemote", condition: .when(traits: ["HTTP"])),
      ], swiftSettings: settings),

    // Every context of this package passes the suite, and the process that it kills.
    .target(
      name: "OurContexts",
      dependencies: [
        "PersistenceDriverSupport", "PersistenceConformance", "PersistenceCore", logging, postgres,
      ] + engines,
      path: "Tests/OurContexts",
      swiftSettings: settings),
    .executableTarget(
      name: "ContextWorker", dependencies: ["PersistenceConformance", "OurContexts"],
      path: "Tests/ContextWorker",
      swiftSettings: settings),
    .testTarget(
      name: "ContextTests",
      dependencies: [
        "PersistenceDriverSupport", "PersistenceCore", "OurContexts", "PersistenceConformance",
        "ContextWorker", "TestSupport", logging,
      ],
      swiftSettings: settings),

    // Contexts that are broken on purpose: the suite and the fuzzer must find each.
    .target(
      name: "PlantedDefects",
      dependencies: [
        "PersistenceDriverSupport", "PersistenceConformance", "PersistenceCore", "PersistenceSQLite",
      ],
      path: "Tests/PlantedDefects", swiftSettings: settings),
    .executableTarget(
      name: "DefectWorker", dependencies: ["PlantedDefects", "PersistenceConformance"],
      path: "Tests/DefectWorker", swiftSettings: settings),
    .testTarget(
      name: "PlantedDefectTests",
      dependencies: [
        "PersistenceCore", "PersistenceDriverSupport", "PlantedDefects", "PersistenceConformance",
        "DefectWorker",
      ],
      swiftSettings: settings),

    // Examples, which see public API only. A context by the guide "Write your own context", its suite as tests and as
    // an executable, which the suite starts again as the process that it kills.
    .target(
      name: "OneFile", dependencies: ["PersistenceDriver", "PersistenceDriverSupport"],
      path: "Examples/OneFile/Sources/OneFile", packageAccess: false, swiftSettings: settings),
    .target(
      name: "OneFileUnderTest",
      dependencies: ["OneFile", "PersistenceConformance", "PersistenceDriverSupport"],
      path: "Examples/OneFile/Sources/OneFileUnderTest", packageAccess: false, swiftSettings: settings),
    .executableTarget(
      name: "OneFileConform", dependencies: ["OneFile", "OneFileUnderTest", "PersistenceConformance"],
      path: "Examples/OneFile/Sources/OneFileConform", packageAccess: false, swiftSettings: settings),
    .testTarget(
      name: "OneFileTests",
      dependencies: ["OneFile", "OneFileUnderTest", "OneFileConform", "PersistenceConformance"],
      path: "Examples/OneFile/Tests/OneFileTests", packageAccess: false, swiftSettings: settings),
    // An ordered store by the guide "Write your own ordered store", and the process that the suite kills.
    .target(
      name: "OrderedFile", dependencies: ["PersistenceDriver", "PersistenceKeyValue"],
      path: "Examples/OrderedFile/Sources/OrderedFile", packageAccess: false, swiftSettings: settings),
    .target(
      name: "OrderedFileUnderTest",
      dependencies: ["OrderedFile", "PersistenceConformance", "PersistenceKeyValue"],
      path: "Examples/OrderedFile/Sources/OrderedFileUnderTest", packageAccess: false,
      swiftSettings: settings),
    .executableTarget(
      name: "OrderedFileWorker", dependencies: ["OrderedFileUnderTest", "PersistenceConformance"],
      path: "Examples/OrderedFile/Sources/OrderedFileWorker", packageAccess: false, swiftSettings: settings),
    .testTarget(
      name: "OrderedFileTests",
      dependencies: [
        "OrderedFile", "OrderedFileUnderTest", "OrderedFileWorker", "PersistenceConformance",
        "PersistenceDriver", "PersistenceKeyValue",
      ],
      path: "Examples/OrderedFile/Tests/OrderedFileTests", packageAccess: false, swiftSettings: settings),
    // An app whose engine is one URL, and one that goes on without its server (Examples/offline).
    .executableTarget(
      name: "MoviesApp", dependencies: ["Persistence"] + engines,
      path: "Examples/MoviesApp/Sources/MoviesApp",
      packageAccess: false, swiftSettings: settings),
    .executableTarget(
      name: "OfflineMovies",
      dependencies: [
        "Persistence", "PersistenceSQLite", "DataAccess",
        .target(name: "PersistenceRemote", condition: .when(traits: ["HTTP"])),
      ],
      path: "Examples/MoviesApp/Sources/OfflineMovies", packageAccess: false, swiftSettings: settings),
    // The listings of the guide "Recipes".
    .testTarget(
      name: "RecipesTests",
      dependencies: [
        "Persistence", "PersistenceMigration", "DataAccess",
        http("Hummingbird", of: "hummingbird"),
        .target(name: "PersistenceServer", condition: .when(traits: ["HTTP"])),
      ] + engines, path: "Tests/RecipesTests", packageAccess: false, swiftSettings: settings),
    // An app in three versions, and the listings of the guide "Changing your models" (Examples/evolve).
    .executableTarget(
      name: "EvolvingApp", dependencies: ["Persistence"] + engines,
      path: "Examples/Evolution/Sources/EvolvingApp", packageAccess: false, swiftSettings: settings),
    .testTarget(
      name: "ChangingModelsTests",
      dependencies: ["Persistence", "PersistenceConformance", "EvolvingApp"] + engines,
      path: "Examples/Evolution/Tests/ChangingModelsTests", packageAccess: false, swiftSettings: settings),
  ]
)

// The readers of bytes that others wrote: a test runs them over their corpus, `make fuzz-coverage` under libFuzzer.
let fuzzed: [Target.Dependency] = [
  "PersistencePrimitives", "PersistenceDriver", "PersistenceDriverSupport", "PersistenceKeyValue",
  "PersistenceQueryLanguage", "PersistenceHTTP", "PersistenceTool",
]
let fuzzing = "Tests/CoverageFuzzingTests"
package.targets.append(
  Context.environment["PERSISTENCE_FUZZING"] == nil
    ? .testTarget(
      name: "CoverageFuzzingTests", dependencies: fuzzed + engines + [postgres, "PersistenceConformance"],
      path: fuzzing,
      exclude: ["Corpus", "Dictionaries", "Fuzzer"], swiftSettings: settings)
    : .executableTarget(
      name: "CoverageFuzzer", dependencies: fuzzed + engines + [postgres], path: fuzzing,
      exclude: ["Corpus", "Dictionaries", "CorpusTests.swift"], swiftSettings: settings))

// `make` optimizes the rooms that tests spend their time in, also in debug builds.
if Context.environment["PERSISTENCE_OPTIMIZED"] != nil {
  let rooms: Set<String> = [
    "PersistencePrimitives", "PersistenceDriver", "PersistenceDriverSupport", "PersistenceCore",
    "PersistenceKeyValue", "PersistenceLMDB", "PersistenceSQL", "PersistenceSQLite", "PersistenceJSON",
    "OrderedFile",
  ]
  for target in package.targets where rooms.contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"])]
  }
}

// SwiftPM compiles a module again if one changes on which it depends directly. A module also contains code of those behind,
// which may be inlined, so `make` declares all of them: otherwise an edit leaves programs with two versions of it.
if Context.environment["PERSISTENCE_OPTIMIZED"] != nil {
  let modules = package.targets.filter { $0.type == .regular || $0.type == .executable }
  let known = Dictionary(uniqueKeysWithValues: modules.map { ($0.name, $0) })
  func direct(_ target: Target) -> [String] {
    target.dependencies.compactMap { dependency in
      switch dependency {
      case .targetItem(let name, _), .byNameItem(let name, _): known[name].map(\.name)
      default: nil
      }
    }
  }
  for target in package.targets where [.regular, .executable, .test].contains(target.type) {
    let declared = direct(target)
    var (found, waiting) = (Set(declared), declared)
    while let name = waiting.popLast() {
      for next in known[name].map(direct) ?? [] where found.insert(next).inserted { waiting.append(next) }
    }
    target.dependencies += found.subtracting(declared).sorted().map { .target(name: $0) }
  }
}

// `make` builds without the compiler's index, which takes a quarter of the time. On Linux, SwiftPM finds tests in it, for
// which it needs nothing of other modules.
if Context.environment["PERSISTENCE_OPTIMIZED"] != nil {
  #if arch(x86_64)
    let triple = "x86_64-unknown-linux-gnu"
  #else
    let triple = "aarch64-unknown-linux-gnu"
  #endif
  let scratch = Context.environment["PERSISTENCE_SCRATCH"] ?? ".build"
  let index = "\(Context.packageDirectory)/\(scratch)/\(triple)/debug/index/store"
  for target in package.targets where target.type == .test {
    let flags = ["-index-store-path", index, "-index-ignore-system-modules"]
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(flags)]
  }
}

// LLD comes with Swift on Linux, and links a program in a fifth of the time.
#if os(Linux)
  if Context.environment["PERSISTENCE_OPTIMIZED"] != nil {
    for target in package.targets where target.type == .test || target.type == .executable {
      target.linkerSettings = (target.linkerSettings ?? []) + [.unsafeFlags(["-use-ld=lld"])]
    }
  }
#endif

// The inner loop (`make check`) builds some tests only.
if let tests = Context.environment["PERSISTENCE_TESTS"] {
  let wanted = Set(tests.split(separator: ",").map(String.init))
  package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}
