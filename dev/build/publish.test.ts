/** Tests publishing with the real npm, to a registry on this machine. */
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import { expect, onTestFinished, test } from "vitest"
import { isWhole } from "../../packages/core/test/size.ts"
import type { SourcePackage } from "./packages.ts"
import { type Publication, publicationProblems, publish } from "./publish.ts"

/** Creates two built packages. */
function scratch(versions: Readonly<Record<string, string>> = { core: "0.2.0", cli: "0.2.0" }): Publication {
  const build = mkdtempSync(join(tmpdir(), "strata-publish-"))
  onTestFinished(() => rmSync(build, { recursive: true, force: true }))
  const packages = Object.entries(versions).map(([folder, version]): SourcePackage => {
    const manifest = { name: `@scratch/${folder}`, version: "0.2.0" }
    mkdirSync(join(build, folder))
    const built = { ...manifest, version, publishConfig: { access: "public" } }
    writeFileSync(join(build, folder, "package.json"), JSON.stringify(built))
    return { folder, manifest }
  })
  return { packages, build, tags: ["v0.2.0"], isDryRun: false }
}

async function registry(home: string) {
  const thread = new Worker(new URL("./publish-registry.ts", import.meta.url))
  onTestFinished(async () => void (await thread.terminate()))
  const [port] = (await once(thread, "message")) as [number]
  const ask = async (message: object) => {
    thread.postMessage(message)
    return ((await once(thread, "message")) as [unknown])[0]
  }
  const userconfig = join(home, "npmrc")
  writeFileSync(userconfig, `registry=http://127.0.0.1:${port}/\n//127.0.0.1:${port}/:_authToken=none\n`)
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, npm_config_userconfig: userconfig, npm_config_cache: join(home, "cache") },
    npm_config_fetch_retries: "0",
  }
  return { env, published: () => ask({}), refuse: (name?: string) => ask({ refuse: name }) }
}

test.runIf(isWhole)("an interrupted release continues with the missing packages", async () => {
  const publication = scratch()
  const { env, published, refuse } = await registry(publication.build)
  await refuse("@scratch/cli")
  expect(() => publish(publication, env)).toThrow(/@scratch\/cli/)
  expect(await published()).toEqual([["@scratch/core", "0.2.0"]])
  await refuse(undefined)
  publish(publication, env)
  expect(await published()).toEqual([
    ["@scratch/core", "0.2.0"],
    ["@scratch/cli", "0.2.0"],
  ])
})

test.runIf(isWhole)("a dry run sends nothing, and needs no registry and no right to publish", async () => {
  const publication = { ...scratch(), isDryRun: true }
  const { env, published } = await registry(publication.build)
  publish(publication, env)
  expect(await published()).toEqual([])
  publish(publication, { ...env, npm_config_userconfig: "/dev/null", npm_config_registry: "http://127.0.0.1:9/" })
})

test("nothing is published without a build, with another version, or with another tag", () => {
  const publication = scratch()
  expect(publicationProblems(publication)).toEqual([])
  rmSync(join(publication.build, "cli"), { recursive: true })
  expect(publicationProblems(publication)).toEqual(["build/cli is missing. Run: npm run build"])
  expect(publicationProblems(scratch({ core: "0.2.0", cli: "0.1.0" }))).toEqual([
    "The build has @scratch/cli 0.1.0, not @scratch/cli 0.2.0. Run: npm run build",
  ])
  expect(publicationProblems({ ...scratch(), tags: [""] })).toEqual(["The commit has no release tag, not v0.2.0."])
  expect(publicationProblems({ ...scratch(), tags: ["v0.1.0"] })).toEqual(["The commit has v0.1.0, not v0.2.0."])
})

test("a dry run between two releases needs no tag, and one at a release needs the right one", () => {
  expect(publicationProblems({ ...scratch(), isDryRun: true, tags: [""] })).toEqual([])
  expect(publicationProblems({ ...scratch(), isDryRun: true, tags: ["v0.1.0"] })).toHaveLength(1)
})
