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
let collections = Target.Dependency.product(name: "Collections", package: "swift-collections")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let syntax = ["SwiftSyntax", "SwiftSyntaxMacros", "SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftSyntaxBuilder"]
  .map { Target.Dependency.product(name: $0, package: "swift-syntax") }

/// Everything below the umbrella: what the tool, the engines and the suites are made of.
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
    .library(name: "PersistenceMigration", targets: ["PersistenceMigration"]),
    .executable(name: "persistence", targets: ["persistence"]),
    .plugin(name: "MigrateStore", targets: ["MigrateStore"]),
  ],
  traits: [
    .trait(name: "SQLite", description: "The SQLite engine (needs libsqlite3)."),
    .trait(name: "LMDB", description: "The LMDB engine (needs liblmdb)."),
    .default(enabledTraits: ["SQLite", "LMDB"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.0"),
  ],
  targets: [
    .target(
      name: "Persistence", dependencies: ["PersistenceCore", "PersistenceMacros"], swiftSettings: settings),
    .macro(name: "PersistenceMacros", dependencies: syntax, swiftSettings: settings),
    .target(name: "PersistenceCore", dependencies: ["PersistenceDriver", logging], swiftSettings: settings),
    .target(name: "PersistenceDriver", dependencies: [logging], swiftSettings: settings),
    .target(
      name: "PersistenceConfiguration", dependencies: ["PersistenceCore", configuration],
      swiftSettings: settings),
  ]
)
