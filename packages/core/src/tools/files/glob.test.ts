import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { call, scratchDirectory, testContext, textIn } from "../../../test/tool-context.ts"
import { isReadOnly } from "../defaults.ts"
import { glob } from "./glob.ts"

/** Creates a directory with files, each newer than the one before. */
function tree(...names: readonly string[]) {
  const at = scratchDirectory()
  for (const [age, name] of names.entries()) {
    mkdirSync(dirname(join(at, name)), { recursive: true })
    writeFileSync(join(at, name), name.endsWith(".gitignore") ? "dist/\n*.log\n!keep.log\n" : "")
    utimesSync(join(at, name), 1_000 + age, 1_000 + age)
  }
  const context = testContext({ at })
  const find = async (pattern: string, path?: string) =>
    textIn(await call(glob, { pattern, ...(path && { path }) }, context)).split("\n")
  return { at, context, find }
}

describe("LOOP-3 Glob", () => {
  test("finds by name, the newest first", async () => {
    const { find } = tree("a.ts", "src/b.ts", "src/deep/c.ts", "d.md", "src/第.ts")
    expect(await find("**/*.ts")).toEqual(["src/第.ts", "src/deep/c.ts", "src/b.ts", "a.ts"])
    expect(await find("*.ts")).toEqual(["a.ts"])
    expect(await find("src/*.{ts,md}")).toEqual(["src/第.ts", "src/b.ts"])
    expect(await find("**/c.ts", "src")).toEqual(["src/deep/c.ts"])
  })

  test("sees hidden files, but neither .git nor node_modules", async () => {
    const { find } = tree(".github/ci.yml", ".git/config.yml", "node_modules/x/y.yml")
    expect(await find("**/*.yml")).toEqual([".github/ci.yml"])
  })

  test("leaves out what git ignores, with the deepest rules first", async () => {
    const { find, at } = tree(".git/x", ".gitignore", "dist/a.js", "src/a.log", "src/keep.log", "sub/b.log", "c.js")
    writeFileSync(join(at, "sub/.gitignore"), "!b.log\n")
    expect((await find("**/*.{js,log}")).sort()).toEqual(["c.js", "src/keep.log", "sub/b.log"])
  })

  test("searches an ignored directory where the search begins there", async () => {
    const { find } = tree(".git/x", ".gitignore", "dist/a.js", "node_modules/x/b.js")
    expect(await find("dist/*.js")).toEqual(["dist/a.js"])
    expect(await find("**/*.js", "node_modules/x")).toEqual(["node_modules/x/b.js"])
  })

  test("lists no more than 100 and says so", async () => {
    const lines = await tree(...Array.from({ length: 150 }, (_, i) => `${i}.txt`)).find("*.txt")
    expect(lines).toHaveLength(101)
    expect(lines.at(-1)).toContain("100 of 150 files")
  })

  test("says that nothing matches, that a directory is missing, or is a file", async () => {
    const { find } = tree("source/a.ts")
    expect((await find("*.rs"))[0]).toContain("No files match *.rs")
    await expect(find("sources/*.ts")).rejects.toThrow("Did you mean source?")
    await expect(find("*", "source/a.ts")).rejects.toThrow("not a directory")
  })

  test("an abort ends it", async () => {
    const { at } = tree("a.ts")
    const aborted = testContext({ at, signal: AbortSignal.abort() })
    await expect(call(glob, { pattern: "**/*" }, aborted)).rejects.toThrow(/abort/i)
  })
})

describe("PERM-2 Glob stays where it was allowed to search", () => {
  test("the question names the directory before the first wildcard, links followed", async () => {
    const { at, context } = tree("a.ts")
    const outside = scratchDirectory()
    symlinkSync(outside, join(at, "door"))
    const pathsFor = async (pattern: string) => (await glob.question!({ pattern }, context)).paths
    expect(await pathsFor("**/*.ts")).toEqual([at])
    expect(await pathsFor("door/**/*.ts")).toEqual([outside])
    expect(await pathsFor("../*")).toEqual([dirname(at)])
    expect(await pathsFor("/etc/*.conf")).toEqual(["/etc"])
    expect(await pathsFor("/*")).toEqual(["/"])
    await expect(pathsFor("*/../../*")).rejects.toThrow('".." is allowed only at the start')
    await expect(pathsFor("{..,a}/*")).rejects.toThrow('".." is allowed only at the start')
  })

  test("links are not followed", async () => {
    const { at, find } = tree("a.ts")
    const outside = scratchDirectory()
    writeFileSync(join(outside, "secret.ts"), "")
    symlinkSync(outside, join(at, "door"))
    expect(await find("**/*.ts")).toEqual(["a.ts"])
    expect(isReadOnly(glob, { pattern: "*" })).toBe(true)
  })
})

test("PERM-4 Glob leaves out files that a rule for Read denies, and says how many", async () => {
  const { context } = tree("a.ts", ".env", "src/.env")
  const judgeStep = ({ paths }: { readonly paths?: readonly string[] }) =>
    ({ verdict: paths?.[0]?.endsWith(".env") ? "deny" : "allow", why: "" }) as const
  const found = textIn(await call(glob, { pattern: "**/*" }, { ...context, judgeStep }))
  expect(found.split("\n")).toEqual(["a.ts", "[2 files were left out: permission rules say so.]"])
})
