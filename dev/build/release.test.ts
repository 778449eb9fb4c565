/** Tests a release in a scratch repository: version, changelog, commit and tag, and that nothing changes if one of them cannot be made. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { parseRelease, release, releasedChangelog } from "./release.ts"
import { runToEnd } from "./run-to-end.ts"

const CHANGELOG = "# Changelog\n\n## Unreleased\n\n- A new door.\n\n## 0.1.0\n\nThe first.\n"
const DAY = { version: "0.2.0", date: "2026-11-20" }

function scratch() {
  const root = mkdtempSync(join(tmpdir(), "strata-release-"))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const write = (file: string, value: object | string) =>
    writeFileSync(join(root, file), typeof value === "string" ? value : `${JSON.stringify(value, null, 2)}\n`)
  for (const folder of ["packages/core", "packages/cli"]) mkdirSync(join(root, folder), { recursive: true })
  write("package.json", { name: "workspace", private: true, workspaces: ["packages/*"] })
  write("packages/core/package.json", { name: "@scratch/core", version: "0.1.0" })
  const dependencies = { "@scratch/core": "0.1.0" }
  write("packages/cli/package.json", { name: "@scratch/cli", version: "0.1.0", dependencies })
  write("package-lock.json", { name: "workspace", lockfileVersion: 3, packages: {} })
  write("CHANGELOG.md", CHANGELOG)
  const git = (...args: readonly string[]) => runToEnd("git", args, { cwd: root }).trim()
  git("init", "--quiet")
  git("config", "user.name", "Ada")
  git("config", "user.email", "ada@example.com")
  git("add", "--all")
  git("commit", "--quiet", "--message", "start")
  return { root, git, write, read: (file: string) => readFileSync(join(root, file), "utf8") }
}

test("a release sets every version, dates the changelog, commits and tags", () => {
  const { root, git, read } = scratch()
  release(DAY, root)
  expect(JSON.parse(read("packages/cli/package.json"))).toMatchObject({
    version: "0.2.0",
    dependencies: { "@scratch/core": "0.2.0" },
  })
  expect(JSON.parse(read("package-lock.json")).packages["packages/core"].version).toBe("0.2.0")
  expect(read("CHANGELOG.md")).toBe(
    "# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-11-20)\n\n- A new door.\n\n## 0.1.0\n\nThe first.\n",
  )
  expect(git("status", "--porcelain")).toBe("")
  expect(git("log", "-1", "--format=%s")).toBe("release: 0.2.0")
  expect(git("rev-parse", "v0.2.0^{commit}")).toBe(git("rev-parse", "HEAD"))
})

test.each([
  ["the working tree has changes", (it: ReturnType<typeof scratch>) => it.write("notes.txt", "mine"), "has changes"],
  ["the tag exists", (it: ReturnType<typeof scratch>) => it.git("tag", "v0.2.0"), "v0.2.0 exists already"],
])("where %s, nothing is changed", (_, spoil, sentence) => {
  const it = scratch()
  spoil(it)
  const before = [it.read("packages/core/package.json"), it.read("CHANGELOG.md"), it.git("rev-parse", "HEAD")]
  expect(() => release(DAY, it.root)).toThrow(sentence)
  expect([it.read("packages/core/package.json"), it.read("CHANGELOG.md"), it.git("rev-parse", "HEAD")]).toEqual(before)
})

test.each([
  ["# Changelog\n\n## Unreleased\n\n## 0.1.0\n", 'Nothing is listed as "Unreleased"'],
  ["# Changelog\n\n## 0.1.0\n", 'no section "Unreleased"'],
  [`${CHANGELOG}\n## 0.2.0 (2026-01-01)\n`, "a section for 0.2.0 already"],
])("a changelog that cannot be released is a problem: %j", (changelog, problem) => {
  expect(() => releasedChangelog(changelog, DAY)).toThrow(problem)
})

test("the date is given, or asked for with --today", () => {
  expect(parseRelease(["0.2.0", "--date", "2026-11-20"], "2027-01-01")).toEqual(DAY)
  expect(parseRelease(["0.2.0", "--today"], "2027-01-01")).toEqual({ version: "0.2.0", date: "2027-01-01" })
  for (const args of [["0.2.0"], ["0.2.0", "--date", "2026-13-40"], ["0.2.0", "--date"], ["x", "--today"], ["--today"]])
    expect(parseRelease(args, "2027-01-01"), args.join(" ")).toBeUndefined()
})
