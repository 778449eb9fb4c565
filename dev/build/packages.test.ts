import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type Manifest, manifestFiles, publishedPackages, ROOT, readManifest, versionProblems } from "./packages.ts"
import { withVersion } from "./set-version.ts"

const core: Manifest = { name: "core", version: "1.0.0", dependencies: { other: "^2.0.0" } }
const cli: Manifest = {
  name: "cli",
  version: "1.0.0",
  dependencies: { core: "1.0.0" },
  devDependencies: { vitest: "5" },
}

describe("one version", () => {
  test("all packages of the workspace have it, and ask for it of each other", () => {
    expect(versionProblems(manifestFiles().map(readManifest))).toEqual([])
  })

  test("the lock file has it too", () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
      packages: Record<string, { version?: string }>
    }
    for (const { folder, manifest } of publishedPackages())
      expect(packages[`packages/${folder}`]?.version, folder).toBe(manifest.version)
  })

  test("a package with an old version, or one that asks for an old version, is named", () => {
    expect(versionProblems([core, cli])).toEqual([])
    expect(versionProblems([core, { ...cli, version: "0.9.0" }])).toEqual(["cli has version 0.9.0, not 1.0.0."])
    expect(
      versionProblems([
        { ...core, version: "1.1.0" },
        { ...cli, version: "1.1.0" },
      ]),
    ).toEqual(["cli asks for core 1.0.0, not 1.1.0."])
  })

  test("setting it changes every version and nothing else", () => {
    const changed = withVersion([core, cli], "2.0.0")
    expect(versionProblems(changed)).toEqual([])
    expect(changed).toEqual([
      { ...core, version: "2.0.0" },
      { ...cli, version: "2.0.0", dependencies: { core: "2.0.0" } },
    ])
  })
})

/** Packages of which all others must use the same copy: a second copy loses spans or breaks types. */
const SHARED = ["zod", "@opentelemetry/api", "ai"]
const EXACT = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/

describe("dependencies", () => {
  test("are ranges, so that a user can patch them, except where another version would decide or count differently", () => {
    const isExact = (name: string) => name.startsWith("@strata/") || ["unbash", "gpt-tokenizer"].includes(name)
    for (const { manifest } of publishedPackages())
      for (const [name, version] of Object.entries(manifest.dependencies ?? {}))
        expect(version, `${manifest.name}: ${name}`).toMatch(isExact(name) ? EXACT : /^\^\d/)
  })

  test("that an application has too are peers of the libraries, and the repository tests with one exact version", () => {
    const core = publishedPackages().find(({ folder }) => folder === "core")!.manifest
    expect(Object.keys(core.peerDependencies ?? {})).toEqual(expect.arrayContaining(SHARED))
    for (const name of Object.keys(core.peerDependencies ?? {}))
      expect(core.devDependencies?.[name], name).toMatch(EXACT)
    for (const { manifest } of publishedPackages().filter(({ folder }) => folder !== "cli"))
      expect(SHARED.filter((name) => manifest.dependencies?.[name])).toEqual([])
  })
})

test("every published package exports its package.json", () => {
  for (const { manifest } of publishedPackages())
    expect(manifest.exports?.["./package.json"], manifest.name).toBe("./package.json")
})
