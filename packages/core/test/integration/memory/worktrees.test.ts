import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, test } from "vitest"
import { projectName } from "../../../src/base/clock.ts"
import { projectAt } from "../../../src/base/project.ts"
import { memoryDirectory } from "../../../src/journal/file/layout.ts"
import { FIGURES } from "../../dreams.ts"
import { project } from "../agent/agents.ts"
import { say, stage, textOfRequest } from "./remembering.ts"

const QUIET = { settings: { switches: { "auto-memory": false, dreaming: false } } }

/** A repository with a worktree next to it and a directory in it. */
function repository() {
  const where = project({ "src/deep/kept.ts": "export {}\n" })
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd: where.cwd, stdio: "ignore" })
  git("init", "-q")
  git("commit", "-q", "--allow-empty", "-m", "first")
  const worktree = join(dirname(where.cwd), "other")
  git("worktree", "add", "-q", worktree)
  return { where, worktree, below: join(where.cwd, "src", "deep") }
}

test("L5-10 BEY-5 conversations of other worktrees and subdirectories are searched, also when the worktree is gone", async () => {
  const { where, worktree, below } = repository()
  const { open, requests } = await stage({ where, script: ["The nightly importer crashed on the umlaut.", "Fine."] })
  const first = await open({ ...QUIET, cwd: worktree })
  await say(first, "Why did the nightly importer crash?")
  await first.close()
  rmSync(worktree, { recursive: true })
  const second = await open({ ...QUIET, cwd: below })
  await say(second, "What crashed the nightly importer?")
  expect(textOfRequest(requests.at(-1)!)).toContain("A passage of an earlier conversation")
})

test("L5-10 L6-1 conversations of other worktrees and subdirectories count for a dream", async () => {
  const { where, worktree, below } = repository()
  const { open } = await stage({ where })
  for (const cwd of [worktree, worktree, below]) {
    const agent = await open({ ...QUIET, cwd })
    await say(agent, "Hello")
    await agent.close()
  }
  const agent = await open(QUIET)
  const { gates } = await agent.dreaming!.overview({
    figures: { ...FIGURES, conversations: 3 },
    conversation: agent.conversation.id,
  })
  expect(gates).toMatchObject({ open: true, conversations: 3 })
})

test("L5-10 outside git, and with a memory that is only read or off, no directory is noted", async () => {
  const { where, worktree } = repository()
  const { name } = await projectAt({ cwd: worktree, env: { PATH: process.env.PATH } })
  const noted = join(memoryDirectory(where.dir, name), ".project.json")
  const { open } = await stage({ where })
  for (const memory of ["read-only", "off"] as const) await open({ cwd: worktree, settings: { memory } })
  expect(existsSync(noted)).toBe(false)
  await open({ ...QUIET, cwd: worktree })
  await open(QUIET)
  expect(JSON.parse(readFileSync(noted, "utf8"))).toEqual({ directories: [where.cwd], names: [] })
  const alone = join(dirname(where.cwd), "alone")
  mkdirSync(alone)
  await open({ ...QUIET, cwd: alone })
  expect(existsSync(join(memoryDirectory(where.dir, projectName(alone)), ".project.json"))).toBe(false)
})
