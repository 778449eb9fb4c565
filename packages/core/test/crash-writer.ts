/**
 * Writes to a journal until it is killed, and says which entries were acknowledged. Run by the crash test as a process of its own:
 * `node crash-writer.ts <root> <first number> <flush mode>`.
 */

import type { FlushMode } from "../src/journal/store.ts"
import { openJournal, userEntry } from "./journal-files.ts"

const [root, first, flush] = process.argv.slice(2)
const journal = await openJournal(root!, flush as FlushMode)
process.stdout.write("opened\n")
for (let number = Number(first); ; number += 2) {
  const texts = [number, number + 1].map((n) => `${n} ${"x".repeat((n * 37) % 5_000)}`)
  // two callers at once: they share a write, and each is told on its own
  await Promise.all(texts.map((text) => journal.append([userEntry(text)])))
  process.stdout.write(`acknowledged ${number + 1}\n`)
}
