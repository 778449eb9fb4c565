/**
 * Dreams repeatedly about the memory under a root, to be killed at any moment: `node dream-loop.ts <root> <seed>`. Each dream changes,
 * empties and adds some of ten files. It prints a line when the first one begins.
 */
import { writeSync } from "node:fs"
import { flushCompileCache } from "node:module"
import { changeFiles, dreamProject, FIGURES, memoryText } from "./dreams.ts"

const [root = "", seed = "1"] = process.argv.slice(2)
let state = Number(seed)

/** The same sequence for the same seed. */
function below(limit: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
  return (state >>> 8) % limit
}

const at = dreamProject(root)
for (let round = 0; ; round++) {
  const dreaming = at.dreaming(
    changeFiles(() =>
      Object.fromEntries(
        Array.from({ length: 1 + below(3) }, () => {
          const name = `m${below(10)}`
          return [`${name}.md`, below(4) === 0 ? undefined : memoryText(name, `Round ${round} of seed ${seed}.`)]
        }),
      ),
    ),
  )
  if (round === 0) {
    flushCompileCache() // a killed process would not save its compile cache
    writeSync(1, "dreaming\n")
  }
  await dreaming.dream({ figures: FIGURES, force: true })
}
