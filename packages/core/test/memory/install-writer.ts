/** Installs changes of three files and kills itself, without cleanup, at a given step of the given install. */
import { flushCompileCache } from "node:module"
import { systemClock } from "../../src/base/clock.ts"
import { memoryDirectory } from "../../src/journal/file/memory-directory.ts"

const [directory, stopAt] = [process.argv[2]!, Number(process.argv[3])]
let steps = 0
const files = memoryDirectory({
  directory,
  clock: systemClock,
  atStep() {
    if (steps++ !== stopAt) return
    flushCompileCache() // a killed process would not save its compile cache
    process.kill(process.pid, "SIGKILL")
  },
})
for (let round = 1; ; round++) {
  await files.install([
    { path: "a.md", text: `a ${round}` },
    { path: "b.md", text: round % 2 === 0 ? undefined : `b ${round}` },
    { path: "sub/c.md", text: `c ${round}` },
  ])
  process.stdout.write(`${round}\n`)
}
