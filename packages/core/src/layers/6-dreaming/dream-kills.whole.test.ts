import { spawn } from "node:child_process"
import { once } from "node:events"
import { statSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { changeFiles, dreamProject, FIGURES, filesBelow, memoriesIn, memoryText } from "../../../test/dreams.ts"
import { everyNth } from "../../../test/size.ts"
import { scratchDirectory } from "../../../test/tool-context.ts"
import { LOCK_FILE } from "../../journal/file/consolidate-lock.ts"

const RUNNER = fileURLToPath(new URL("../../../test/dream-runner.ts", import.meta.url))
const EARLIER = new Date("2026-01-01T08:00:00.000Z")
const order = { figures: FIGURES, force: true }

function project() {
  const root = scratchDirectory()
  const at = dreamProject(root)
  at.write(
    Object.fromEntries(
      ["a", "b", "c", "d", "e", "f"].map((name) => [`${name}.md`, memoryText(name, `${name} is known since spring.`)]),
    ),
  )
  const lock = join(at.directory, LOCK_FILE)
  writeFileSync(lock, "")
  utimesSync(lock, EARLIER, EARLIER)
  return { ...at, root, lock }
}

/** Runs a dream in a child process. Resolves with its output when it ended or stopped. */
async function run(root: string, step: string, count = 0): Promise<string> {
  const child = spawn(process.execPath, [RUNNER, root, step, String(count)], { stdio: ["ignore", "pipe", "inherit"] })
  const exit = once(child, "exit")
  const [output] = await once(child.stdout, "data")
  child.kill("SIGKILL")
  await exit
  return String(output).trim()
}

let whole: Promise<ReadonlyMap<string, string>> | undefined

/** The memories after the same dream without a kill. */
function completed(): Promise<ReadonlyMap<string, string>> {
  whole ??= (async () => {
    const at = project()
    await at.bank.all()
    expect(await run(at.root, "never")).toBe("installed")
    return memoriesIn(at.everything())
  })()
  return whole
}

describe("L6-5 L6-2 a dream whose process is killed", () => {
  const steps = [
    ["locked", 0],
    ["copied", 0],
    ["install:changed", 3],
    ["consolidated", 0],
    ["checked", 0],
    ["install:intended", 0],
    ["install:changed", 0],
    ["install:checked", 0],
    ["installed", 0],
    ["install:completed", 0],
  ] as const
  test.each(everyNth(steps, 9, 2))(
    "L6-5 at the step %s (%i): nothing or all of it, the lock is taken over, the earlier time is there",
    async (step, count) => {
      const killed = project()
      await killed.bank.all()
      const before = memoriesIn(killed.everything())
      const [printed, after] = await Promise.all([run(killed.root, step, count), completed()])
      expect(printed).toBe("stopped")
      expect(after).not.toEqual(before)

      expect(statSync(killed.lock).mtime).toEqual(EARLIER)
      const next = killed.dreaming(changeFiles(() => ({})))
      const { dream } = await next.overview({ figures: FIGURES })
      if (step !== "locked") expect(dream).toMatchObject({ status: "killed" })
      await killed.bank.all() // any reader completes an unfinished write
      const isInstalled = step.startsWith("install") && step !== "install:checked"
      expect(memoriesIn(killed.everything())).toEqual(isInstalled ? after : before)

      expect(await next.dream(order)).toMatchObject({ state: "nothing" })
      const left = [...filesBelow(join(killed.directory, "..")).keys()]
      expect(left.filter((path) => path.includes("copies"))).toEqual([])
    },
  )
})
