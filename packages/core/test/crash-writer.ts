/**
 * Writes to several journals at once until it is killed, and prints which entries were acknowledged. One kill hits each journal at a
 * different point. The crash test runs it as a process: `node crash-writer.ts <root> <flush mode> <first number> …`, with a first number
 * for each journal. If the kill is late, it stops by itself before the disk is full, and waits; it ends with the process that started it.
 */

import { flushCompileCache } from "node:module"
import { join } from "node:path"
import type { FlushMode } from "../src/journal/store.ts"
import { openJournal, userEntry } from "./journal-files.ts"

const MAX_ENTRIES = 2_000 // 5 MB for each journal

const [root, flush, ...firsts] = process.argv.slice(2)
const journals = await Promise.all(firsts.map((_, at) => openJournal(join(root!, String(at)), flush as FlushMode)))
flushCompileCache() // a killed process would not save its compile cache
process.stdout.write("opened\n")
await Promise.all(
  journals.map(async (journal, at) => {
    const first = Number(firsts[at])
    for (let number = first; number < first + MAX_ENTRIES; number += 2) {
      const texts = [number, number + 1].map((n) => `${n} ${"x".repeat((n * 37) % 5_000)}`)
      // two concurrent callers share a write, and each gets its own acknowledgement
      await Promise.all(texts.map((text) => journal.append([userEntry(text)])))
      process.stdout.write(`acknowledged ${at} ${number + 1}\n`)
    }
  }),
)
process.stdin.resume()
