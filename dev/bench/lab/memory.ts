/**
 * Measures the processor time of memory with 60, 1,500 and 10,000 memories: for the first message of a process and of a conversation, and
 * for later ones. Also measures changes: many files copied into the directory, one edited file, and one file written by the agent.
 *
 *     npm run bench -- memory
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { systemClock } from "../../../packages/core/src/base/clock.ts"
import { memoryDirectory } from "../../../packages/core/src/journal/file/memory-directory.ts"
import { openBank } from "../../../packages/core/src/memory/bank.ts"
import { inTemporaryDirectory, isShort, milliseconds } from "../measure.ts"
import { memoryTurnReport, processorTime } from "./memory-turn.ts"

const COUNTS = isShort ? [60] : [60, 1_500, 10_000]

console.log(await memoryTurnReport())
console.log("Changes of the directory, processor time, each in a memory that is opened again")
for (const count of COUNTS)
  await inTemporaryDirectory(async (base) => {
    const directory = join(base, "memory")
    mkdirSync(directory)
    const bank = () => openBank({ files: memoryDirectory({ directory, clock: systemClock }) })
    const note = (at: number, text: string) => writeFileSync(join(directory, `n${at}.md`), `# Note ${at}\n\n${text}\n`)
    for (let at = 0; at < count; at++) note(at, `The place of lamp ${at} is hall ${(at * 17) % 7919}.`)
    const copied = await processorTime(() => bank().all())
    const again = await processorTime(() => bank().all())
    note(7, "The place of lamp 7 is the cellar.")
    const edited = await processorTime(() => bank().all())
    const put = { name: "Tides", body: "The tide table hangs in the north hall." }
    const written = await processorTime(() => bank().change({ by: "agent", why: "bench", puts: [put] }))
    console.log(
      `  ${count} notes: ${milliseconds(copied)} when they were copied, ${milliseconds(again)} when nothing changed, ${milliseconds(edited)} after one edit by hand, ${milliseconds(written)} for one that the agent writes`,
    )
  })
