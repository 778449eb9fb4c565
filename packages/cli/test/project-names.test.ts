/** Two clones of one repository are one project for every command. */
import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { strataHere } from "./strata-here.ts"
import { workbench } from "./workbench.ts"

const echo: Parameters<typeof workbench>[0]["turns"][number] = ({ request }) =>
  `I know ${request.messages.length} messages.`

/** A repository and a clone of it, with commands in either. */
async function twoClones() {
  const bench = await workbench({ turns: Array.from({ length: 8 }, () => echo) })
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], {
      cwd: bench.project,
      stdio: "ignore",
    })
  git("init", "-q")
  git("commit", "-q", "--allow-empty", "-m", "first")
  const clone = join(bench.home, "..", "clone")
  git("clone", "-q", ".", clone)
  return { bench, clone }
}

test("BEY-12 --continue goes on with what was begun in this clone, else with the newest, and says where that was", async () => {
  const { bench, clone } = await twoClones()
  await using _ = bench
  const run = (...args: string[]) => bench.here(["run", ...args])
  expect((await run("One.")).stdout).toBe("I know 1 messages.\n")
  const continued = await run("--cwd", clone, "--continue", "Two.")
  expect(continued).toMatchObject({ stdout: "I know 3 messages.\n", stderr: expect.stringContaining(bench.project) })
  expect(continued.stderr).toContain("so it shares its memory")
  expect((await run("--cwd", clone, "Another one.")).stdout).toBe("I know 1 messages.\n")
  const back = await run("--continue", "Three.")
  expect(back.stdout).toBe("I know 5 messages.\n")
  expect(back.stderr).not.toContain("was started in")
  expect((await run("--cwd", clone, "--continue", "Four.")).stdout).toBe("I know 3 messages.\n")
})

test("BEY-12 a command in one clone, or below it, is about what was begun there", async () => {
  const { bench, clone } = await twoClones()
  await using _ = bench
  const below = join(bench.project, "src", "deep")
  mkdirSync(below, { recursive: true })
  await bench.here(["run", "The walrus."])
  await bench.here(["run", "--cwd", clone, "The narwhal."])
  expect((await bench.here(["recall", "--search", "walrus"])).stdout).toContain("The walrus.")
  expect((await bench.here(["recall", "--search", "narwhal"])).code).toBe(1)
  const continued = await bench.here(["run", "--cwd", below, "--continue", "Go on."])
  expect(continued).toMatchObject({ stdout: "I know 3 messages.\n", stderr: expect.stringContaining(bench.project) })
})

test("BEY-12 who lists memories first in another clone hears whose they are", async () => {
  const { bench, clone } = await twoClones()
  await using _ = bench
  await bench.here(["run", "One."])
  const first = await strataHere(["memory", "list"], { cwd: clone, env: bench.env })
  expect(first.stderr).toContain("so it shares its memory")
  expect((await strataHere(["memory", "list"], { cwd: clone, env: bench.env })).stderr).toBe("")
})
