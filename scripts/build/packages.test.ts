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

  test("a package that fell behind, or asks for an old one, is named", () => {
    expect(versionProblems([core, cli])).toEqual([])
    expect(versionProblems([core, { ...cli, version: "0.9.0" }])).toEqual(["cli has version 0.9.0, not 1.0.0."])
    expect(
      versionProblems([
        { ...core, version: "1.1.0" },
        { ...cli, version: "1.1.0" },
      ]),
    ).toEqual(["cli asks for core 1.0.0, not 1.1.0."])
  })

  test("setting it leaves nothing behind and touches nothing else", () => {
    const changed = withVersion([core, cli], "2.0.0")
    expect(versionProblems(changed)).toEqual([])
    expect(changed).toEqual([
      { ...core, version: "2.0.0" },
      { ...cli, version: "2.0.0", dependencies: { core: "2.0.0" } },
    ])
  })
})

test("dependencies of published packages have exact versions", () => {
  for (const { manifest } of publishedPackages())
    for (const [name, version] of Object.entries(manifest.dependencies ?? {}))
      expect(version, `${manifest.name}: ${name}`).toMatch(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/)
})
