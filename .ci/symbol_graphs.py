"""Symbol graphs of the package's library products, from the modules in .build/debug."""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout


def products():
    """The names of the library products; each is also the name of a module."""
    package = json.loads(output("swift", "package", "describe", "--type", "json"))
    return sorted(product["name"] for product in package["products"] if "library" in product["type"])


def clang_options(binaries):
    """The Clang options that load a module's C dependencies."""
    options = []
    sources = os.path.join(ROOT, "Sources")
    ours = [os.path.join(sources, name) for name in os.listdir(sources) if name.startswith("C")]
    folders = ours + [os.path.join(folder, "include") for folder in ours]
    folders += [folder for folder, _, _ in os.walk(os.path.join(ROOT, ".build/checkouts"))
                if folder.endswith("/include") and "/Sources/" in folder]
    # Generated for C targets without a module map; Swift targets have theirs in an include folder.
    folders += [os.path.join(binaries, name) for name in os.listdir(binaries)
                if name.endswith(".build") and not name.endswith("-tool.build")]
    for folder in folders:
        if os.path.exists(os.path.join(folder, "module.modulemap")):
            options.append("-fmodule-map-file=" + os.path.join(folder, "module.modulemap"))
        if folder.endswith("/include"):
            options.append("-I" + folder)
    # Debian's headers of PostgreSQL are in a folder of their own.
    flags = subprocess.run(["pkg-config", "--cflags-only-I", "libpq"], stdout=subprocess.PIPE, text=True)
    options += flags.stdout.split()
    return [word for option in options for word in ("-Xcc", option)]


def extract(module, folder):
    """Writes the symbol graph of a module's public declarations into a folder."""
    binaries = os.path.realpath(os.path.join(ROOT, ".build/debug"))
    if not os.path.exists(os.path.join(binaries, "Modules", module + ".swiftmodule")):
        sys.exit(f"{module} has not been built: run make test first")
    triple = json.loads(output("swift", "-print-target-info"))["target"]["triple"]
    command = ["swift", "symbolgraph-extract", "-module-name", module, "-I", os.path.join(binaries, "Modules"),
               "-target", triple, "-minimum-access-level", "public", "-skip-synthesized-members",
               "-output-dir", folder] + clang_options(binaries)
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)
    if run.returncode:
        sys.exit(f"cannot extract the symbols of {module}:\n{run.stdout}")
