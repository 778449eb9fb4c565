/** Two clones of one repository are one project for every command. */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { expect, test } from "vitest"
import { workbench } from "./workbench.ts"

const echo: Parameters<typeof workbench>[0]["turns"][number] = ({ request }) =>
  `I know ${request.messages.length} messages.`

test("BEY-12 --continue goes on with what was begun in this clone, else with the newest, and says where that was", async () => {
  await using bench = await workbench({ turns: Array.from({ length: 6 }, () => echo) })
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], {
      cwd: bench.project,
      stdio: "ignore",
    })
  git("init", "-q")
  git("commit", "-q", "--allow-empty", "-m", "first")
  const clone = join(bench.home, "..", "clone")
  git("clone", "-q", ".", clone)
  const run = (...args: string[]) => bench.here(["run", ...args])
  expect((await run("One.")).stdout).toBe("I know 1 messages.\n")
  const continued = await run("--cwd", clone, "--continue", "Two.")
  expect(continued).toMatchObject({ stdout: "I know 3 messages.\n", stderr: expect.stringContaining(bench.project) })
  expect(continued.stderr).toContain("its memory is used here too")
  expect((await run("--cwd", clone, "Another one.")).stdout).toBe("I know 1 messages.\n")
  const back = await run("--continue", "Three.")
  expect(back.stdout).toBe("I know 5 messages.\n")
  expect(back.stderr).not.toContain("was begun in")
  expect((await run("--cwd", clone, "--continue", "Four.")).stdout).toBe("I know 3 messages.\n")
})
