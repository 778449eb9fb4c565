/**
 * Changes all memories of a directory as one change, while others edit them: `node turmoil-writer.ts <directory> <call>`. From that file
 * system call on, every write fails as on a full disk; -1: nothing fails. It prints "ready", waits for a line, and then prints its result
 * and what a reader sees while the disk is still full.
 */
import fs from "node:fs"
import { flushCompileCache, syncBuiltinESMExports } from "node:module"
import { text } from "node:stream/consumers"

const [directory, given] = [process.argv[2]!, Number(process.argv[3])]
let calls = 0
let isCounting = false

/** A rename needs no additional space within its folder, but a disk may refuse any of them. */
for (const name of ["writeFile", "mkdir", "link", "rename"] as const) {
  const real = fs.promises[name] as (...args: unknown[]) => Promise<unknown>
  const failing = async (...args: unknown[]) => {
    if (isCounting && given >= 0 && calls++ >= given)
      throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" })
    return real(...args)
  }
  Object.assign(fs.promises, { [name]: failing })
}
syncBuiltinESMExports()

const { systemClock } = await import("../../src/base/clock.ts")
const { memoryDirectory } = await import("../../src/journal/file/memory-directory.ts")
const { openBank } = await import("../../src/memory/bank.ts")
const { dreamTexts } = await import("./turmoil-texts.ts")

const files = memoryDirectory({ directory, clock: systemClock })
const bank = openBank({ files })
const base = new Map<string, string>()
for (const { file } of await bank.all()) base.set(file, (await bank.text(file))!)
const { puts, removals } = dreamTexts([...base.keys()])
flushCompileCache()
process.stdout.write("ready\n")
await text(process.stdin)
isCounting = true

const end = await bank.change({ by: "dream", why: "turmoil", puts, removals, base }).then(
  (change) => ({ state: "installed", kept: change?.kept ?? [] }),
  (error: Error & { state?: string }) => ({ state: error.state ?? error.name, message: error.message }),
)
const seen = await openBank({ files })
  .all()
  .then(
    (memories) => ({ files: memories.map(({ file, body }) => [file, body]) }),
    (error: Error) => ({ problem: error.message }),
  )
process.stdout.write(`${JSON.stringify({ ...end, seen })}\n`)
