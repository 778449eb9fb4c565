/** Adds memories to a bank, one per change, concurrently with other processes. It can kill itself at a step of a write. */
import { flushCompileCache } from "node:module"
import { systemClock } from "../../src/base/clock.ts"
import { memoryDirectory } from "../../src/journal/file/memory-directory.ts"
import { openBank } from "../../src/memory/bank.ts"

const [directory, name, count, stopAt] = [process.argv[2]!, process.argv[3]!, Number(process.argv[4]), process.argv[5]]
let steps = 0
const files = memoryDirectory({
  directory,
  clock: systemClock,
  atStep() {
    if (steps++ !== Number(stopAt)) return
    flushCompileCache() // a killed process would not save its compile cache
    process.kill(process.pid, "SIGKILL")
  },
})
const bank = openBank({ files })
for (let at = 1; at <= count; at++) {
  const own = { name: `${name} ${at}`, body: `${name} wrote ${at}` }
  await bank.change({ by: "agent", why: "test", puts: [own] })
}
