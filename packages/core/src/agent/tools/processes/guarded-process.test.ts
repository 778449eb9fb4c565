import { spawn } from "node:child_process"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { describe, expect, it } from "vitest"
import { needs } from "../../../../test/needs.ts"
import { allEnded, isRunning, pidsIn } from "../../../../test/processes.ts"
import { scratchDirectory } from "../../../../test/tool-context.ts"
import { GuardedProcess } from "./guarded-process.ts"

const env = { PATH: process.env.PATH! }
const shell = (line: string) => new GuardedProcess({ command: "/bin/sh", args: ["-c", line], env })

/** A script that records the ids of the shell, a child, and a child that left the group. All of them would run for a minute. */
const family = (file: string) =>
  `echo $$ >> ${file}; sleep 60 & echo $! >> ${file}; setsid sh -c 'echo $$ >> ${file}; exec sleep 60' & wait`

describe("a guarded process", () => {
  it("is the program itself: input, output, errors, exit code, and what is wrong if it cannot start", async () => {
    const cat = new GuardedProcess({ command: "cat", args: [], env })
    cat.stdin.end("hello")
    expect(await text(cat.stdout)).toBe("hello")
    expect(await cat.ended).toEqual({ state: "exited", code: 0 })
    const failing = shell("echo oops >&2; exit 3")
    expect(await text(failing.stderr)).toBe("oops\n")
    expect(await failing.ended).toEqual({ state: "exited", code: 3 })
    expect(await shell("kill -9 $$").ended).toEqual({ state: "exited", code: 137 })
    const missing = new GuardedProcess({ command: "/no/such/program", args: [], env })
    expect(await text(missing.stderr)).toBe("the program /no/such/program was not found\n")
    expect(await missing.ended).toEqual({ state: "exited", code: 127 })
    const nowhere = new GuardedProcess({ command: "cat", args: [], env, directory: "/no/such/directory" })
    expect(await nowhere.ended).toEqual({ state: "not started", why: "ENOENT" })
  })

  it("takes the rest of its group with it when it ends", async () => {
    const file = join(scratchDirectory(), "pids")
    await shell(`sleep 60 & echo $! >> ${file}`).ended
    const [child] = await pidsIn(file, 1)
    expect(isRunning(child!)).toBe(false)
  })

  it("is stopped with everything it started", needs("linux"), async () => {
    const file = join(scratchDirectory(), "pids")
    const running = shell(`trap '' TERM; ${family(file)}`)
    const pids = await pidsIn(file, 3)
    await running.stop(10)
    expect(pids.map(isRunning)).toEqual([false, false, false])
  })

  it("dies with everything it started when this process is killed", needs("linux"), async () => {
    const file = join(scratchDirectory(), "pids")
    const module = JSON.stringify(join(import.meta.dirname, "guarded-process.ts"))
    const program = `import { GuardedProcess } from ${module}
      new GuardedProcess({ command: "/bin/sh", args: ["-c", ${JSON.stringify(family(file))}], env: process.env })`
    const host = spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: "inherit" })
    const pids = await pidsIn(file, 3)
    host.kill("SIGKILL")
    await allEnded(pids)
  })
})
