/**
 * Dreams about the memory under a root, and stops indefinitely at a step, to be killed there: `node dream-runner.ts <root> <step> [count]`.
 * The steps are those of a dream and, with `install:` before them, those of installing files; `count` is how often the step is passed
 * first.
 */
import { writeSync } from "node:fs"
import { flushCompileCache } from "node:module"
import { join } from "node:path"
import { manualClock } from "../src/base/clock.ts"
import { memoryDirectory } from "../src/journal/file/memory-directory.ts"
import { changeFiles, dreamProject, FIGURES, memoryText, START } from "./dreams.ts"

const [root = "", wanted = "", count = "0"] = process.argv.slice(2)
let passes = Number(count)
let isDreaming = false

function stopAt(step: string): void {
  if (step !== wanted || passes-- > 0) return
  flushCompileCache() // a killed process would not save its compile cache
  writeSync(1, "stopped\n")
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) // waits to be killed
}

const files = memoryDirectory({
  directory: join(root, "home", "projects", "code", "memory"),
  clock: manualClock(START),
  atStep: (step) => isDreaming && stopAt(`install:${step}`),
})
const dreaming = dreamProject(root, { files }).dreaming(
  changeFiles(() => {
    isDreaming = true
    return {
      "a.md": memoryText("Alpha", "Alpha and beta are known since spring.", { supersedes: ["b.md"] }),
      "c.md": undefined,
      "new.md": memoryText("New", "Something new."),
    }
  }),
  { atStep: (step) => stopAt(step) },
)
const end = await dreaming.dream({ figures: FIGURES, force: true })
process.stdout.write(`${end.state}\n`)
