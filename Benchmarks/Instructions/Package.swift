// swift-tools-version: 6.2
import PackageDescription

// A package of its own, which needs neither GRDB nor anything else that is not the library's: it is built in CI.
// The movie and its records are those of the workloads, by symbolic links.
let settings: [SwiftSetting] = [.treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny")]

let package = Package(
  name: "Instructions",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Persistence", path: "../.."),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
  ],
  targets: [
    .target(name: "SeededRandom", swiftSettings: settings),
    .executableTarget(
      name: "Instructions",
      dependencies: ["SeededRandom", .product(name: "Logging", package: "swift-log")]
        + ["Core", "SQLite", "LMDB", "JSON"].map {
          .product(name: "Persistence\($0)", package: "Persistence")
        },
      swiftSettings: settings,
      // Valgrind up to 3.19 gives up on what Swift writes for debuggers.
      linkerSettings: [.unsafeFlags(["-Xlinker", "--strip-debug"], .when(platforms: [.linux]))]),
  ]
)
