/** `strata export`: a session exported for Claude Code, or as Markdown. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { workbench } from "./workbench.ts"

/** The id of the only conversation. */
const conversationIn = (home: string) =>
  readdirSync(join(home, "projects"), { recursive: true, encoding: "utf8" })
    .flatMap((path) => /([^/]+)\.jsonl$/.exec(path)?.[1] ?? [])
    .at(0)!

const KEY = `ghp_${"a1B2".repeat(9)}`

test("BEY-17 a conversation of ours goes to every format and is read again", async () => {
  await using bench = await workbench({ turns: ["The answer is 42."] })
  await bench.here(["run", `Use ${KEY} to ask.`])
  const name = conversationIn(bench.home)
  const file = join(bench.project, "for-claude-code.jsonl")
  const exported = await bench.here(["export", name.slice(0, 8), "--to", "claude-code", file])
  expect(exported).toMatchObject({ code: 0, stdout: "" })
  expect(exported.stderr).toContain("Secrets masked in 2 places")
  expect(readFileSync(file, "utf8")).not.toContain(KEY)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const inspected = await bench.here(["inspect", file, "--json"])
  expect(inspected.stdout).toContain('"format": "claude-code"')
  const page = await bench.here(["export", name, "--to", "markdown"])
  expect(page.stdout).toContain("## You\n\nUse [secret removed:")
  expect(page.stdout).toContain("## Model\n\nThe answer is 42.")
  expect((await bench.here(["export", name, "--to", "claude-code", "--with-secrets"])).stdout).toContain(KEY)
})

test("BEY-17 a file is not overwritten without --force", async () => {
  await using bench = await workbench({ turns: ["Hello."] })
  await bench.here(["run", "Hi."])
  const name = conversationIn(bench.home)
  writeFileSync(join(bench.project, "mine.md"), "mine")
  const refused = await bench.here(["export", name, "--to", "markdown", "mine.md"])
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Nothing was written. --force replaces it."),
  })
  expect(readFileSync(join(bench.project, "mine.md"), "utf8")).toBe("mine")
  expect(await bench.here(["export", name, "--to", "markdown", "mine.md", "--force"])).toMatchObject({ code: 0 })
  expect(readFileSync(join(bench.project, "mine.md"), "utf8")).toContain("Hello.")
})

test("BEY-17 --force replaces a link and not its target, with a file for its owner alone, and no directory", async () => {
  await using bench = await workbench({ turns: ["Hello."] })
  await bench.here(["run", "Hi."])
  const name = conversationIn(bench.home)
  const at = (path: string) => join(bench.project, path)
  writeFileSync(at("target"), "mine", { mode: 0o644 })
  symlinkSync(at("target"), at("link.md"))
  expect(await bench.here(["export", name, "--to", "markdown", "link.md", "--force"])).toMatchObject({ code: 0 })
  expect([readFileSync(at("target"), "utf8"), lstatSync(at("link.md")).mode & 0o777]).toEqual(["mine", 0o600])
  mkdirSync(at("folder"))
  for (const file of ["folder", "missing/x.md"])
    expect(await bench.here(["export", name, "--to", "markdown", file, "--force"])).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining("cannot be written") },
    })
  expect(readdirSync(bench.project).filter((each) => each.endsWith(".draft"))).toEqual([])
})

test("BEY-17 what cannot be exported is reported", async () => {
  await using bench = await workbench({ turns: ["Hello."] })
  expect(await bench.here(["export", "nothing", "--to", "claude-code"])).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining("There is no file and no session nothing") },
  })
  expect(await bench.here(["export", "x"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--to claude-code|"),
  })
  mkdirSync(join(bench.project, "folder"))
  expect((await bench.here(["export", "folder", "--to", "claude-code"])).code).toBe(2)
  expect(existsSync(join(bench.project, "claude-code"))).toBe(false)
})
